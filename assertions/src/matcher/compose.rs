//! `oneOf`, `anyOf`, `allOf`: several matchers on one value.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Judged, Matcher, nested};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Compose {
    how: How,
    children: Vec<(&'static str, Box<dyn Matcher>)>,
    argument: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    All,
    Any,
    One,
}

pub(super) fn all_of(value: &Value, depth: usize) -> Result<Box<dyn Matcher>, LoadError> {
    compile(value, depth, How::All)
}

pub(super) fn any_of(value: &Value, depth: usize) -> Result<Box<dyn Matcher>, LoadError> {
    compile(value, depth, How::Any)
}

pub(super) fn one_of(value: &Value, depth: usize) -> Result<Box<dyn Matcher>, LoadError> {
    compile(value, depth, How::One)
}

fn compile(value: &Value, depth: usize, how: How) -> Result<Box<dyn Matcher>, LoadError> {
    let name = how.name();
    let Value::Array(matchers) = value else {
        return Err(LoadError::here(format!(
            "`{name}` takes a list of matchers, not {}",
            kind(value)
        )));
    };
    if matchers.is_empty() {
        return Err(LoadError::here(format!("`{name}` has no matchers"))
            .help(format!("write at least one matcher below `{name}`")));
    }
    let mut children = Vec::with_capacity(matchers.len());
    for (index, one) in matchers.iter().enumerate() {
        children.push(nested(one, depth + 1).map_err(|error| error.under(index.to_string()))?);
    }
    let argument = Json::object([(name, Json::from(value))]);
    Ok(Box::new(Compose {
        how,
        children,
        argument,
    }))
}

impl Matcher for Compose {
    /// Every child is judged, even if the outcome is clear: an error in one of them must not be
    /// hidden.
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        let name = self.how.name();
        let mut passed = 0;
        let mut failed = Vec::new();
        for (index, (inner, matcher)) in self.children.iter().enumerate() {
            match checked(name, inner, matcher.as_ref(), value, world) {
                Judged::Holds => passed += 1,
                Judged::Fails(failure) => failed.push((index, *inner, failure)),
                other => return other,
            }
        }
        let count = self.children.len();
        let holds = match self.how {
            How::All => passed == count,
            How::Any => passed > 0,
            How::One => passed == 1,
        };
        Judged::when(holds, || {
            let mut note = match self.how {
                How::All => format!(
                    "expected `allOf` to match every inner matcher, {} of {count} failed",
                    failed.len()
                ),
                How::Any => format!(
                    "expected `anyOf` to match at least one inner matcher, none of {count} matched"
                ),
                How::One => format!(
                    "expected `oneOf` to match exactly one inner matcher, {passed} of {count} matched"
                ),
            };
            if self.how != How::One || passed == 0 {
                for (index, inner, failure) in failed.iter().take(SHOWN) {
                    let why = failure.note.as_deref().unwrap_or("it does not hold");
                    // Writing to a string does not fail.
                    let _never_fails = write!(note, "\n  #{index} `{inner}`: {why}");
                }
            }
            Failure {
                expected: Some(self.argument.clone()),
                note: Some(note),
                ..Failure::default()
            }
        })
    }

    fn negates(&self) -> bool {
        self.children.iter().any(|(_, matcher)| matcher.negates())
    }
}

impl How {
    fn name(self) -> &'static str {
        match self {
            Self::All => "allOf",
            Self::Any => "anyOf",
            Self::One => "oneOf",
        }
    }
}

/// Compiles a matcher inside another one, which only accepts matchers that decide by the value.
pub(super) fn checked(
    around: &str,
    name: &str,
    matcher: &dyn Matcher,
    value: Option<&Json>,
    world: &dyn World,
) -> Judged {
    match matcher.needs() {
        None => matcher.judge(value, world),
        Some(needs) => Judged::unknown(format!(
            "`{name}` needs {needs} and cannot stand inside of `{around}`"
        )),
    }
}

/// The maximum number of failed children that are reported.
const SHOWN: usize = 8;
