//! The answer of a tool: data and a short text, both bounded, and neither with a secret.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tapewright_schemas::json::is_valid;
use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::slices::{Front as _, Part as _};

use super::cursor::{Question, RowPosition};
use crate::report::safe_json;

/// The longest text of an answer, in bytes.
const TEXT_BYTES: usize = 16 << 10;
/// The longest string within the data, in bytes.
const STRING_BYTES: usize = 4 << 10;
/// The longest list within a row.
const LIST: usize = 50;

/// What a tool answers.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// What came from a recording.
    told: Map<String, Value>,
    /// What is ours, and holds nothing of a recording.
    ours: Map<String, Value>,
    text: String,
}

impl Answer {
    /// Data of a recording, and the same for people.
    pub(super) fn new(told: Value, text: impl Into<String>) -> Self {
        let Value::Object(told) = told else {
            return Self::default();
        };
        Self {
            told,
            text: text.into(),
            ..Self::default()
        }
    }

    /// Adds what holds nothing of a recording.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.ours.insert(name.to_owned(), value.into());
        self
    }

    /// Adds where to go on, and says so.
    pub(super) fn going_on(mut self, question: &Question, next: Option<RowPosition>) -> Self {
        let cursor = next.map(|next| question.cursor(next));
        if let Some(cursor) = &cursor {
            let more = format!("\nThere is more: ask again with cursor {cursor}\n");
            self.text = cut(&self.text, TEXT_BYTES);
            self.text.push_str(&more);
        }
        self.with("next_cursor", cursor)
    }

    /// Both parts, after a last look for secrets: what was recorded without that, or by others,
    /// is told without them as well.
    pub(super) fn finish(self, rules: &Arc<Rules>) -> (Value, String) {
        let mut redactor = Redactor::new(Arc::clone(rules));
        let told = Value::Object(self.told).to_string();
        let told = match redactor.json(told.as_bytes()) {
            Ok(told) => serde_json::from_slice(&told).unwrap_or_default(),
            // What we wrote is JSON.
            Err(_) => Value::Null,
        };
        let text = cut(&self.text, TEXT_BYTES + NOTE_BYTES);
        let text = redactor.text(text.as_bytes());
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut members = match told {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        members.extend(self.ours);
        (Value::Object(members), text)
    }
}

/// Bytes reserved for the note below a text that was cut.
const NOTE_BYTES: usize = 400;

/// The beginning of a text, and how much of it is missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text.front(most);
    format!("{head}… ({} more bytes)", text.len() - head.len())
}

/// A value whose strings and lists are no longer than an answer has room for; what is left out of
/// a list is said at its end.
pub(super) fn shortened(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > STRING_BYTES => *text = cut(text, STRING_BYTES),
        Value::Array(all) => {
            all.truncate(LIST);
            all.iter_mut().for_each(shortened);
        }
        Value::Object(members) => members.values_mut().for_each(shortened),
        _ => {}
    }
}

/// The lists among the members of an object, cut, with how many of each were left out.
pub(super) fn bounded(value: &mut Value) -> Value {
    let mut left_out = Map::new();
    if let Value::Object(members) = value {
        for (name, member) in members.iter_mut() {
            if let Value::Array(all) = member
                && all.len() > LIST
            {
                left_out.insert(name.clone(), json!(all.len() - LIST));
            }
        }
    }
    shortened(value);
    Value::Object(left_out)
}

/// The longest letter, in bytes.
const LETTER: usize = 4;

/// A piece of a message's text.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Where it begins, in bytes.
    offset: usize,
    /// How long all of it is, in bytes.
    bytes: usize,
    /// Where it goes on, in bytes; nothing at the end.
    pub(crate) next: Option<usize>,
}

impl Piece {
    /// It, as data.
    pub(super) fn value(&self) -> Value {
        json!({
            "text": self.text,
            "offset": self.offset,
            "bytes": self.bytes,
            "whole": self.text.len() == self.bytes,
        })
    }
}

/// The piece of a message that begins at an offset. JSON stays the same JSON: only letters that
/// could move a cursor are escaped.
pub(super) fn piece(message: &[u8], offset: usize, most: usize) -> Piece {
    let text = String::from_utf8_lossy(message);
    let text = if is_valid(message) {
        safe_json(&text)
    } else {
        text.clone()
    };
    let offset = text.front(offset).len();
    let part = text.part(offset..).front(most.max(LETTER));
    let end = offset + part.len();
    Piece {
        text: part.to_owned(),
        offset,
        bytes: text.len(),
        next: (end < text.len()).then_some(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_and_split_no_letter() {
        let message = "\"äöü and more\"".as_bytes();
        let (mut offset, mut all) = (0, String::new());
        loop {
            let piece = piece(message, offset, 4);
            all.push_str(&piece.text);
            match piece.next {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(all.as_bytes(), message);
    }

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        assert_eq!(cut("äöü", 3), "ä… (4 more bytes)");
        let mut value = json!({"all": vec![1; 60], "text": "x".repeat(5_000)});
        assert_eq!(bounded(&mut value), json!({"all": 10}));
        assert_eq!(value["all"].as_array().unwrap().len(), 50);
        assert!(
            value["text"]
                .as_str()
                .unwrap()
                .ends_with("… (904 more bytes)")
        );
    }
}
