//! Sums over lines: counts, durations, gaps.

use std::collections::BTreeMap;

use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Note, NoteContent};
use tapewright_schemas::summary::Latencies;

use super::line::Line;
use super::texts::Word;

/// The sums.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Requests, and model calls.
    pub(crate) calls: u64,
    /// Those that failed.
    pub(crate) failures: u64,
    /// How long their senders waited.
    pub(crate) times: Latencies,
    /// By method and tool.
    pub(crate) tools: BTreeMap<Word, Tool>,
    /// How many gaps there are, and how many events are missing.
    pub(crate) gaps: [u64; 2],
    /// How many messages are clipped.
    pub(crate) clipped: u64,
    /// How many events a control dropped.
    pub(crate) missed: u64,
    /// How many lines there were.
    pub(crate) lines: u64,
}

/// Calls of one tool.
#[derive(Debug, Default)]
pub(crate) struct Tool {
    /// How many.
    pub(crate) count: u64,
    /// How many failed.
    pub(crate) failures: u64,
    /// How long they took.
    pub(crate) times: Latencies,
    /// Requests and answers, in bytes.
    pub(crate) bytes: u64,
}

/// How many tools are kept.
const TOOLS: usize = 500;

impl Sums {
    pub(super) fn begins(&mut self, _line: &Line) {
        self.calls += 1;
    }

    pub(super) fn over(&mut self, line: &Line) {
        self.failures += u64::from(line.is_failure());
        if let Some(waited) = line.waited_us() {
            self.times.add(waited);
        }
        let is_called = line.is_tool() || line.kind == LineKind::Model;
        let has_room = self.tools.len() < TOOLS || self.tools.contains_key(&line.name);
        if is_called && has_room {
            let tool = self.tools.entry(line.name).or_default();
            tool.count += 1;
            tool.failures += u64::from(line.is_failure());
            tool.bytes += line.bytes.iter().copied().map(u64::from).sum::<u64>();
            if let Some(waited) = line.waited_us() {
                tool.times.add(waited);
            }
        }
    }

    pub(super) fn beside(&mut self, note: &Note) {
        self.lines += 1;
        match &note.told {
            NoteContent::Gap(gap) => {
                let [count, events] = &mut self.gaps;
                *count += 1;
                *events = events.saturating_add(gap.events);
            }
            NoteContent::Clipped(_) => self.clipped += 1,
            _ => {}
        }
    }
}
