//! The first difference of two values.

use std::fmt::Write as _;

use serde_json::Value;

/// A part in which two requests differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its position, as a JSON path in the key: `$.messages[2].content[0].text`.
    pub path: String,
    /// The recorded value there; `None` if there is none.
    pub recorded: Option<Value>,
    /// The requested value there; `None` if there is none.
    pub asked: Option<Value>,
}

pub(super) fn first(recorded: &Value, asked: &Value) -> Option<Difference> {
    let mut path = "$".to_owned();
    let (recorded, asked) = walk(Some(recorded), Some(asked), &mut path)?;
    Some(Difference {
        path,
        recorded: recorded.cloned(),
        asked: asked.cloned(),
    })
}

type Pair<'v> = (Option<&'v Value>, Option<&'v Value>);

/// Descends to the first difference; the path is that of the difference. Values of a key are no
/// deeper than the parsed input.
fn walk<'v>(
    recorded: Option<&'v Value>,
    asked: Option<&'v Value>,
    path: &mut String,
) -> Option<Pair<'v>> {
    let length = path.len();
    match (recorded, asked) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let new = other.keys().filter(|name| !one.contains_key(name.as_str()));
            for name in one.keys().chain(new) {
                step(path, name);
                let found = walk(one.get(name), other.get(name), path);
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            None
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for at in 0..one.len().max(other.len()) {
                // Writing to a string does not fail.
                write!(path, "[{at}]").ok()?;
                let found = walk(one.get(at), other.get(at), path);
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            None
        }
        (one, other) => (one != other).then_some((one, other)),
    }
}

fn step(path: &mut String, name: &str) {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.is_empty() && name.chars().all(is_plain) {
        path.push('.');
        path.push_str(name);
    } else {
        path.push('[');
        path.push_str(&Value::from(name).to_string());
        path.push(']');
    }
}
