//! Resolving a target.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::{Step, Target};
use crate::json::Json;
use tapewright_schemas::slices::Part as _;

/// The value at a target.
#[derive(Clone, Debug)]
pub enum Found<'v> {
    /// A value. It is borrowed from the answer, unless it was counted or transformed.
    Value(Cow<'v, Json>),
    /// Nothing, and why.
    Missing(Stop),
}

/// Where the path to a target ended, and the value there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The path up to the last value that was there.
    pub at: String,
    /// The step that could not be made.
    pub step: String,
    /// The value there.
    pub there: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = match self.at.as_str() {
            "" => "the envelope",
            at => at,
        };
        write!(out, "no {} in `{at}`, which is {}", self.step, self.there)
    }
}

impl Target {
    /// Follows the steps from the root of an answer.
    #[must_use]
    pub fn resolve<'v>(&self, root: &'v Json) -> Found<'v> {
        let mut here = root;
        for (number, step) in self.steps.iter().enumerate() {
            here = match (step, here) {
                (Step::Name(name), Json::Object(members)) => match members.get(name) {
                    Some(value) => value,
                    None => return self.stop(number, here),
                },
                (Step::Index(index), Json::Array(elements)) => match elements.get(*index) {
                    Some(value) => value,
                    None => return self.stop(number, here),
                },
                (Step::Name(name), Json::Array(elements))
                    if name == "length" && number + 1 == self.steps.len() =>
                {
                    return Found::Value(Cow::Owned(Json::from(elements.len() as u64)));
                }
                _ => return self.stop(number, here),
            };
        }
        Found::Value(Cow::Borrowed(here))
    }

    fn stop<'v>(&self, number: usize, here: &Json) -> Found<'v> {
        let mut at = String::new();
        for step in self.steps.iter().take(number) {
            // Writing to a string does not fail.
            let _never_fails = match step {
                Step::Index(index) => write!(at, "[{index}]"),
                Step::Name(name) if name.contains(['.', '[']) => write!(at, "[\"{name}\"]"),
                Step::Name(name) if at.is_empty() => write!(at, "{name}"),
                Step::Name(name) => write!(at, ".{name}"),
            };
        }
        let step = match self.steps.get(number) {
            Some(Step::Index(index)) => format!("element {index}"),
            Some(Step::Name(name)) => format!("member `{name}`"),
            None => String::new(),
        };
        Found::Missing(Stop {
            at,
            step,
            there: described(here),
        })
    }
}

impl Found<'_> {
    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&Json> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing(_) => None,
        }
    }
}

/// A description of a value, with enough of it to see what was meant.
fn described(value: &Json) -> String {
    match value {
        Json::Array(elements) => match elements.len() {
            1 => "an array of 1 element".to_owned(),
            length => format!("an array of {length} elements"),
        },
        Json::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Json::Object(members) => {
            let mut names: Vec<String> = members
                .keys()
                .take(NAMES)
                .map(|name| format!("`{}`", shortened(name)))
                .collect();
            if members.len() > NAMES {
                names.push("…".to_owned());
            }
            format!("an object with {}", names.join(", "))
        }
        Json::Null => "null".to_owned(),
        Json::Bool(_) => "a boolean".to_owned(),
        Json::Number(_) => "a number".to_owned(),
        Json::String(_) => "a string".to_owned(),
    }
}

fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME_CHARS) {
        Some((at, _)) => format!("{}…", name.part(..at)).into(),
        None => name.into(),
    }
}

/// The maximum number of listed members, and the maximum length of a name.
const NAMES: usize = 12;
const NAME_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(target: &str, root: &str) -> String {
        let root = Json::read(root.as_bytes()).unwrap();
        match Target::parse(target).unwrap().resolve(&root) {
            Found::Value(value) => value.to_string(),
            Found::Missing(stop) => stop.to_string(),
        }
    }

    #[test]
    fn a_path_leads_to_a_value() {
        let root = r#"{"result":{"a.b":2,"arr":["a","b"],"o":{"length":9},"n":null}}"#;
        for (target, expected) in [
            (r#"result["a.b"]"#, "2"),
            ("result.arr[1]", "\"b\""),
            ("result.arr.length", "2"),
            ("result.o.length", "9"),
            ("result.n", "null"),
            ("", root),
        ] {
            assert_eq!(at(target, root), expected);
        }
    }

    #[test]
    fn a_path_that_ends_says_where() {
        let root = r#"{"result":{"arr":["a"],"s":"four","o":{}}}"#;
        for (target, expected) in [
            (
                "isError",
                "no member `isError` in `the envelope`, which is an object with `result`",
            ),
            (
                "result.arr[3]",
                "no element 3 in `result.arr`, which is an array of 1 element",
            ),
            (
                "result.s.length",
                "no member `length` in `result.s`, which is a string",
            ),
            (
                "result.arr.length.foo",
                "no member `length` in `result.arr`, which is an array of 1 element",
            ),
            (
                "result.arr[0].x",
                "no member `x` in `result.arr[0]`, which is a string",
            ),
            (
                "result.o.x",
                "no member `x` in `result.o`, which is an empty object",
            ),
            (
                "result[0]",
                "no element 0 in `result`, which is an object with `arr`, `s`, `o`",
            ),
        ] {
            assert_eq!(at(target, root), expected);
        }
    }
}
