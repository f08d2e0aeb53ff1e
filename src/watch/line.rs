//! One line of the view, stored compactly: a recording may have a million.

use tapewright_schemas::conversation::{ExchangeRow, ModelRow, Outcome};
use tapewright_schemas::event::Direction;
use tapewright_schemas::filter::{LineKind, Subject};
use tapewright_schemas::listing::Note;

use super::texts::{Text, Word, Words};

/// The facts about a line that are available without reading its recording again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Its event's number on the tape.
    pub(crate) seq: u64,
    /// For an exchange, the event of its answer; for anything else, that of the request that it is
    /// about; 0 for none.
    pub(crate) other: u64,
    /// When it began, in microseconds since the start of the recording.
    at_us: u64,
    waited_us: u64,
    /// The code of an error.
    pub(crate) code: i64,
    /// The id, verbatim.
    pub(crate) id: Text,
    /// The text of a note.
    pub(crate) said: Text,
    ours_us: u32,
    theirs_us: u32,
    /// Lengths of the request and of its answer, in bytes, saturating.
    pub(crate) bytes: [u32; 2],
    /// Its session.
    pub(crate) session: u32,
    /// The method; for a model call, the provider.
    pub(crate) method: Word,
    /// The tool, resource or prompt; for a model call, the model.
    pub(crate) name: Word,
    /// The fault that affects it.
    pub(crate) fault: Word,
    /// The number of its tape.
    pub(crate) part: u16,
    /// The HTTP status; 0 for none.
    pub(crate) status: u16,
    /// The kind of line.
    pub(crate) kind: LineKind,
    /// How an exchange ended.
    pub(crate) outcome: Outcome,
    flags: u8,
}

/// The value for an unknown time.
const NEVER: u64 = u64::MAX;
const NOT_MEASURED: u32 = u32::MAX;

const TO_CLIENT: u8 = 1;
const OPEN: u8 = 2;
const TOOL_ERROR: u8 = 4;
const FINDINGS: u8 = 8;
const GONE: u8 = 16;
const ERROR_CODE: u8 = 32;
const TOOL: u8 = 64;

impl Line {
    fn new(kind: LineKind, part: u16, seq: u64, session: u32) -> Self {
        Self {
            seq,
            other: 0,
            at_us: NEVER,
            waited_us: NEVER,
            code: 0,
            id: Text::NONE,
            said: Text::NONE,
            ours_us: NOT_MEASURED,
            theirs_us: NOT_MEASURED,
            bytes: [0; 2],
            session,
            method: Word::NONE,
            name: Word::NONE,
            fault: Word::NONE,
            part,
            status: 0,
            kind,
            outcome: Outcome::Unknown,
            flags: 0,
        }
    }

    /// An exchange; `is_open` says that it has not ended.
    pub(super) fn exchange(part: u16, row: &ExchangeRow, is_open: bool, words: &mut Words) -> Self {
        let mut line = Self::new(LineKind::Exchange, part, row.request_seq, row.session);
        let name = row.tool.as_ref().or(row.resource.as_ref());
        line.other = row.answer_seq.unwrap_or_default();
        line.at_us = micros(row.at_ms);
        line.waited_us = micros(row.waited_ms);
        (line.ours_us, line.theirs_us) = (short(row.ours_ms), short(row.theirs_ms));
        line.code = row.error_code.unwrap_or_default();
        line.bytes = [row.request_bytes, row.answer_bytes.unwrap_or_default()].map(fitting);
        line.id = words.texts.add(&row.id);
        line.method = words.word(&row.method);
        line.name = words.of(name.or(row.prompt.as_ref()));
        let fault = row.fault.as_ref();
        line.fault = fault.map_or(Word::NONE, |fault| {
            words.word(&crate::report::watch::fault(fault))
        });
        line.status = row.http_status.unwrap_or_default();
        line.outcome = row.outcome;
        line.set(TO_CLIENT, row.from == Direction::ToClient.sender());
        line.set(OPEN, is_open);
        line.set(TOOL_ERROR, row.tool_error);
        line.set(FINDINGS, !row.findings.is_empty());
        line.set(ERROR_CODE, row.error_code.is_some());
        line.set(TOOL, row.tool.is_some());
        line
    }

    /// A model call.
    pub(super) fn model(part: u16, row: &ModelRow, words: &mut Words) -> Self {
        let mut line = Self::new(LineKind::Model, part, row.request_seq, row.session);
        line.at_us = micros(row.at_ms);
        line.waited_us = micros(row.waited_ms);
        line.id = row.id.as_ref().map_or(Text::NONE, |id| words.texts.add(id));
        line.method = words.of(row.provider.as_ref());
        line.name = words.of(row.model.as_ref());
        line.said = words.texts.add(&crate::report::watch::model(row));
        line.status = row.http_status.unwrap_or_default();
        line.outcome = row.outcome;
        line
    }

    /// A model call that has just begun, of which nothing is known yet.
    pub(super) fn model_begun(part: u16, seq: u64) -> Self {
        let mut line = Self::new(LineKind::Model, part, seq, 0);
        line.outcome = Outcome::StillPending;
        line.set(OPEN, true);
        line
    }

