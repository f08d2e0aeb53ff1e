//! Splits an event stream into events, on a copy of its bytes.
//!
//! Follows the HTML standard, §9.2.6 "Interpreting an event stream": lines end in LF, CRLF or CR, a
//! byte order mark at the very start is ignored, an event without data is not dispatched. Unlike
//! the standard, it preserves what a recording must not lose: comments, events with only an `id` or
//! a `retry`, and bytes instead of text.
//!
//! Only the unfinished line and its data are stored; content longer than the limit becomes
//! [`Payload::Clipped`]. The items do not depend on chunk boundaries.

mod line;

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::Payload;
use tapewright_schemas::slices::Front as _;
use tapewright_schemas::slices::Part as _;

use self::line::{Line, Lines};
use crate::assembly::HEAD_SIZE;

/// An item of an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// A comment line, without its colon.
    Comment(Bytes),
    /// A block of fields that ended with a blank line.
    Event(SseEvent),
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The last `id` field.
    pub id: Option<Bytes>,
    /// The last `event` field; empty or absent means `message`.
    pub event: Option<Bytes>,
    /// The last numeric `retry` field, in milliseconds.
    pub retry_ms: Option<u64>,
    /// Its data, lines joined by line feeds; `None` without a `data` field. A client ignores an
    /// event with empty data.
    pub data: Option<Payload>,
}

impl SseEvent {
    /// Whether an MCP client reads the data as a message.
    #[must_use]
    pub fn is_message(&self) -> bool {
        let of_message = match self.event.as_deref() {
            None | Some(b"") => true,
            Some(name) => name == b"message",
        };
        of_message && self.data.as_ref().is_some_and(|data| data.wire_len() > 0)
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Splits one event stream into items.
#[derive(Debug)]
pub struct SseFramer {
    lines: Lines,
    data: Data,
    event: SseEvent,
    items: VecDeque<SseItem>,
    limit: usize,
}

impl SseFramer {
    /// A framer at the start of a stream, which stores up to `limit_bytes` of data whole.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            // Add space for the name of the field.
            lines: Lines::new(limit_bytes.saturating_add(FIELD_ROOM)),
            data: Data::default(),
            event: SseEvent::default(),
            items: VecDeque::new(),
            limit: limit_bytes,
        }
    }

    /// Takes the next chunk of the stream.
    pub fn feed(&mut self, chunk: &Bytes) {
        let mut rest = chunk.clone();
        while let Some(line) = self.lines.next(&mut rest) {
            self.line(&line);
        }
    }

    /// The next item.
    pub fn poll(&mut self) -> Option<SseItem> {
        self.items.pop_front()
    }

    /// Whether the stream is between two events.
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.lines.is_between() && self.event.is_empty() && self.data.is_empty()
    }

    /// The stored length of the unfinished event, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.lines.held_bytes() + self.data.held_bytes()
    }

    /// Reduces the data of the unfinished event to its head.
    pub fn clip(&mut self) {
        self.lines.clip(HEAD_SIZE);
        self.data.clip();
    }

    /// The unfinished event at the end of the stream; a client ignores it.
    pub fn finish(&mut self) -> Option<SseEvent> {
        if let Some(line) = self.lines.finish() {
            self.line(&line);
        }
        let mut event = std::mem::take(&mut self.event);
        event.data = self.data.take();
        (!event.is_empty()).then_some(event)
    }

    fn line(&mut self, line: &Line) {
        let text = &line.kept;
        if line.len == 0 {
            let mut event = std::mem::take(&mut self.event);
            event.data = self.data.take();
            if !event.is_empty() {
                self.items.push_back(SseItem::Event(event));
            }
            return;
        }
        let colon = memchr::memchr(b':', text);
        if colon == Some(0) {
            self.items.push_back(SseItem::Comment(text.slice(1..)));
            return;
        }
        let name = text.part(..colon.unwrap_or(text.len()));
        let mut start = colon.map_or(text.len(), |colon| colon + 1);
        if text.get(start) == Some(&b' ') {
            start += 1;
        }
        let value = text.slice(start..);
        match name {
            b"data" => {
                let lost = line.len - text.len() as u64;
                self.data.push(value, lost, self.limit);
            }
            b"event" => self.event.event = Some(value),
            b"id" if !value.contains(&0) => self.event.id = Some(value),
            b"retry" => {
                if let Some(number) = number(&value) {
                    self.event.retry_ms = Some(number);
                }
            }
            _ => {}
        }
    }
}

/// More than the longest field name with its colon and space.
const FIELD_ROOM: usize = 16;

/// The value of a `retry` field: only ASCII digits.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The data of the unfinished event.
#[derive(Debug, Default)]
struct Data {
    // The first line is stored without a copy: most data has only one.
    first: Option<Bytes>,
    more: BytesMut,
    // The length including omitted bytes.
    len: u64,
    clipped: bool,
}

impl Data {
    fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    fn held_bytes(&self) -> usize {
        self.first.as_ref().map_or(0, Bytes::len) + self.more.len()
    }

    fn clip(&mut self) {
        if let Some(first) = self.first.take() {
            self.clipped = true;
            self.first = Some(Bytes::copy_from_slice(first.front(HEAD_SIZE)));
            self.more.truncate(HEAD_SIZE);
            self.more = BytesMut::from(&*self.more);
        }
    }

    /// Adds a line of which `lost` further bytes were omitted.
    fn push(&mut self, line: Bytes, lost: u64, limit: usize) {
        let separator = u64::from(self.first.is_some());
        self.len += line.len() as u64 + lost + separator;
        self.clipped |= lost > 0 || self.len > limit as u64;
        match &self.first {
            None => self.first = Some(line),
            Some(first) => {
                if self.more.is_empty() {
                    self.more.extend_from_slice(first);
                }
                if self.clipped {
                    let room = HEAD_SIZE.saturating_sub(self.more.len());
                    self.more.extend_from_slice(b"\n".front(room));
                    let room = room.saturating_sub(1);
                    self.more.extend_from_slice(line.front(room));
                } else {
                    self.more.extend_from_slice(b"\n");
                    self.more.extend_from_slice(&line);
                }
            }
        }
    }

    fn take(&mut self) -> Option<Payload> {
        let Self {
            first,
            more,
            len,
            clipped,
        } = std::mem::take(self);
        let first = first?;
        let joined = len > first.len() as u64 && !more.is_empty();
        let kept = if joined { more.freeze() } else { first };
        Some(if clipped {
            let head = kept.slice(..kept.len().min(HEAD_SIZE));
            Payload::Clipped { len, head }
        } else {
            Payload::Whole(kept)
        })
    }
}

#[cfg(test)]
mod tests;
