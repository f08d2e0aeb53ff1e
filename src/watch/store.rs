//! Stores the lines of the watched recording, and their sums.

use std::collections::{BTreeMap, HashMap, VecDeque};

use tapewright_schemas::conversation::{ModelRow, Outcome};
use tapewright_schemas::event::Finding;
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Entry, LinePosition, Note, NoteContent};

use super::line::Line;
use super::parts::Parts;
use super::sums::Sums;
use super::texts::Words;

/// Lines, and their sums.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// Names and texts of lines.
    pub(crate) words: Words,
    chunks: VecDeque<Vec<Line>>,
    /// How many lines were dropped: the number of the first one that is kept.
    first: u64,
    next: u64,
    open: HashMap<(u16, LinePosition), u64>,
    models: BTreeMap<u64, Box<ModelRow>>,
    /// The latest exchanges that have ended and hung: pending for too long, or never answered.
    pub(crate) hung: VecDeque<u64>,
    /// The findings of judges, the oldest first.
    pub(crate) findings: VecDeque<Found>,
    /// The tapes and their sessions.
    pub(crate) parts: Parts,
    /// The sums.
    pub(crate) sums: Sums,
    /// The time after which a pending request counts as a hang, in microseconds.
    pub(crate) hang_after_us: u64,
}

/// A finding of a judge.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its tape.
    pub(crate) part: u16,
    /// Its event's number.
    pub(crate) seq: u64,
    /// Its session.
    pub(crate) session: u32,
    /// Its time, in milliseconds since the recording began.
    pub(crate) at_ms: Option<f64>,
    /// The finding itself.
    pub(crate) finding: Finding,
}

/// The effect of a change on the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// No effect.
    Nothing,
    /// A new line at the end.
    New,
    /// The line with this number has changed.
    Changed(u64),
}

/// How many lines a chunk has, which is dropped as a whole.
const CHUNK: usize = 4_096;
/// How many lines are kept: about 150 MB.
const LINES: u64 = 1_500_000;
/// How many model calls and findings are kept.
const MODELS: usize = 20_000;
const FINDINGS: usize = 10_000;
/// How many ended hangs are kept.
const HUNG: usize = 1_000;
/// How many lines back the line of a finding is searched.
const BACK: u64 = 10_000;

impl Store {
    /// An empty store; requests that are pending for `hang_after_us` microseconds count as hangs.
    pub(super) fn new(hang_after_us: u64) -> Self {
        Self {
            hang_after_us,
            ..Self::default()
        }
    }

    /// Applies a change of a tape.
    pub(crate) fn take(&mut self, part: u16, change: Change) -> Touched {
        match change {
            Change::Open(place, row) => {
                let line = match row {
                    Some(row) => Line::exchange(part, &row, true, &mut self.words),
                    None => Line::model_begun(part, place.0),
                };
                self.opens(part, place, line)
            }
            Change::Whole(place, entry) => self.whole(part, place, entry),
            Change::Gone(place) => {
                let Some(number) = self.open.remove(&(part, place)) else {
                    return Touched::Nothing;
                };
                if let Some(line) = self.get_mut(number) {
                    line.goes();
                }
                Touched::Changed(number)
            }
        }
    }

    fn opens(&mut self, part: u16, place: LinePosition, line: Line) -> Touched {
        if let Some(number) = self.open.get(&(part, place)).copied() {
            // Its texts are the same.
            self.replace(number, line);
            return Touched::Changed(number);
        }
        self.open.insert((part, place), self.next);
        self.sums.begins(&line);
        self.push(line);
        Touched::New
    }

    fn whole(&mut self, part: u16, place: LinePosition, entry: Entry) -> Touched {
        let known = self.open.remove(&(part, place));
        let number = known.unwrap_or(self.next);
        let line = match entry {
            Entry::Exchange { row, .. } => {
                let line = Line::exchange(part, &row, false, &mut self.words);
                self.parts.over(&line);
                self.sums.over(&line);
                self.hung(number, &line);
                line
            }
            Entry::Model { row, .. } => {
                let line = Line::model(part, &row, &mut self.words);
                self.models.insert(number, row);
                if self.models.len() > MODELS {
                    self.models.pop_first();
                }
                self.sums.over(&line);
                line
            }
            Entry::Beside(note) => self.note(part, *note),
        };
        if known.is_some() {
            self.replace(number, line);
            return Touched::Changed(number);
        }
        self.push(line);
        Touched::New
    }

