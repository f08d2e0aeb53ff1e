//! Splits bytes into lines: the read buffer of one direction.
//!
//! An unfinished message stays contiguous in the buffer while the rest of it arrives, so that it is
//! neither copied at the end nor scanned twice.

use bytes::Bytes;
use memchr::{memchr, memrchr};
use tapewright_schemas::event::{LineEnd, Payload};
use tapewright_schemas::slices::Part as _;

/// The space for one read, in bytes: the capacity of a pipe.
pub(crate) const READ_SIZE: usize = 64 * 1024;

/// The stored part of a clipped message, in bytes.
pub(crate) const HEAD_SIZE: usize = 64 * 1024;

/// The unread and unfinished bytes of one direction.
///
/// Offsets are relative to the front of the buffer until the next [`compact`](Self::compact).
/// Invariant: `start <= scanned <= buffer.len()`, and there is no line feed between `start` and
/// `scanned`.
#[derive(Debug)]
pub(crate) struct Assembly {
    buffer: Vec<u8>,
    // The lines before this were taken, but may still have to be forwarded.
    start: usize,
    scanned: usize,
    // The stored part of a message that exceeded the limit.
    over: Option<OversizedMessage>,
    limit: usize,
}

/// The stored part of a message that exceeds the limit.
#[derive(Debug)]
struct OversizedMessage {
    len: u64,
    head: Bytes,
    last: u8,
}

impl OversizedMessage {
    fn start(begin: &[u8], limit: usize) -> Self {
        let head = begin.part(..begin.len().min(HEAD_SIZE).min(limit));
        let mut over = Self {
            len: 0,
            head: Bytes::copy_from_slice(head),
            last: 0,
        };
        over.absorb(begin);
        over
    }

    fn absorb(&mut self, more: &[u8]) {
        self.len += more.len() as u64;
        self.last = more.last().copied().unwrap_or(self.last);
    }

    fn finish(self, ended: bool) -> (Payload, LineEnd) {
        let crlf = ended && self.last == b'\r';
        let payload = Payload::Clipped {
            len: self.len - u64::from(crlf),
            head: self.head,
        };
        let end = match (ended, crlf) {
            (false, _) => LineEnd::None,
            (true, true) => LineEnd::CrLf,
            (true, false) => LineEnd::Lf,
        };
        (payload, end)
    }
}

/// The next content of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Whole lines, including delimiters. A large block takes the buffer with it, and a new buffer
    /// starts with what follows; `old` is the content of the old one.
    Lines { lines: Bytes, old: Option<Bytes> },
    /// The end of a message that exceeds the limit, with its bytes that were still in the buffer.
    Clipped(Payload, LineEnd, Bytes),
}

