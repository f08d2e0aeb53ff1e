//! `levenshtein`: a text that is close to another.

use serde_json::Value;

use super::{Judged, Matcher, nothing_there, object_argument, required, string_argument};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Levenshtein {
    value: String,
    max: u64,
}

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "levenshtein";
    let members = object_argument(value, name, &["value", "max"])
        .map_err(|error| error.help("write `levenshtein: { value: \"text\", max: 3 }`"))?;
    let text = required(members, "value", name)?;
    let max = required(members, "max", name)?;
    let value = string_argument(text, "value").map_err(|error| error.under("value"))?;
    let Some(max) = Json::from(max).as_u64() else {
        return Err(LoadError::here(format!(
            "`max` is a whole number from 0 on, not {}",
            if max.is_number() {
                "this one"
            } else {
                kind(max)
            }
        ))
        .under("max"));
    };
    Ok(Box::new(Levenshtein { value, max }))
}

impl Matcher for Levenshtein {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || Some(Json::from(self.value.as_str()));
        let Some(value) = value else {
            return nothing_there(expected());
        };
        let actual = value.stringified();
        let (one, other) = (self.value.chars().count(), actual.chars().count());
        let at_least = one.abs_diff(other) as u64;
        if at_least > self.max {
            return Judged::fails(Failure {
                expected: expected(),
                note: Some(format!(
                    "at least {at_least} edits away, and {} are allowed",
                    self.max
                )),
                ..Failure::default()
            });
        }
        if one.saturating_mul(other) > CELLS {
            return Judged::unknown(format!(
                "too long for `levenshtein`: {one} and {other} characters"
            ));
        }
        let distance = strsim::levenshtein(&self.value, &actual) as u64;
        Judged::when(distance <= self.max, || Failure {
            expected: expected(),
            note: Some(format!(
                "{distance} edits away, and {} are allowed",
                self.max
            )),
            ..Failure::default()
        })
    }
}

/// The maximum number of compared pairs of characters: about a tenth of a second.
const CELLS: usize = 25_000_000;
