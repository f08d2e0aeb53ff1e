//! Splits event streams at the ends of events.

use bytes::{Bytes, BytesMut};
use tapewright_schemas::slices::Part as _;

/// Finds the ends of events, independent of chunk boundaries: after the blank line (HTML standard,
/// §9.2.6).
#[derive(Debug)]
pub(crate) struct Ends {
    // The next byte starts a line.
    begins: bool,
    after_return: bool,
}

impl Ends {
    /// At the start of a line, or in the middle of one.
    pub(crate) fn new(begins: bool) -> Self {
        Self {
            begins,
            after_return: false,
        }
    }

    /// How much of this piece belongs to an event that ends in it.
    pub(crate) fn find(&mut self, piece: &[u8]) -> Option<usize> {
        for (at, byte) in piece.iter().enumerate() {
            // The line feed of a line end that started with a carriage return.
            let is_second = *byte == b'\n' && std::mem::take(&mut self.after_return);
            if is_second {
                continue;
            }
            self.after_return = *byte == b'\r';
            let is_end = matches!(byte, b'\n' | b'\r');
            if is_end && std::mem::replace(&mut self.begins, is_end) {
                let follows = self.after_return && piece.get(at + 1) == Some(&b'\n');
                self.after_return &= !follows;
                return Some(at + 1 + usize::from(follows));
            }
            self.begins = is_end;
        }
        None
    }
}

/// Splits a stream into its events, byte for byte.
#[derive(Debug)]
pub(super) struct Cutter {
    buffer: BytesMut,
    looked: usize,
    ends: Ends,
    // The stream starts with the rest of an event whose beginning is gone.
    amid: bool,
}

/// One event, with the blank line that ends it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A whole event.
    Event(Bytes),
    /// The rest of an event whose beginning was already forwarded.
    Rest(Bytes),
}

impl Cutter {
    /// A cutter for events, or for the rest of one and then events.
    pub(super) fn new(amid: bool) -> Self {
        Self {
            buffer: BytesMut::new(),
            looked: 0,
            ends: Ends::new(!amid),
            amid,
        }
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.buffer.extend_from_slice(data);
    }

    /// The next complete event.
    pub(super) fn next(&mut self) -> Option<Piece> {
        let found = self.ends.find(self.buffer.part(self.looked..));
        let Some(end) = found else {
            self.looked = self.buffer.len();
            return None;
        };
        let event = self.buffer.split_to(self.looked + end).freeze();
        self.looked = 0;
        Some(if std::mem::take(&mut self.amid) {
            Piece::Rest(event)
        } else {
            Piece::Event(event)
        })
    }

    /// The length of the incomplete event.
    pub(super) fn held_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Takes the incomplete event; its remainder will be a `Rest`.
    pub(super) fn give_up(&mut self) -> Bytes {
        self.amid |= !self.buffer.is_empty();
        self.looked = 0;
        self.buffer.split().freeze()
    }
}

/// The last forwarded bytes: enough to know whether they ended an event.
#[derive(Debug, Default)]
pub(super) struct Tail([u8; 3]);

impl Tail {
    pub(super) fn push(&mut self, data: &[u8]) {
        let from = data.len().saturating_sub(3);
        for byte in data.iter().skip(from) {
            self.0.rotate_left(1);
            self.0[2] = *byte;
        }
    }

    /// Whether the next byte starts an event.
    pub(super) fn is_between(&self) -> bool {
        matches!(
            self.0,
            [0, 0, 0]
                | [_, b'\n', b'\n' | b'\r']
                | [_, b'\r', b'\r']
                | [b'\n' | b'\r', b'\r', b'\n']
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream in pieces of this size.
    fn cut(text: &str, size: usize) -> (Vec<String>, String) {
        let mut cutter = Cutter::new(false);
        let mut events = Vec::new();
        let shown = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        for piece in text.as_bytes().chunks(size) {
            cutter.push(piece);
            while let Some(piece) = cutter.next() {
                let Piece::Event(event) = piece else {
                    panic!("{piece:?}")
                };
                events.push(shown(event));
            }
        }
        (events, shown(cutter.give_up()))
    }

    #[test]
    fn events_end_with_a_blank_line_however_lines_end() {
        for (text, wanted, rest) in [
            ("data: a\n\ndata: b\n\n: c\n", 2, ": c\n"),
            ("data: a\r\n\r\ndata: b\r\rid: 1\n\n", 3, ""),
            ("data: a\r\n\r\n\r\n", 1, ""),
        ] {
            for size in 1..=text.len() {
                let (events, left) = cut(text, size);
                assert_eq!(events.concat() + &left, text);
                let whole = events.iter().filter(|one| one.trim() != "").count();
                assert_eq!(whole, wanted, "{events:?}");
                assert_eq!(left.trim(), rest.trim());
            }
        }
    }

    #[test]
    fn what_is_left_of_an_event_is_no_event() {
        let mut cutter = Cutter::new(true);
        cutter.push(b"ata: a\n\ndata: b\n\ndata: c");
        assert_eq!(cutter.next(), Some(Piece::Rest("ata: a\n\n".into())));
        assert_eq!(cutter.next(), Some(Piece::Event("data: b\n\n".into())));
        assert_eq!(cutter.next(), None);
        assert_eq!(cutter.give_up(), "data: c");
        cutter.push(b"c\n\ndata: d\n\n");
        assert_eq!(cutter.next(), Some(Piece::Rest("c\n\n".into())));
        assert_eq!(cutter.next(), Some(Piece::Event("data: d\n\n".into())));
    }

    #[test]
    fn a_tail_tells_where_events_end() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("id: 7{end}data: a{end}{end}");
            for size in 1..=text.len() {
                let mut tail = Tail::default();
                assert!(tail.is_between());
                let mut passed = 0;
                for piece in text.as_bytes().chunks(size) {
                    tail.push(piece);
                    passed += piece.len();
                    let over = text.trim_end().len() + end.len();
                    assert_eq!(tail.is_between(), passed > over, "{text:?} {passed}");
                }
            }
        }
    }
}
