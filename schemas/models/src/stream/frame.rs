//! Events of a stream as they are sent.

use serde_json::Value;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The name of the event, on wires with named events.
    pub event: Option<String>,
    /// Its data, without line feeds.
    pub data: String,
}

impl Frame {
    pub(crate) fn new(event: Option<&str>, data: &Value) -> Self {
        Self {
            event: event.map(str::to_owned),
            data: data.to_string(),
        }
    }

    /// Adds the event to an event stream.
    pub fn write_sse(&self, out: &mut Vec<u8>) {
        if let Some(event) = &self.event {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(event.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(self.data.as_bytes());
        out.extend_from_slice(b"\n\n");
    }
}

/// The events as one JSON array, as Gemini streams without `alt=sse`.
#[must_use]
pub fn write_array(frames: &[Frame]) -> Vec<u8> {
    let mut out = vec![b'['];
    for (at, frame) in frames.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b",\r\n");
        }
        out.extend_from_slice(frame.data.as_bytes());
    }
    out.push(b']');
    out
}

/// A text in pieces of this many characters, the last one shorter; no pieces for an empty text.
pub(crate) fn pieces(text: &str, characters: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.char_indices().nth(characters.max(1));
        let (piece, after) = rest.split_at(ends.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(piece)
    })
}
