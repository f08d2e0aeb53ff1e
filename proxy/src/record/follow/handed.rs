//! Hands what the writer knows about its lines to the reader of the tape, which need not parse
//! them then.
//!
//! The reader still takes every message from the tape. Facts are only about lines that are in the
//! file, each with its position there; a line without facts is parsed, so that some may be missing.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tapewright_schemas::tape::LineFacts;

/// Facts about lines, with the position of each line on the tape, in order.
pub(crate) type Facts = (u64, LineFacts);

/// Facts that wait for the reader.
#[derive(Debug, Default)]
pub(crate) struct Handed(Mutex<VecDeque<Facts>>);

/// The maximum number of facts that wait: of so many short lines is the reader behind before the
/// writer waits for it. All of them take some 5 MB.
const MOST: usize = 16_384;

/// The number of facts that the reader takes at a time.
const SOME: usize = 256;

impl Handed {
    /// Adds facts about lines that are written now, as far as there is room.
    pub(super) fn put(&self, facts: &mut Vec<Facts>) {
        let mut waiting = self.lock();
        let room = MOST.saturating_sub(waiting.len());
        facts.truncate(room);
        waiting.extend(facts.drain(..));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Facts>> {
        // A panic in between leaves whole facts.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The facts that the reader has taken.
#[derive(Debug, Default)]
pub(super) struct Known(VecDeque<Facts>);

impl Known {
    /// The facts about the line at this position, which is behind all positions before.
    pub(super) fn at(&mut self, position: u64, handed: &Handed) -> Option<LineFacts> {
        let Self(taken) = self;
        loop {
            if taken.is_empty() {
                let mut waiting = handed.lock();
                let count = waiting.len().min(SOME);
                taken.extend(waiting.drain(..count));
            }
            let (first, _) = taken.front()?;
            if *first > position {
                return None;
            }
            let (first, facts) = taken.pop_front()?;
            if first == position {
                return Some(facts);
            }
        }
    }
}
