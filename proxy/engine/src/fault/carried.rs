//! A message with its carrier.

use std::ops::Range;

use bytes::Bytes;

use crate::policy::Message;
use crate::sse::SseEvent;

/// A message, in the line, body or event that carries it. A fault's replacement is put into the
/// same frame.
#[derive(Clone, Debug)]
pub struct Carried {
    // The frame, verbatim.
    whole: Bytes,
    // The message, and the parts of the frame around it if it is replaced.
    before: Bytes,
    text: Bytes,
    behind: Bytes,
    frame: Frame,
}

/// The frame of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// An HTTP body, which is the message.
    Body,
    /// An event of a stream.
    Event,
    /// A line, with its end.
    Line,
}

impl Carried {
    /// A message that is a line.
    #[must_use]
    pub fn line(line: &Bytes) -> Self {
        let end = Message::text_of(line).len();
        Self::around(line.clone(), line, 0..end, Frame::Line)
    }

    /// A message that is a body.
    #[must_use]
    pub fn body(whole: &Bytes) -> Self {
        Self::around(whole.clone(), whole, 0..whole.len(), Frame::Body)
    }

    /// A message in an event. If its text is spread over several lines, a changed event has all
    /// of it on one line.
    #[must_use]
    pub fn event(event: &Bytes, fields: &SseEvent, text: &[u8]) -> Self {
        let found = memchr::memmem::find(event, text);
        let (plain, start) = match found {
            Some(start) => (event.clone(), start),
            None => on_one_line(fields, text),
        };
        let place = start..start + text.len();
        Self::around(event.clone(), &plain, place, Frame::Event)
    }

    fn around(whole: Bytes, plain: &Bytes, place: Range<usize>, frame: Frame) -> Self {
        Self {
            whole,
            before: plain.slice(..place.start),
            behind: plain.slice(place.end..),
            text: plain.slice(place),
            frame,
        }
    }

    /// The whole frame, verbatim.
    #[must_use]
    pub fn whole(&self) -> &Bytes {
        &self.whole
    }

    /// The message itself.
    #[must_use]
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// The end of each line that replaces the message; empty if the frame provides it.
    pub(super) fn end(&self) -> &[u8] {
        match self.frame {
            Frame::Line => &self.behind,
            Frame::Body | Frame::Event => b"",
        }
    }

    /// The part before the replacement. It is empty for a body, but sending it also sends the head
    /// of the response.
    pub(super) fn before(&self) -> Option<Bytes> {
        (self.frame != Frame::Line).then(|| self.before.clone())
    }

    /// The part after the replacement.
    pub(super) fn behind(&self) -> Option<Bytes> {
        (self.frame != Frame::Line).then(|| self.behind.clone())
    }

    /// The frame, with the message repeated this many times.
    pub(super) fn again(&self, times: u8) -> Vec<Bytes> {
        let times = usize::from(times);
        if self.frame == Frame::Line {
            return vec![self.whole.clone(); times + 1];
        }
        let mut all = vec![self.before.clone(), self.text.clone()];
        for _ in 0..times {
            if self.frame == Frame::Event {
                all.push(Bytes::from_static(b"\n\ndata: "));
            }
            all.push(self.text.clone());
        }
        all.push(self.behind.clone());
        all
    }

    /// The frame, after a line made by tapewright: in an event stream, after a separate event.
    pub(super) fn behind_line(&self, line: &[u8]) -> Vec<Bytes> {
        let mut ours = Vec::with_capacity(line.len() + 16);
        if self.frame == Frame::Event {
            for part in line.split(|byte| matches!(byte, b'\n' | b'\r')) {
                ours.extend_from_slice(b"data: ");
                ours.extend_from_slice(part);
                ours.push(b'\n');
            }
        } else {
            ours.extend_from_slice(line);
        }
        ours.push(b'\n');
        vec![ours.into(), self.whole.clone()]
    }
}

/// An event with its data on one line, and the position of the data.
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
    // Between tokens of JSON all white space is equivalent, and within them there is no line feed.
    let plain = |byte: &u8| if *byte == b'\n' { b' ' } else { *byte };
    event.extend(text.iter().map(plain));
    event.extend_from_slice(b"\n\n");
    (event.into(), start)
}
