//! `contains`: a part of the value, by the types of both values.
//!
//! A string in a string, members in an object (each of them again a part), distinct elements in an
//! array in any order. Everything else must be equal.

use serde_json::Value;

use super::{Judged, Matcher};
use crate::error::{LoadError, escaped};
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Contains(Json);

#[expect(
    clippy::unnecessary_wraps,
    reason = "every matcher is compiled by the same signature"
)]
pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    Ok(Box::new(Contains(Json::from(value))))
}

impl Matcher for Contains {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let Some(actual) = value else {
            return match &self.0 {
                Json::Null => Judged::Holds,
                expected => super::nothing_there(Some(expected.clone())),
            };
        };
        match lacking(&self.0, actual, String::new()) {
            None => Judged::Holds,
            Some(failure) => Judged::Fails(Box::new(failure)),
        }
    }
}

/// The part that is missing.
fn lacking(expected: &Json, actual: &Json, path: String) -> Option<Failure> {
    let note = match (expected, actual) {
        (Json::String(part), Json::String(whole)) => {
            if whole.contains(part.as_str()) {
                return None;
            }
            format!("substring `{part}` not found in actual string")
        }
        (Json::Object(part), Json::Object(whole)) => {
            return part.iter().find_map(|(name, expected)| {
                let path = format!("{path}/{}", escaped(name));
                if let Some(actual) = whole.get(name) {
                    return lacking(expected, actual, path);
                }
                let note = format!("missing key `{name}` in actual value");
                Some(missing(path, expected, note))
            });
        }
        (Json::Array(part), Json::Array(whole)) => return lacking_element(part, whole, &path),
        _ if expected == actual => return None,
        _ if expected.kind() == actual.kind() => "values are not equal".to_owned(),
        _ => format!(
            "types differ: expected {}, actual {}",
            expected.kind(),
            actual.kind()
        ),
    };
    Some(missing(path, expected, note))
}

/// The first missing element, each counted once.
fn lacking_element(part: &[Json], whole: &[Json], path: &str) -> Option<Failure> {
    let mut taken = vec![false; whole.len()];
    part.iter().enumerate().find_map(|(index, expected)| {
        let place = whole
            .iter()
            .zip(&mut taken)
            .find(|(actual, taken)| !**taken && *actual == expected);
        if let Some((_, taken)) = place {
            *taken = true;
            return None;
        }
        let note = format!("expected element at index {index} not found in actual array");
        Some(missing(format!("{path}/{index}"), expected, note))
    })
}

fn missing(path: String, expected: &Json, note: String) -> Failure {
    Failure {
        path: Some(path),
        expected: Some(expected.clone()),
        note: Some(note),
        ..Failure::default()
    }
}
