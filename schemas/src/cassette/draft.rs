//! An exchange that is still incomplete.

use super::places::KnownParts;
use super::record::{CLOSE, NO_CHAIN, Rest, STREAM_CLOSE, STREAM_OPEN};

/// A request that awaits its response, and other parts of its exchange.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) stream: Vec<u8>,
    pub(super) extra: Vec<u8>,
    /// Its records on the side spool.
    pub(super) chain: u64,
    pub(super) parts: KnownParts,
}

impl Draft {
    /// Creates one from its request.
    pub(super) fn new(head: Vec<u8>) -> Self {
        Self {
            head,
            tail: Vec::new(),
            stream: Vec::new(),
            extra: Vec::new(),
            chain: NO_CHAIN,
            parts: KnownParts::default(),
        }
    }

    /// Its size in memory, in bytes.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.tail.len() + self.stream.len() + self.extra.len()
    }

    /// Its parts, if it consists only of a request and its answer.
    pub(super) fn known_parts(&self) -> KnownParts {
        if self.stream.is_empty() {
            self.parts
        } else {
            KnownParts::default()
        }
    }

    /// The text after the head of an exchange with this ending.
    pub(super) fn behind_head<'a>(&'a self, rest: &Rest<'a>) -> [&'a [u8]; 10] {
        let [first, second, third] = rest.tail;
        // The first entry begins with a comma that an array must not have.
        let (before, entries, after) = match self.stream.split_first() {
            Some((_, entries)) => (STREAM_OPEN, entries, STREAM_CLOSE),
            None => (&b""[..], &b""[..], &b""[..]),
        };
        [
            &self.tail,
            first,
            second,
            third,
            before,
            entries,
            after,
            &self.extra,
            rest.end,
            CLOSE,
        ]
    }
}
