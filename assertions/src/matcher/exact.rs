//! `exact`: the same value.

use serde_json::Value;

use super::{Judged, Matcher};
use crate::diff::diff;
use crate::error::{LoadError, escaped};
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Exact(Json);

#[expect(
    clippy::unnecessary_wraps,
    reason = "every matcher is compiled by the same signature"
)]
pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    Ok(Box::new(Exact(Json::from(value))))
}

impl Matcher for Exact {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        judge(&self.0, value)
    }
}

/// Whether the actual value equals this one. A missing value equals `null`.
pub(super) fn judge(expected: &Json, actual: Option<&Json>) -> Judged {
    let Some(actual) = actual else {
        return match expected {
            Json::Null => Judged::Holds,
            _ => super::nothing_there(Some(expected.clone())),
        };
    };
    let Some((path, note)) = divergence(expected, actual, String::new()) else {
        return Judged::Holds;
    };
    Judged::fails(Failure {
        expected: Some(expected.clone()),
        diff: diff(expected, actual),
        path: Some(path),
        note: Some(note),
        ..Failure::default()
    })
}

/// The first place at which two values differ, and how.
fn divergence(expected: &Json, actual: &Json, path: String) -> Option<(String, String)> {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => {
            if let Some(name) = expected.keys().find(|name| !actual.contains_key(*name)) {
                return Some((path, format!("missing key `{name}` in actual value")));
            }
            if let Some(name) = actual.keys().find(|name| !expected.contains_key(*name)) {
                return Some((path, format!("unexpected key `{name}` in actual value")));
            }
            expected.iter().find_map(|(name, expected)| {
                divergence(
                    expected,
                    actual.get(name)?,
                    format!("{path}/{}", escaped(name)),
                )
            })
        }
        (Json::Array(expected), Json::Array(actual)) if expected.len() == actual.len() => expected
            .iter()
            .zip(actual)
            .enumerate()
            .find_map(|(index, (expected, actual))| {
                divergence(expected, actual, format!("{path}/{index}"))
            }),
        (Json::Array(expected), Json::Array(actual)) => Some((
            path,
            format!(
                "array length differs: expected {}, actual {}",
                expected.len(),
                actual.len()
            ),
        )),
        _ if expected == actual => None,
        _ if expected.kind() == actual.kind() => Some((path, "values are not equal".to_owned())),
        _ => Some((
            path,
            format!(
                "types differ: expected {}, actual {}",
                expected.kind(),
                actual.kind()
            ),
        )),
    }
}
