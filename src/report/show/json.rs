//! A conversation as lines of JSON: the published row of each exchange, with its contents.

use tapewright_schemas::json::is_valid;
use tapewright_schemas::listing::{Body, Entry, NoteContent};

use crate::report::safe_json;

/// One line; `place` is the name of its tape in the recording, and its file.
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
    // Removes the closing brace.
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

/// Contents as a value on one line; text that is not JSON becomes a string.
fn said(body: &Body) -> serde_json::Result<String> {
    let Some(text) = body.text() else {
        return Ok("null".to_owned());
    };
    match std::str::from_utf8(text) {
        // Line ends within valid JSON are white space.
        Ok(plain) if is_valid(text) => Ok(plain.replace(['\n', '\r'], " ")),
        _ => serde_json::to_string(&String::from_utf8_lossy(text)),
    }
}
