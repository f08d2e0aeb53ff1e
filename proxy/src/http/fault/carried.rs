//! An answer, in the body or the event that carries it.

use std::ops::Range;

use bytes::Bytes;
use tapewright_engine::SseEvent;

/// An answer, and what carries it.
#[derive(Debug)]
pub(super) struct Carried {
    whole: Bytes,
    place: Range<usize>,
    is_event: bool,
}

impl Carried {
    /// An answer that is a body.
    pub(super) fn body(whole: &Bytes) -> Self {
        Self {
            whole: whole.clone(),
            place: 0..whole.len(),
            is_event: false,
        }
    }

    /// An answer that stands in an event. Where its text is spread over several lines the
    /// event is written anew with all of it on one, so that it can be changed like any other.
    pub(super) fn in_event(event: &Bytes, fields: &SseEvent, text: &[u8]) -> Self {
        let found = memchr::memmem::find(event, text);
        let (whole, start) = match found {
            Some(start) => (event.clone(), start),
            None => on_one_line(fields, text),
        };
        Self {
            place: start..start + text.len(),
            whole,
            is_event: true,
        }
    }

    /// The answer itself.
    pub(super) fn text(&self) -> &[u8] {
        self.whole.get(self.place.clone()).unwrap_or_default()
    }

    /// What stands before the answer.
    pub(super) fn before(&self) -> Bytes {
        self.whole.slice(..self.place.start)
    }

    /// What stands behind the answer.
    pub(super) fn behind(&self) -> Bytes {
        self.whole.slice(self.place.end..)
    }

    /// All of it, with the answer this many times more than once.
    pub(super) fn again(&self, times: u8) -> Vec<u8> {
        let mut again = self.whole.slice(..self.place.end).to_vec();
        for _ in 0..times {
            if self.is_event {
                again.extend_from_slice(b"\n\ndata: ");
            }
            again.extend_from_slice(self.text());
        }
        again.extend_from_slice(&self.behind());
        again
    }

    /// All of it, behind a line of ours: of an event stream it is an event of its own.
    pub(super) fn behind_line(&self, line: &[u8]) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.whole.len() + line.len() + 16);
        if self.is_event {
            for part in line.split(|byte| matches!(byte, b'\n' | b'\r')) {
                all.extend_from_slice(b"data: ");
                all.extend_from_slice(part);
                all.push(b'\n');
            }
        } else {
            all.extend_from_slice(line);
        }
        all.push(b'\n');
        all.extend_from_slice(&self.whole);
        all
    }
}

/// An event with its data on one line, and where that begins.
fn on_one_line(fields: &SseEvent, text: &[u8]) -> (Bytes, usize) {
    let mut event = Vec::with_capacity(text.len() + 64);
    for (name, value) in [("event: ", &fields.event), ("id: ", &fields.id)] {
        if let Some(value) = value {
            event.extend_from_slice(name.as_bytes());
            event.extend_from_slice(value);
            event.push(b'\n');
        }
    }
    if let Some(time) = fields.retry_ms {
        event.extend_from_slice(format!("retry: {time}\n").as_bytes());
    }
    event.extend_from_slice(b"data: ");
    let start = event.len();
    // Between the tokens of JSON one white space is as good as another, and inside of them
    // there is no line feed.
    let plain = |byte: &u8| if *byte == b'\n' { b' ' } else { *byte };
    event.extend(text.iter().map(plain));
    event.extend_from_slice(b"\n\n");
    (event.into(), start)
}
