//! The displayed content read so far, and how it ended.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::Counts;
use tapewright_schemas::tape::Ending;

use super::fold::Fold;
use super::tape::{Document, Tape};
use super::{Ended, Words};
use crate::clock::wall;

/// The displayed content read so far.
#[derive(Debug, Default)]
pub(super) struct State {
    // The number of viewers, and until when reading continues after a request.
    pub(super) looking: usize,
    pub(super) asked_until: Offset,
    pub(super) closed: bool,
    // Whether everything must be read, even if the recorder has to wait.
    pub(super) reads_all: bool,
    pub(super) tapes: Vec<Tape>,
    pub(super) known: HashSet<PathBuf>,
    pub(super) document: Option<(Arc<Document>, Fold, bool)>,
    pub(super) problem: Option<String>,
}

impl State {
    /// The folds, and the current time of each.
    pub(super) fn folds<'s>(
        &'s self,
        words: &'s dyn Words,
    ) -> impl Iterator<Item = (&'s Fold, Offset)> {
        let document = self.document.iter().map(|(_, fold, _)| (fold, fold.last()));
        let tapes = self.tapes.iter().map(|tape| {
            let last = tape.fold.last();
            // A request that is pending where reading is behind may already be answered.
            let now = if tape.is_over() || tape.behind().1 > 0 {
                last
            } else {
                last.max(age(tape, words))
            };
            (&tape.fold, now)
        });
        document.chain(tapes)
    }

    /// How much of the tapes is left unread for the recorder's sake: events, as far as known, and
    /// bytes.
    pub(super) fn behind(&self) -> (u64, u64) {
        let behind = self.tapes.iter().map(Tape::behind);
        behind.fold((0, 0), |(events, bytes), more| {
            (events + more.0, bytes + more.1)
        })
    }

    /// How it ended, as text; null while it continues.
    pub(super) fn ended(&self, counts: Counts, words: &dyn Words) -> Value {
        if let Some(problem) = &self.problem {
            return json!({"text": problem, "incomplete": true});
        }
        let mut parts = Vec::new();
        if let Some((document, fold, true)) = &self.document {
            parts.push(Ended {
                name: None,
                ending: &document.ending,
                timed: document.timed,
                last: fold.last(),
                problem: None,
            });
        }
        let cut = &Ending::CutShort {
            last_seq: 0,
            torn: false,
        };
        for tape in &self.tapes {
            if !tape.is_over() {
                return Value::Null;
            }
            parts.push(Ended {
                name: Some(&*tape.part).filter(|part| !part.is_empty()),
                ending: tape.ending.as_ref().unwrap_or(cut),
                timed: true,
                last: tape.fold.last(),
                problem: tape.problem.as_deref(),
            });
        }
        if parts.is_empty() {
            return Value::Null;
        }
        words.end(&parts, counts)
    }
}

/// The current time on a tape that is still written.
fn age(tape: &Tape, words: &dyn Words) -> Offset {
    let now = wall()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or_default();
    match words.began_us(&tape.header.created) {
        // The header has no valid time.
        0 => Offset::default(),
        began => Offset(now.saturating_sub(began)),
    }
}