    fn hung(&mut self, number: u64, line: &Line) {
        let is_long = line.waited_us().is_some_and(|us| us >= self.hang_after_us);
        let is_usual = line.outcome.is_answer() || line.outcome == Outcome::Cancelled;
        if is_usual && !is_long {
            return;
        }
        if self.hung.len() == HUNG {
            self.hung.pop_front();
        }
        self.hung.push_back(number);
    }

    fn note(&mut self, part: u16, note: Note) -> Line {
        let line = Line::note(part, &note, &mut self.words);
        self.parts.beside(part, &note);
        self.sums.beside(&note);
        if let NoteContent::Finding(finding) = note.told {
            for place in &finding.evidence {
                self.mark(part, place.seq);
            }
            if self.findings.len() == FINDINGS {
                self.findings.pop_front();
            }
            self.findings.push_back(Found {
                part,
                seq: note.seq,
                session: note.session,
                at_ms: note.at_ms,
                finding: *finding,
            });
        }
        line
    }

    fn mark(&mut self, part: u16, seq: u64) {
        let first = self.next.saturating_sub(BACK).max(self.first);
        for number in (first..self.next).rev() {
            if let Some(line) = self.get_mut(number)
                && line.part == part
                && line.kind == LineKind::Exchange
                && (line.seq == seq || line.other == seq)
            {
                line.found();
                return;
            }
        }
    }

    fn push(&mut self, line: Line) {
        self.parts.seen(&line);
        if self.chunks.back().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push_back(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.back_mut() {
            chunk.push(line);
        }
        self.next += 1;
        if self.next - self.first > LINES
            && let Some(gone) = self.chunks.pop_front()
        {
            self.first += gone.len() as u64;
            self.models = self.models.split_off(&self.first);
        }
    }

    fn replace(&mut self, number: u64, mut line: Line) {
        if let Some(place) = self.get_mut(number) {
            if place.has_findings() {
                line.found();
            }
            *place = line;
        }
    }

    /// The recording of a tape has ended: its pending requests stay unanswered. Returns their
    /// lines.
    pub(crate) fn closes(&mut self, part: u16) -> Vec<u64> {
        let here = self.open.extract_if(|(one, _), _| *one == part);
        let numbers: Vec<u64> = here.map(|(_, number)| number).collect();
        for number in &numbers {
            if let Some(line) = self.get_mut(*number) {
                line.closes();
            }
        }
        numbers
    }

    /// The line with a number.
    pub(crate) fn get(&self, number: u64) -> Option<&Line> {
        let (chunk, at) = self.place(number)?;
        self.chunks.get(chunk)?.get(at)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Line> {
        let (chunk, at) = self.place(number)?;
        self.chunks.get_mut(chunk)?.get_mut(at)
    }

    fn place(&self, number: u64) -> Option<(usize, usize)> {
        let from_first = usize::try_from(number.checked_sub(self.first)?).ok()?;
        Some((from_first / CHUNK, from_first % CHUNK))
    }

    /// The model call of a line.
    pub(crate) fn model(&self, number: u64) -> Option<&ModelRow> {
        self.models.get(&number).map(|row| &**row)
    }

    /// The numbers of the lines that are kept.
    pub(crate) fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.next
    }

    /// The exchange of an event, or any other line at its position.
    pub(crate) fn of_event(&self, part: u16, seq: u64) -> Option<u64> {
        let is_its = |line: &Line| {
            line.part == part
                && (line.seq == seq || line.kind == LineKind::Exchange && line.other == seq)
        };
        let mut numbers = self.numbers();
        numbers.find(|number| self.get(*number).is_some_and(is_its))
    }

    /// The exchanges that have not ended, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.open.values().copied().collect();
        all.retain(|number| self.get(*number).is_some_and(Line::is_waiting));
        all.sort_unstable();
        all
    }

    /// Whether a request is pending.
    pub(crate) fn has_waiting(&self) -> bool {
        let mut all = self.open.values();
        all.any(|number| self.get(*number).is_some_and(Line::is_waiting))
    }
}
