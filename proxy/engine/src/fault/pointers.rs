//! Selector words that no message can match together.

use tapewright_schemas::json;

use super::contradiction::Contradiction;
use super::selector::{Selector, at, fits, is_equal, is_text};

/// What a message must have in a place to match.
struct Wanted<'a> {
    /// The selector word that requires it.
    word: &'a str,
    /// A JSON pointer.
    pointer: &'a str,
    what: What<'a>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    /// A text; `*` at the end matches any suffix.
    Text(&'a str),
    /// A value, verbatim.
    Value(&'a str),
}

/// One or two selector words that no message can match.
pub(super) fn contradiction(selector: &Selector) -> Option<Contradiction> {
    let all = wanted(selector);
    for (count, one) in all.iter().enumerate() {
        if let Some(found) = one.is_nowhere() {
            return Some(found);
        }
        for other in all.iter().skip(count + 1) {
            if let Some(found) = one.against(other).or_else(|| other.above(one)) {
                return Some(found);
            }
        }
    }
    None
}

fn wanted(selector: &Selector) -> Vec<Wanted<'_>> {
    let methods = selector.methods().into_iter();
    let methods = methods.map(|(word, method)| (word, "/method", method));
    let names = [
        ("tool", "/params/name", &selector.tool),
        ("resource", "/params/uri", &selector.resource),
        ("prompt", "/params/name", &selector.prompt),
    ];
    let names = names
        .into_iter()
        .filter_map(|(word, pointer, name)| Some((word, pointer, name.as_deref()?)));
    let texts = methods.chain(names).map(|(word, pointer, text)| Wanted {
        word,
        pointer,
        what: What::Text(text),
    });
    let values = selector.equals.iter().map(|(pointer, value)| Wanted {
        word: pointer,
        pointer,
        what: What::Value(value),
    });
    texts.chain(values).collect()
}

impl Wanted<'_> {
    /// A place that requests and notifications do not have.
    fn is_nowhere(&self) -> Option<Contradiction> {
        let member = self.pointer.split('/').nth(1)?;
        let why = format!("requests and notifications are looked at, and none has a `{member}`");
        let instead = "say what the request has, as in `/params/name=search`";
        matches!(member, "result" | "error").then(|| Contradiction::new(&[self.word], why, instead))
    }

    /// Two words that require different things in one place, or one that requires something within
    /// a value that has no such place.
    fn against(&self, other: &Self) -> Option<Contradiction> {
        if self.pointer != other.pointer {
            return self.above(other);
        }
        let agree = match (self.what, other.what) {
            (What::Text(one), What::Text(two)) => overlap(one, two),
            (What::Text(text), What::Value(value)) | (What::Value(value), What::Text(text)) => {
                fits(text, value) || is_text(value.as_bytes(), |value| fits(text, value))
            }
            // Using the same place twice was already rejected.
            (What::Value(_), What::Value(_)) => true,
        };
        let why = match (self.word, other.word) {
            ("", _) => format!(
                "`tools/call` is the default method, and {} does not match it",
                other.told()
            ),
            _ => format!(
                "no message matches both {} and {}",
                self.told(),
                other.told()
            ),
        };
        let instead = if self.word.is_empty() {
            "say which `method`"
        } else {
            "say one of them, or let them agree"
        };
        let found = || Contradiction::new(&[self.word, other.word], why, instead);
        (!agree).then(found)
    }

    /// The other word requires something within this value, which has no such place.
    fn above(&self, other: &Self) -> Option<Contradiction> {
        let below = other.pointer.strip_prefix(self.pointer)?;
        if !below.starts_with('/') {
            return None;
        }
        let found = match self.what {
            What::Value(value) if json::is_valid(value.as_bytes()) => at(value.as_bytes(), below),
            What::Text(_) | What::Value(_) => None,
        };
        let agree = found.is_some_and(|found| match other.what {
            What::Text(text) => is_text(found, |found| fits(text, found)),
            What::Value(value) => is_equal(found, "", value),
        });
        let why = format!(
            "{} leaves no room for {} within it",
            self.told(),
            other.told()
        );
        let words = [self.word, other.word];
        (!agree).then(|| Contradiction::new(&words, why, "say one of them"))
    }
}

impl Wanted<'_> {
    fn told(&self) -> String {
        let word = self.word;
        match self.what {
            // A value to look for may be a secret.
            What::Value(_) => format!("`{word}`"),
            What::Text(_) if word == self.pointer => format!("`{word}`"),
            What::Text(method) if self.pointer == "/method" && word != "method" => {
                format!("`{word}` (which means `{method}`)")
            }
            What::Text(text) => format!("`{word}={text}`"),
        }
    }
}

/// Whether some text matches both.
fn overlap(one: &str, two: &str) -> bool {
    match (one.strip_suffix('*'), two.strip_suffix('*')) {
        (Some(one), Some(two)) => one.starts_with(two) || two.starts_with(one),
        _ => fits(one, two) || fits(two, one),
    }
}