impl Assembly {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            over: None,
            limit: limit.max(1),
        }
    }

    /// The buffer, with space for one read after its content.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        let free = self.buffer.capacity() - self.buffer.len();
        if free < READ_SIZE / 2 {
            self.buffer.reserve(READ_SIZE);
        }
        &mut self.buffer
    }

    /// Where the buffer ends.
    pub(crate) fn end(&self) -> usize {
        self.buffer.len()
    }

    /// Where the unfinished message begins.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// The bytes between two offsets.
    pub(crate) fn between(&self, from: usize, to: usize) -> &[u8] {
        self.buffer.part(from..to)
    }

    /// The length of the unfinished message so far, in bytes.
    pub(crate) fn unfinished(&self) -> u64 {
        let over = self.over.as_ref().map_or(0, |over| over.len);
        over + (self.buffer.len() - self.start) as u64
    }

    /// Frees the space of taken bytes, and returns by how much all offsets have moved.
    pub(crate) fn compact(&mut self) -> usize {
        let taken = std::mem::take(&mut self.start);
        if taken > 0 {
            self.buffer.drain(..taken);
            self.scanned -= taken;
        }
        taken
    }

    /// Takes the next whole lines.
    pub(crate) fn take(&mut self) -> Option<Found> {
        if let Some(mut over) = self.over.take() {
            let Some(length) = memchr(b'\n', self.between(self.start, self.end())) else {
                self.over = Some(over);
                return None;
            };
            let end = self.start + length;
            over.absorb(self.between(self.start, end));
            let rest = Bytes::copy_from_slice(self.between(self.start, end + 1));
            self.start = end + 1;
            self.scanned = self.start;
            let (payload, line_end) = over.finish(true);
            return Some(Found::Clipped(payload, line_end, rest));
        }
        let last = memrchr(b'\n', self.between(self.scanned, self.end()));
        let end = last.map(|last| self.scanned + last + 1);
        self.scanned = self.buffer.len();
        end.map(|end| self.take_until(end))
    }

    /// Drops the bytes of an unfinished message that exceeds the limit. Only called after all of
    /// them were forwarded.
    pub(crate) fn shed(&mut self) {
        let message = self.buffer.part(self.start..);
        if let Some(over) = &mut self.over {
            over.absorb(message);
            self.buffer.clear();
        } else {
            self.over = Some(OversizedMessage::start(message, self.limit));
            // Don't keep the space of the largest message for the rest of the session.
            self.buffer = Vec::new();
        }
        self.start = 0;
        self.scanned = 0;
    }

    /// Whether the unfinished message is too long to be stored.
    pub(crate) fn outgrown(&self) -> bool {
        self.over.is_some() || self.buffer.len() - self.start > self.limit
    }

    /// The unfinished message at the end of the stream.
    pub(crate) fn finish(&mut self) -> Option<(Payload, LineEnd)> {
        self.compact();
        let rest = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        if let Some(mut over) = self.over.take() {
            over.absorb(&rest);
            return Some(over.finish(false));
        }
        if rest.is_empty() {
            return None;
        }
        Some((clip(Bytes::from(rest), self.limit), LineEnd::None))
    }

    /// Takes the lines up to `end`. A large block takes the buffer with it; a small one is copied,
    /// so that queued lines never pin much more memory than they need.
    fn take_until(&mut self, end: usize) -> Found {
        if end - self.start < self.buffer.capacity() / 2 {
            let lines = Bytes::copy_from_slice(self.between(self.start, end));
            self.start = end;
            self.scanned = self.buffer.len();
            return Found::Lines { lines, old: None };
        }
        let mut rest = Vec::with_capacity(READ_SIZE.max(self.buffer.len() - end));
        rest.extend_from_slice(self.between(end, self.end()));
        self.scanned = rest.len();
        let old = Bytes::from(std::mem::replace(&mut self.buffer, rest));
        let lines = old.slice(std::mem::take(&mut self.start)..end);
        Found::Lines {
            lines,
            old: Some(old),
        }
    }
}

/// Takes the next line off the front of `lines`, which holds only whole lines, including its end.
pub(crate) fn next_line(lines: &mut Bytes) -> Option<Bytes> {
    let end = memchr(b'\n', lines)?;
    Some(lines.split_to(end + 1))
}

/// The message of a whole line, and how the line ended.
///
/// Takes the line by value: a second handle to its buffer would cost two more updates of a counter
/// that the recorder's thread updates too.
pub(crate) fn message_of(mut line: Bytes, limit: usize) -> (Payload, LineEnd) {
    let (len, end) = match *line {
        [.., b'\r', b'\n'] => (line.len() - 2, LineEnd::CrLf),
        [.., b'\n'] => (line.len() - 1, LineEnd::Lf),
        _ => (line.len(), LineEnd::None),
    };
    line.truncate(len);
    (clip(line, limit), end)
}

fn clip(message: Bytes, limit: usize) -> Payload {
    if message.len() <= limit {
        return Payload::Whole(message);
    }
    // A copy, so that the head does not pin the whole message.
    let head = message.part(..HEAD_SIZE.min(limit));
    Payload::Clipped {
        len: message.len() as u64,
        head: Bytes::copy_from_slice(head),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An off-by-one error here would silently drop traffic.
    #[test]
    #[should_panic(expected = "a bound of our own lies outside")]
    #[cfg(debug_assertions)]
    fn a_wrong_bound_is_loud() {
        let mut assembly = Assembly::new(1_024);
        assembly.space().extend_from_slice(b"{}\n");
        let _ = assembly.between(0, assembly.end() + 1);
    }

    #[test]
    fn a_clipped_message_keeps_its_head_whatever_the_limit() {
        for limit in [1, 3, HEAD_SIZE, HEAD_SIZE + 1] {
            let message = Bytes::from(vec![b'x'; limit + 1]);
            let Payload::Clipped { len, head } = clip(message, limit) else {
                panic!("{limit}");
            };
            assert_eq!((len, head.len()), (limit as u64 + 1, limit.min(HEAD_SIZE)));
        }
    }
}
