//! Cutting bytes into lines: the read buffer of one direction.
//!
//! A message that is still under way stays contiguous in the buffer while the rest of it
//! arrives, so that it is neither copied together at the end nor scanned twice.

use bytes::Bytes;
use memchr::{memchr, memrchr};
use tapewright_schemas::event::{LineEnd, Payload};

/// How much room a read finds, in bytes: one pipe's worth.
pub(crate) const READ_SIZE: usize = 64 * 1024;

/// How much of a clipped message is kept, in bytes.
pub(crate) const HEAD_SIZE: usize = 64 * 1024;

/// The unread and unfinished bytes of one direction.
///
/// Invariant: `scanned <= buffer.len()`, and no line feed stands before `scanned`.
#[derive(Debug)]
pub(crate) struct Assembly {
    buffer: Vec<u8>,
    scanned: usize,
    // A message that outgrew the limit: what is left of it in memory.
    over: Option<Over>,
    limit: usize,
}

/// What is kept of a message longer than the limit.
#[derive(Debug)]
struct Over {
    len: u64,
    head: Bytes,
    last: u8,
}

impl Over {
    fn start(begin: &[u8], limit: usize) -> Self {
        let head = begin.get(..HEAD_SIZE.min(limit)).unwrap_or(begin);
        let mut over = Self { len: 0, head: Bytes::copy_from_slice(head), last: 0 };
        over.absorb(begin);
        over
    }

    fn absorb(&mut self, more: &[u8]) {
        self.len += more.len() as u64;
        self.last = more.last().copied().unwrap_or(self.last);
    }

    fn finish(self, ended: bool) -> (Payload, LineEnd) {
        let crlf = ended && self.last == b'\r';
        let payload = Payload::Clipped { len: self.len - u64::from(crlf), head: self.head };
        let end = match (ended, crlf) {
            (false, _) => LineEnd::None,
            (true, true) => LineEnd::CrLf,
            (true, false) => LineEnd::Lf,
        };
        (payload, end)
    }
}

/// What the buffer holds next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Whole lines, delimiters included.
    Lines(Bytes),
    /// The end of a message longer than the limit, with its bytes that were still in the
    /// buffer.
    Clipped(Payload, LineEnd, Bytes),
}

impl Assembly {
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), scanned: 0, over: None, limit: limit.max(1) }
    }

    /// The buffer, with room for one read after its content.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        let free = self.buffer.capacity() - self.buffer.len();
        if free < READ_SIZE / 2 {
            self.buffer.reserve(READ_SIZE);
        }
        &mut self.buffer
    }

    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// The bytes from `start` on.
    pub(crate) fn from(&self, start: usize) -> &[u8] {
        self.buffer.get(start..).unwrap_or_default()
    }

    /// How long the unfinished message is by now, in bytes.
    pub(crate) fn unfinished(&self) -> u64 {
        self.over.as_ref().map_or(0, |over| over.len) + self.buffer.len() as u64
    }

    /// Takes the whole lines that stand at the front of the buffer.
    pub(crate) fn take(&mut self) -> Option<Found> {
        if let Some(mut over) = self.over.take() {
            let Some(end) = memchr(b'\n', &self.buffer) else {
                self.over = Some(over);
                return None;
            };
            over.absorb(self.buffer.get(..end).unwrap_or_default());
            let rest = Bytes::copy_from_slice(self.buffer.get(..=end).unwrap_or_default());
            self.buffer.drain(..=end);
            self.scanned = 0;
            let (payload, line_end) = over.finish(true);
            return Some(Found::Clipped(payload, line_end, rest));
        }
        match memrchr(b'\n', self.from(self.scanned)) {
            Some(last) => Some(Found::Lines(self.split_front(self.scanned + last + 1))),
            None => {
                self.scanned = self.buffer.len();
                None
            }
        }
    }

    /// Gives up the bytes of an unfinished message that has outgrown the limit. Only
    /// called when all of them have been passed on.
    pub(crate) fn shed(&mut self) {
        if let Some(over) = &mut self.over {
            over.absorb(&self.buffer);
        } else if self.buffer.len() > self.limit {
            self.over = Some(Over::start(&self.buffer, self.limit));
            // The room of the largest message is not kept for the rest of the session.
            self.buffer = Vec::new();
        } else {
            return;
        }
        self.buffer.clear();
        self.scanned = 0;
    }

    /// Whether [`shed`](Self::shed) would give bytes up.
    pub(crate) fn outgrown(&self) -> bool {
        self.over.is_some() || self.buffer.len() > self.limit
    }

    /// The unfinished message at the end of the stream.
    pub(crate) fn finish(&mut self) -> Option<(Payload, LineEnd)> {
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

    /// Cuts the first `count` bytes off. A large front takes the buffer with it, a small
    /// one is copied out of it, so that what is queued never pins much more memory than
    /// it needs.
    fn split_front(&mut self, count: usize) -> Bytes {
        if count < self.buffer.capacity() / 2 {
            let front = Bytes::copy_from_slice(self.buffer.get(..count).unwrap_or_default());
            self.buffer.drain(..count);
            self.scanned = self.buffer.len();
            return front;
        }
        let mut rest = Vec::with_capacity(READ_SIZE.max(self.buffer.len() - count));
        rest.extend_from_slice(self.from(count));
        self.scanned = rest.len();
        let mut front = Bytes::from(std::mem::replace(&mut self.buffer, rest));
        front.truncate(count);
        front
    }
}

/// Takes the next line off the front of `lines`, which holds whole lines only.
pub(crate) fn next_line(lines: &mut Bytes, limit: usize) -> Option<(Bytes, Payload, LineEnd)> {
    let end = memchr(b'\n', lines)?;
    let whole = lines.split_to(end + 1);
    let (len, line_end) = match whole.get(end.wrapping_sub(1)) {
        Some(b'\r') => (end - 1, LineEnd::CrLf),
        _ => (end, LineEnd::Lf),
    };
    Some((whole.clone(), clip(whole.slice(..len), limit), line_end))
}

fn clip(message: Bytes, limit: usize) -> Payload {
    if message.len() <= limit {
        return Payload::Whole(message);
    }
    // A copy, so that the head does not pin the whole message.
    let head = message.get(..HEAD_SIZE.min(limit)).unwrap_or(&message);
    Payload::Clipped { len: message.len() as u64, head: Bytes::copy_from_slice(head) }
}
