//! One stream to a client: its queued events, and how far they were read.

use std::collections::VecDeque;
use std::task::Waker;
use tapewright_schemas::conversation::IdKey;

use bytes::Bytes;

use super::delivery::AbnormalEnd;
use crate::bridge::ours;

/// Identifies one reader of a stream: a connection that carries it.
pub(crate) type Reader = u64;

/// One stream: the answer to a POST, or the stream of a GET.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "six facts that hold in any combination"
)]
pub(crate) struct Stream {
    // Events from number `first`; `bytes` is their total length.
    log: VecDeque<Bytes>,
    bytes: usize,
    first: u64,
    // The next event for the reader.
    next: u64,
    reader: Option<Reader>,
    waker: Option<Waker>,
    /// Its events have ids, so that it can be resumed.
    pub(crate) numbered: bool,
    /// Its reader only accepts the answer.
    pub(crate) quiet: bool,
    /// Its request asked for log messages (2026-07-28).
    pub(crate) logs: bool,
    /// It can never be read again.
    pub(crate) void: bool,
    /// Keys of the unanswered requests, and the source text of their ids.
    pub(crate) owed: Vec<(IdKey, Vec<u8>)>,
    /// There are no more events.
    pub(crate) ended: bool,
    /// The response that carries it has started.
    pub(crate) begun: bool,
    /// How it ends, if not in the normal way.
    pub(crate) fate: Option<AbnormalEnd>,
}

/// The result for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An event and its number, from 1.
    Event(u64, Bytes),
    /// The connection is cut, after these bytes of an answer.
    Cut(Bytes),
    /// No more events, or another reader took over.
    End,
    /// No event yet.
    Nothing,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self {
            first: 1,
            next: 1,
            ..Self::default()
        }
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, line: Bytes) {
        self.bytes += line.len();
        self.log.push_back(line);
        self.wake();
    }

    /// Answers all unanswered requests in the server's place, calling `note` with each answer
    /// first.
    pub(crate) fn answer_owed(&mut self, why: &str, mut note: impl FnMut(&Bytes)) {
        for (_, id) in std::mem::take(&mut self.owed) {
            let line = ours::error(&id, why, None);
            note(&line);
            self.push(line);
        }
    }

    /// Ends the stream.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.wake();
    }

    /// Attaches a new reader in place of the old one. Events that were read are not repeated.
    pub(crate) fn attach(&mut self, reader: Reader) {
        self.reader = Some(reader);
        self.wake();
    }

    /// Detaches a reader; returns false if another one had taken over.
    pub(crate) fn detach(&mut self, reader: Reader) -> bool {
        let own = self.reader == Some(reader);
        if own {
            self.reader = None;
            self.waker = None;
        }
        own
    }

    /// Whether it has a reader.
    pub(crate) fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    /// Rewinds, so that the next event is the one after number `after`; returns how many events in
    /// between are lost.
    pub(crate) fn rewind(&mut self, after: u64) -> u64 {
        let last = self.first + self.log.len() as u64;
        let wanted = after.saturating_add(1).min(last);
        self.next = wanted.max(self.first);
        self.next - wanted
    }

    /// The next event for a reader; `waker` is woken when there is one.
    pub(crate) fn take(&mut self, reader: Reader, waker: &Waker) -> Next {
        if self.reader != Some(reader) {
            return Next::End;
        }
        let at = usize::try_from(self.next - self.first).unwrap_or(usize::MAX);
        if let Some(line) = self.log.get(at).cloned() {
            let number = self.next;
            self.next += 1;
            while !self.numbered && self.first < self.next && self.pop().is_some() {}
            return Next::Event(number, line);
        }
        if let Some(AbnormalEnd::Cut(part)) = &self.fate {
            return Next::Cut(part.clone().unwrap_or_default());
        }
        if self.ended {
            return Next::End;
        }
        self.watch(waker);
        Next::Nothing
    }

    /// The answer, if it is all there is to read: one event, and the end.
    pub(crate) fn sole(&self) -> Option<&Bytes> {
        let ends_well = self.ended && self.fate.is_none();
        let sole = ends_well && self.log.len() == 1 && self.next == self.first;
        self.log.front().filter(|_| sole)
    }

    /// How it ends, if that is all there is to read.
    pub(crate) fn fate(&self) -> Option<&AbnormalEnd> {
        let heard = self.next == self.first + self.log.len() as u64;
        self.fate.as_ref().filter(|_| heard)
    }

    /// Whether there is an event or the end to read.
    pub(crate) fn is_ready(&self) -> bool {
        self.ended || self.next < self.first + self.log.len() as u64
    }

    /// Sets the waker for the next event.
    pub(crate) fn watch(&mut self, waker: &Waker) {
        self.waker = Some(waker.clone());
    }

    /// The number of unread bytes.
    pub(crate) fn unheard_bytes(&self) -> usize {
        let heard = usize::try_from(self.next - self.first).unwrap_or(usize::MAX);
        self.log.iter().skip(heard).map(Bytes::len).sum()
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Events in memory.
    pub(crate) fn events(&self) -> usize {
        self.log.len()
    }

    /// Drops the oldest event, unless it is still to be read by the current reader. Returns whether
    /// the dropped event was undelivered, or `None` if none was dropped.
    pub(crate) fn give_up_oldest(&mut self) -> Option<bool> {
        let heard = self.next > self.first;
        if !heard && self.is_read() {
            return None;
        }
        self.pop()?;
        self.next = self.next.max(self.first);
        Some(!heard)
    }

    /// Drops all events; returns how many were undelivered.
    pub(crate) fn clear(&mut self) -> u64 {
        let unheard = self.first + self.log.len() as u64 - self.next;
        while self.pop().is_some() {}
        self.next = self.first;
        unheard
    }

    fn pop(&mut self) -> Option<()> {
        let line = self.log.pop_front()?;
        self.bytes -= line.len();
        self.first += 1;
        Some(())
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
