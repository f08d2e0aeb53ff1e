//! JSON, for programs. What is in it is a matter of each subject.

use serde::Serialize;

/// A document as text, indented, with a line end behind it.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}
