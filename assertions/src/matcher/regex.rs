//! `regex`: a pattern anywhere in the text of the value.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::{Judged, Matcher, nothing_there, string_argument};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Pattern(Regex);

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let pattern = string_argument(value, "regex")?;
    Ok(Box::new(Pattern(build(&pattern)?)))
}

/// A pattern of bounded size. It searches in time linear to the text.
pub(crate) fn build(pattern: &str) -> Result<Regex, LoadError> {
    RegexBuilder::new(pattern)
        .size_limit(SIZE)
        .dfa_size_limit(SIZE)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            // The last line has the error; those above draw the pattern.
            let cause = text.lines().last().unwrap_or_default();
            let cause = cause.strip_prefix("error: ").unwrap_or(cause);
            LoadError::here(format!("invalid regular expression `{pattern}`: {cause}"))
                .help("the syntax is that of the crate `regex`: no look-around, no back-references")
        })
}

impl Matcher for Pattern {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let expected = || Json::from(self.0.as_str());
        let Some(value) = value else {
            return nothing_there(Some(expected()));
        };
        Judged::when(self.0.is_match(&value.stringified()), || Failure {
            expected: Some(expected()),
            note: Some("the pattern matches nowhere".to_owned()),
            ..Failure::default()
        })
    }
}

/// The maximum size of a compiled pattern, in bytes.
const SIZE: usize = 4 << 20;