    /// A note.
    pub(super) fn note(part: u16, note: &Note, words: &mut Words) -> Self {
        let mut line = Self::new(note.kind, part, note.seq, note.session);
        line.other = note.about.unwrap_or_default();
        line.at_us = micros(note.at_ms);
        line.id = note
            .id
            .as_ref()
            .map_or(Text::NONE, |id| words.texts.add(id));
        line.method = words.of(note.method.as_ref());
        line.said = words.texts.add(&crate::report::watch::note(note));
        line.status = note.subject().http_status.unwrap_or_default();
        line.set(TO_CLIENT, note.dir == Direction::ToClient);
        line
    }

    /// When it began, in milliseconds, if known.
    pub(crate) fn at_ms(&self) -> Option<f64> {
        millis(self.at_us)
    }

    /// When it began, in microseconds; 0 if unknown.
    pub(crate) fn at_us(&self) -> u64 {
        if self.at_us == NEVER { 0 } else { self.at_us }
    }

    /// How long its sender waited, in milliseconds, if known.
    pub(crate) fn waited_ms(&self) -> Option<f64> {
        millis(self.waited_us)
    }

    /// Like `waited_ms`, in microseconds.
    pub(super) fn waited_us(&self) -> Option<u64> {
        (self.waited_us != NEVER).then_some(self.waited_us)
    }

    /// The recorder's part of the time to the answer, and the rest, in milliseconds, if measured.
    pub(crate) fn split_ms(&self) -> Option<[f64; 2]> {
        let both = [self.ours_us, self.theirs_us];
        let is_measured = both.iter().all(|one| *one != NOT_MEASURED);
        is_measured.then(|| both.map(|one| f64::from(one) / 1_000.0))
    }

    /// Whether it goes to the client.
    pub(crate) fn is_to_client(&self) -> bool {
        self.flags & TO_CLIENT != 0
    }

    /// Where it goes to.
    pub(crate) fn direction(&self) -> Direction {
        if self.is_to_client() {
            Direction::ToClient
        } else {
            Direction::ToServer
        }
    }

    /// Whether it is an exchange that has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.flags & OPEN != 0
    }

    /// Whether its sender is waiting for an answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_open() && self.outcome == Outcome::StillPending
    }

    /// Whether the tool reported a failure.
    pub(crate) fn is_tool_error(&self) -> bool {
        self.flags & TOOL_ERROR != 0
    }

    /// Whether it calls a tool.
    pub(crate) fn is_tool(&self) -> bool {
        self.flags & TOOL != 0
    }

    /// The code of an error, if it has one.
    pub(crate) fn error_code(&self) -> Option<i64> {
        (self.flags & ERROR_CODE != 0).then_some(self.code)
    }

    /// Whether a judge found something about it.
    pub(crate) fn has_findings(&self) -> bool {
        self.flags & FINDINGS != 0
    }

    pub(super) fn found(&mut self) {
        self.flags |= FINDINGS;
    }

    /// Whether the line was removed.
    pub(super) fn is_gone(&self) -> bool {
        self.flags & GONE != 0
    }

    pub(super) fn goes(&mut self) {
        self.flags = (self.flags | GONE) & !OPEN;
    }

    /// The recording has ended before the line.
    pub(super) fn closes(&mut self) {
        self.flags &= !OPEN;
    }

    /// Whether something went wrong.
    pub(crate) fn is_failure(&self) -> bool {
        let is_answered = self.outcome == Outcome::Answered && !self.is_tool_error();
        let is_exchange = matches!(self.kind, LineKind::Exchange | LineKind::Model);
        is_exchange && !self.is_open() && !is_answered
    }

    /// The line in the form for filters.
    pub(crate) fn subject<'a>(&self, words: &'a Words, model: Option<&'a ModelRow>) -> Subject<'a> {
        if let Some(row) = model {
            return Subject::of_model(row);
        }
        let dir = if self.is_to_client() {
            Direction::ToClient
        } else {
            Direction::ToServer
        };
        let text = |word: Word| (word != Word::NONE).then(|| words.get(word));
        let is_exchange = self.kind == LineKind::Exchange;
        let name = text(self.name);
        let plain = Subject::new(self.kind, self.session, dir);
        Subject {
            method: words.get(self.method),
            tool: name.filter(|_| self.is_tool()),
            name,
            id: words.texts.get(self.id),
            outcome: is_exchange.then_some(self.outcome),
            tool_error: self.is_tool_error(),
            error_code: self.error_code(),
            http_status: (self.status > 0).then_some(self.status),
            has_fault: plain.has_fault || self.fault != Word::NONE,
            has_findings: plain.has_findings || self.has_findings(),
            waited_ms: self.waited_ms(),
            texts: [
                words.texts.get(self.said).unwrap_or_default().as_bytes(),
                b"",
            ],
            ..plain
        }
    }

    fn set(&mut self, flag: u8, is_set: bool) {
        if is_set {
            self.flags |= flag;
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that is too large, or none, becomes the nearest number"
)]
fn micros(ms: Option<f64>) -> u64 {
    ms.map_or(NEVER, |ms| ((ms * 1_000.0).round() as u64).min(NEVER - 1))
}

fn short(ms: Option<f64>) -> u32 {
    let us = micros(ms);
    if us == NEVER {
        return NOT_MEASURED;
    }
    u32::try_from(us).unwrap_or(NOT_MEASURED - 1)
}

fn millis(us: u64) -> Option<f64> {
    (us != NEVER).then(|| tapewright_schemas::event::Offset(us).millis())
}

fn fitting(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
