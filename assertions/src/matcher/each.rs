//! `contains-all` and `contains-any`: substrings of a string, or elements of an array.

use serde_json::Value;

use super::{Judged, Matcher, article, nothing_there};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Each {
    needles: Vec<Json>,
    all: bool,
}

pub(super) fn all(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    compile(value, true)
}

pub(super) fn any(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    compile(value, false)
}

fn compile(value: &Value, all: bool) -> Result<Box<dyn Matcher>, LoadError> {
    let Value::Array(needles) = value else {
        return Err(LoadError::here(format!(
            "`{}` takes a list, not {}",
            name(all),
            kind(value)
        )));
    };
    let needles = needles.iter().map(Json::from).collect();
    Ok(Box::new(Each { needles, all }))
}

impl Matcher for Each {
    /// From left to right, and no further than needed: needles after the one that decides are not
    /// examined.
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || Some(Json::Array(self.needles.clone()));
        if self.needles.is_empty() {
            return Judged::when(self.all, || Failure {
                expected: expected(),
                note: Some("an empty list never passes".to_owned()),
                ..Failure::default()
            });
        }
        let Some(value) = value else {
            return nothing_there(expected());
        };
        for needle in &self.needles {
            let found = match (value, needle) {
                (Json::String(text), Json::String(part)) => text.contains(part.as_str()),
                (Json::Array(elements), needle) => elements.contains(needle),
                (Json::String(_), other) => {
                    return Judged::unknown(format!(
                        "`{}` looks for {} {} in a string, where only strings can be",
                        name(self.all),
                        article(other.kind()),
                        other.kind()
                    ));
                }
                (other, _) => {
                    return Judged::unknown(format!(
                        "`{}` judges a string or an array, and the target is {} {}",
                        name(self.all),
                        article(other.kind()),
                        other.kind()
                    ));
                }
            };
            if found && !self.all {
                return Judged::Holds;
            }
            if !found && self.all {
                return Judged::fails(Failure {
                    expected: expected(),
                    note: Some(format!("{needle} not found")),
                    ..Failure::default()
                });
            }
        }
        Judged::when(self.all, || Failure {
            expected: expected(),
            note: Some("none of them found".to_owned()),
            ..Failure::default()
        })
    }
}

fn name(all: bool) -> &'static str {
    if all { "contains-all" } else { "contains-any" }
}
