//! A conversation as lines of JSON: the published row of each exchange, and what was said
//! beside it.

use tapewright_schemas::json::is_valid;
use tapewright_schemas::listing::{Body, Entry, NoteContent};

use crate::report::safe_json;

/// One line; `place` is what its tape is called in the recording, and its file.
pub(super) fn line(
    entry: &Entry,
    place: Option<(&str, &str)>,
    full: bool,
) -> serde_json::Result<String> {
    let mut text = match entry {
        Entry::Exchange { row, .. } => serde_json::to_string(row)?,
        Entry::Model { row, .. } => serde_json::to_string(row)?,
        Entry::Beside(note) => serde_json::to_string(&note.beside())?,
    };
    // The brace that ends it.
    text.pop();
    let mut member = |name: &str, value: &str| {
        text.extend([",\"", name, "\":", value]);
    };
    if full {
        match entry {
            Entry::Exchange {
                request, answer, ..
            }
            | Entry::Model {
                request, answer, ..
            } => {
                member("request", &said(request)?);
                member("answer", &said(answer)?);
            }
            Entry::Beside(note) => {
                if let NoteContent::Message(body) = &note.told {
                    member("message", &said(body)?);
                }
            }
        }
    }
    if let Some((part, file)) = place {
        if !part.is_empty() {
            member("part", &serde_json::to_string(part)?);
        }
        member("file", &serde_json::to_string(file)?);
    }
    text.push('}');
    Ok(safe_json(&text).into_owned())
}

/// What was said, as a value on one line; what is no JSON as a string.
fn said(body: &Body) -> serde_json::Result<String> {
    let Some(text) = body.text() else {
        return Ok("null".to_owned());
    };
    match std::str::from_utf8(text) {
        // A line end within JSON is white space.
        Ok(plain) if is_valid(text) => Ok(plain.replace(['\n', '\r'], " ")),
        _ => serde_json::to_string(&String::from_utf8_lossy(text)),
    }
}
