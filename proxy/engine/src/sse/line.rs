//! Lines that end in LF, CRLF or CR.

use bytes::{Buf as _, Bytes};
use memchr::memchr2;
use tapewright_schemas::slices::Front as _;

/// One line, without its end.
#[derive(Debug)]
pub(super) struct Line {
    /// Its bytes, up to the limit.
    pub(super) kept: Bytes,
    /// Its length.
    pub(super) len: u64,
}

/// Splits chunks into lines; stores the unfinished one.
#[derive(Debug)]
pub(super) struct Lines {
    held: Vec<u8>,
    len: u64,
    limit: usize,
    // The last byte was CR: a line feed after it belongs to the same line end.
    after_cr: bool,
    first: bool,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            held: Vec::new(),
            len: 0,
            limit,
            after_cr: false,
            first: true,
        }
    }

    /// The next whole line of `rest`; an unfinished line is stored.
    pub(super) fn next(&mut self, rest: &mut Bytes) -> Option<Line> {
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            if rest.first() == Some(&b'\n') {
                rest.advance(1);
            }
        }
        let Some(end) = memchr2(b'\n', b'\r', rest) else {
            self.hold(rest);
            rest.clear();
            return None;
        };
        let text = rest.split_to(end);
        self.after_cr = rest.first() == Some(&b'\r');
        rest.advance(1);
        if self.len > 0 {
            self.hold(&text);
            return Some(self.held());
        }
        Some(self.line(text.slice(..text.len().min(self.limit)), text.len() as u64))
    }

    /// Whether there is no unfinished line.
    pub(super) fn is_between(&self) -> bool {
        self.len == 0
    }

    /// The stored length of the unfinished line, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Stores at most `limit` bytes of the unfinished line.
    pub(super) fn clip(&mut self, limit: usize) {
        if self.held.len() > limit {
            self.held.truncate(limit);
            self.held.shrink_to_fit();
        }
    }

    /// The last line if it has no line end.
    pub(super) fn finish(&mut self) -> Option<Line> {
        (self.len > 0).then(|| self.held())
    }

    fn hold(&mut self, text: &[u8]) {
        // Add nothing after omitted bytes.
        let whole = self.held.len() as u64 == self.len;
        let room = if whole {
            self.limit.saturating_sub(self.held.len())
        } else {
            0
        };
        self.held.extend_from_slice(text.front(room));
        self.len += text.len() as u64;
    }

    fn held(&mut self) -> Line {
        let kept = Bytes::from(std::mem::take(&mut self.held));
        let len = std::mem::take(&mut self.len);
        self.line(kept, len)
    }

    fn line(&mut self, mut kept: Bytes, mut len: u64) -> Line {
        if std::mem::take(&mut self.first) && kept.starts_with(MARK) {
            kept.advance(MARK.len());
            len -= MARK.len() as u64;
        }
        Line { kept, len }
    }
}
