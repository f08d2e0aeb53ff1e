//! Edits of byte ranges, and strings as all three formats write them.

use std::ops::Range;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Part as _;

/// A byte range of a file, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range, in bytes from the beginning of the file.
    pub range: Range<usize>,
    /// The replacement.
    pub new: String,
}

/// A text with edits carried out; they are in order and do not overlap.
#[must_use]
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut applied = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits {
        applied.push_str(text.part(at..edit.range.start));
        applied.push_str(&edit.new);
        at = edit.range.end;
    }
    applied.push_str(text.part(at..));
    applied
}

/// Sorts edits by position; `None` if two of them overlap.
pub(crate) fn in_order(mut edits: Vec<Edit>) -> Option<Vec<Edit>> {
    edits.order_by_key(|edit| edit.range.start);
    let mut pairs = edits.iter().zip(edits.iter().skip(1));
    let apart = pairs.all(|(first, second)| first.range.end <= second.range.start);
    apart.then_some(edits)
}

/// A string in double quotes, the same in JSON, TOML and YAML.
pub(crate) fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    // TOML and YAML require these to be escaped, too; JSON allows it.
    let mut safe = String::with_capacity(quoted.len());
    for char in quoted.chars() {
        match char {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                safe.push_str("\\u");
                let digits = format!("{:04x}", u32::from(char));
                safe.push_str(&digits);
            }
            _ => safe.push(char),
        }
    }
    safe
}

/// A list of strings on one line.
pub(crate) fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}
