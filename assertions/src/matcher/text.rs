//! `icontains` and `starts-with`: parts of a string.

use serde_json::Value;

use super::{Judged, Matcher, no_string, nothing_there, string_argument};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct IContains {
    written: String,
    lower: String,
}

/// Case-insensitive, by the lower case of each character: `SS` is not in `straße`.
pub(super) fn icontains(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let written = string_argument(value, "icontains")?;
    let lower = written.to_lowercase();
    Ok(Box::new(IContains { written, lower }))
}

impl Matcher for IContains {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || Some(Json::from(self.written.as_str()));
        match value {
            None => nothing_there(expected()),
            Some(Json::String(text)) => {
                Judged::when(text.to_lowercase().contains(&self.lower), || Failure {
                    expected: expected(),
                    note: Some(format!("`{}` is not in it, in any case", self.written)),
                    ..Failure::default()
                })
            }
            Some(other) => no_string("icontains", other),
        }
    }
}

#[derive(Debug)]
struct StartsWith(String);

pub(super) fn starts_with(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    Ok(Box::new(StartsWith(string_argument(value, "starts-with")?)))
}

impl Matcher for StartsWith {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || Some(Json::from(self.0.as_str()));
        match value {
            None => nothing_there(expected()),
            Some(Json::String(text)) => Judged::when(text.starts_with(&self.0), || Failure {
                expected: expected(),
                note: Some("it starts otherwise".to_owned()),
                ..Failure::default()
            }),
            Some(other) => no_string("starts-with", other),
        }
    }
}
