//! JSON, for programs. What is in it is a matter of each subject.

use serde::Serialize;

use crate::report::safe_json;

/// A document as text, indented, with a line end behind it.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(document)?;
    Ok(safe_json(&text).into_owned() + "\n")
}
