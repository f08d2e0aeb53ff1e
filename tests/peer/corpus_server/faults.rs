//! Deliberate faults.

use serde_json::Value;

/// One fault.
#[derive(Debug)]
pub(super) enum Fault {
    /// `drop METHOD POINTER`
    Drop(String, String),
    /// `set METHOD POINTER JSON`; an empty pointer is the whole result.
    Set(String, String, Value),
    /// `error METHOD CODE`
    Error(String, i64),
    /// `code FROM TO`: of every error.
    Code(i64, i64),
    /// `status FROM TO`: of every HTTP response.
    Status(u16, u16),
    /// `mute METHOD PART`: a request with this in its parameters is not answered the first time.
    Mute(String, String),
    /// `thrice METHOD`: the same request is answered three times, and refused after that.
    Thrice(String),
    /// `asks METHOD JSON`: a call of `echo` without arguments sends this request to the client
    /// before it is answered.
    Asks(String, Value),
    /// A word with its own meaning.
    Word(String),
}

/// Parses the faults.
pub(super) fn faults(words: &[&str]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut words = words.iter().map(|word| (*word).to_owned());
    let parse = |text: String| serde_json::from_str(&text).expect("JSON");
    let code = |text: String| text.parse().expect("a code");
    let status = |text: String| text.parse().expect("a status");
    while let Some(word) = words.next() {
        let mut next = || words.next().expect("a fault with all its words");
        faults.push(match word.as_str() {
            "drop" => Fault::Drop(next(), next()),
            "set" => Fault::Set(next(), next(), parse(next())),
            "error" => Fault::Error(next(), code(next())),
            "code" => Fault::Code(code(next()), code(next())),
            "status" => Fault::Status(status(next()), status(next())),
            "mute" => Fault::Mute(next(), next()),
            "thrice" => Fault::Thrice(next()),
            "asks" => Fault::Asks(next(), parse(next())),
            _ => Fault::Word(word),
        });
    }
    faults
}

/// The value that contains the last step of a pointer, and that step.
fn parent<'v>(value: &'v mut Value, pointer: &str) -> Option<(&'v mut Value, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    Some((value.pointer_mut(parent)?, last))
}

/// Takes a member out.
pub(super) fn drop_member(value: &mut Value, pointer: &str) {
    match parent(value, pointer) {
        Some((Value::Object(members), last)) => drop(members.remove(&last)),
        Some((Value::Array(items), last)) => {
            let index: usize = last.parse().expect("an index");
            drop(items.remove(index));
        }
        _ => {}
    }
}

/// Puts a member in.
pub(super) fn set_member(value: &mut Value, pointer: &str, new: Value) {
    if pointer.is_empty() {
        *value = new;
        return;
    }
    match parent(value, pointer) {
        Some((Value::Object(members), last)) => drop(members.insert(last, new)),
        Some((Value::Array(items), last)) => {
            let index: usize = last.parse().expect("an index");
            items[index] = new;
        }
        _ => {}
    }
}
