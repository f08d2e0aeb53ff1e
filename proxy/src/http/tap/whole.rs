//! A body that is read in one piece.

use bytes::{Bytes, BytesMut};
use tapewright_schemas::envelope::Outline;
use tapewright_schemas::event::Payload;
use tapewright_schemas::json;
use tapewright_schemas::slices::Front as _;

use super::budget::Share;

/// Collects a body. Frames are stored without copying until the body is complete.
#[derive(Debug)]
pub(super) struct Whole {
    frames: Vec<Bytes>,
    len: u64,
    limit: usize,
    share: Share,
    handed_out: bool,
}

/// The stored length of a body that is too long, in bytes.
const HEAD_SIZE: usize = 64 * 1024;

impl Whole {
    pub(super) fn new(limit: usize, share: Share) -> Self {
        Self {
            frames: Vec::new(),
            len: 0,
            limit,
            share,
            handed_out: false,
        }
    }

    /// Adds the next bytes. When they complete a JSON text it is handed out, so that it is recorded
    /// before its last byte is forwarded, independent of when the body ends; with its outline, if
    /// that was found on the way.
    pub(super) fn push(&mut self, bytes: &Bytes) -> Option<(Payload, Option<Outline>)> {
        let is_behind = self.handed_out && self.len == 0;
        if bytes.is_empty() || (is_behind && bytes.trim_ascii().is_empty()) {
            return None;
        }
        if self.len == 0 && bytes.len() <= self.limit && may_end(bytes) {
            let outline = Outline::of(bytes);
            if outline.is_some() || json::is_valid(bytes) {
                // Nothing needs to be held.
                self.handed_out = true;
                return Some((Payload::Whole(own(bytes.clone())), outline));
            }
        }
        let before = self.len;
        self.len += bytes.len() as u64;
        let wanted = usize::try_from(self.len).unwrap_or(usize::MAX);
        if before <= self.limit as u64 && wanted <= self.limit && !self.share.resize(wanted) {
            // All taps have used up the memory limit: this one only stores its head.
            self.limit = usize::try_from(before).unwrap_or(usize::MAX).min(HEAD_SIZE);
        }
        if self.len <= self.limit as u64 {
            self.frames.push(bytes.clone());
        } else if before <= self.limit as u64 {
            self.keep_head(bytes);
        }
        if !self.may_be_complete() {
            return None;
        }
        let text = self.joined();
        if !json::is_valid(&text) {
            return None;
        }
        self.begin_anew();
        Some((Payload::Whole(own(text)), None))
    }

    /// Stores the head of the body so far and returns the rest of its memory. Frames are not
    /// joined: a body at the limit would need twice its length.
    fn keep_head(&mut self, last: &Bytes) {
        let room = HEAD_SIZE.min(self.limit);
        let mut head = BytesMut::with_capacity(room);
        for frame in self.frames.iter().chain([last]) {
            let more = room - head.len();
            head.extend_from_slice(frame.front(more));
        }
        self.frames = vec![head.freeze()];
        self.share.resize(room);
    }

    /// The rest at the end of the body.
    pub(super) fn finish(&mut self) -> Option<Payload> {
        if self.len == 0 {
            return None;
        }
        let (len, kept) = (self.len, self.joined());
        self.begin_anew();
        Some(if len > self.limit as u64 {
            Payload::Clipped { len, head: kept }
        } else {
            Payload::Whole(own(kept))
        })
    }

    /// Drops what was handed out; what follows is a new piece.
    fn begin_anew(&mut self) {
        self.frames.clear();
        self.len = 0;
        self.handed_out = true;
        self.share.resize(0);
    }

    /// Whether a check is worthwhile: there are several frames, of which the first was checked
    /// alone, and few enough that repeated checks are cheap.
    fn may_be_complete(&self) -> bool {
        const LOOKS: usize = 64;
        self.len <= self.limit as u64
            && (2..=LOOKS).contains(&self.frames.len())
            && self.frames.last().is_some_and(|frame| may_end(frame))
    }

    fn joined(&mut self) -> Bytes {
        match self.frames.as_slice() {
            [] => Bytes::new(),
            [one] => one.clone(),
            many => {
                let joined = Bytes::from(many.concat());
                self.frames = vec![joined.clone()];
                joined
            }
        }
    }
}

/// Whether an object or array may end here.
fn may_end(text: &[u8]) -> bool {
    matches!(text.trim_ascii_end().last(), Some(b'}' | b']'))
}

/// A copy of a short text. The original is part of the buffer that its connection reads into: if it
/// were held until it is recorded, the connection would need a new buffer for every message.
fn own(text: Bytes) -> Bytes {
    if text.len() > SHORT {
        return text;
    }
    Bytes::copy_from_slice(&text)
}

/// The maximum length at which a copy is cheaper than another buffer.
const SHORT: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tapewright_schemas::envelope::Envelope;

    use super::super::Budget;
    use super::*;

    fn reader(limit: usize) -> Whole {
        Whole::new(limit, Share::new(Arc::new(Budget::new(1 << 20))))
    }

    fn whole(text: &'static [u8]) -> Payload {
        Payload::Whole(Bytes::from_static(text))
    }

    fn push(reader: &mut Whole, text: &'static [u8]) -> Option<Payload> {
        let (payload, outline) = reader.push(&Bytes::from_static(text))?;
        if let Some(outline) = outline {
            assert_eq!(outline.envelope(text), Envelope::of_json(text));
        }
        Some(payload)
    }

    #[test]
    fn a_text_is_handed_out_before_the_end_of_the_body() {
        let mut reader = reader(100);
        assert_eq!(push(&mut reader, b"{\"a\":"), None);
        assert_eq!(push(&mut reader, b"{}"), None);
        assert_eq!(push(&mut reader, b"}"), Some(whole(b"{\"a\":{}}")));
        assert_eq!(push(&mut reader, b" \r\n"), None);
        assert_eq!(reader.finish(), None);
    }

    #[test]
    fn what_follows_a_text_is_not_lost() {
        let mut reader = reader(10);
        assert_eq!(push(&mut reader, b"[1]"), Some(whole(b"[1]")));
        assert_eq!(push(&mut reader, b" {}"), Some(whole(b" {}")));
        assert_eq!(push(&mut reader, b"more"), None);
        assert_eq!(reader.finish(), Some(whole(b"more")));
        assert_eq!(reader.finish(), None);
        assert_eq!(push(&mut reader, b"more than ten"), None);
        let clipped = Payload::Clipped {
            len: 13,
            head: Bytes::from_static(b"more than "),
        };
        assert_eq!(reader.finish(), Some(clipped));
    }

    #[test]
    fn a_body_of_white_space_is_a_body() {
        let mut reader = reader(10);
        assert_eq!(push(&mut reader, b" \n"), None);
        assert_eq!(reader.finish(), Some(whole(b" \n")));
    }

    #[test]
    fn short_texts_leave_the_buffer_that_they_came_in_and_long_ones_are_not_copied() {
        for (len, copied) in [(SHORT, true), (SHORT + 1, false)] {
            let text = Bytes::from(format!("[{}]", " ".repeat(len - 2)));
            let Some((Payload::Whole(kept), _)) = reader(1 << 20).push(&text) else {
                panic!("it is whole");
            };
            assert_eq!(kept, text);
            assert_eq!(kept.as_ptr() != text.as_ptr(), copied);
        }
    }
}
