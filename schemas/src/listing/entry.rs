//! The output of a listing.

use bytes::Bytes;

use crate::conversation::{ExchangeRow, ModelRow};
use crate::event::{Direction, Faulted, Finding, Gap, Head};
use crate::filter::{Filter, LineKind, Subject};

/// One line.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A request and its outcome.
    Exchange {
        /// Its summary.
        row: Box<ExchangeRow>,
        /// The request.
        request: Body,
        /// The answer.
        answer: Body,
    },
    /// A model call.
    Model {
        /// Its summary.
        row: Box<ModelRow>,
        /// The request.
        request: Body,
        /// The answer; for a stream, the combined response.
        answer: Body,
    },
    /// Any line that is not an exchange.
    Beside(Box<Note>),
}

/// The content of a message, as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// It was not requested, or there is none.
    #[default]
    Unwanted,
    /// Too many exchanges were open at once to keep it.
    NoRoom,
    /// Its text.
    Text(Bytes),
}

/// A line other than an exchange.
#[derive(Clone, Debug)]
pub struct Note {
    /// The type of the line.
    pub kind: LineKind,
    /// Its number on the tape.
    pub seq: u64,
    /// Its session.
    pub session: u32,
    /// Its direction.
    pub dir: Direction,
    /// When it was seen, in milliseconds since the tape began; `None` when the file has no
    /// times.
    pub at_ms: Option<f64>,
    /// For a message: its method.
    pub method: Option<String>,
    /// For an answer: its id as written.
    pub id: Option<String>,
    /// The number of the request that it refers to.
    pub about: Option<u64>,
    /// Whether the recorder made the message.
    pub is_ours: bool,
    /// Its content.
    pub told: NoteContent,
}

/// A line that is not an exchange, as JSON for programs.
#[derive(Debug, serde::Serialize)]
pub struct NoteRow<'n> {
    /// The type of the line.
    pub kind: &'static str,
    /// Its number on the tape.
    pub seq: u64,
    /// Its session.
    pub session: u32,
    /// Who sent it: `client` or `server`.
    pub from: &'static str,
    /// When, in milliseconds since the tape began.
    pub at_ms: Option<f64>,
    /// For a message: its method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'n str>,
    /// For an answer: its id as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'n str>,
    /// The number of the request that it refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<u64>,
    /// The text on standard error, or content that is not a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// An HTTP head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<&'n Head>,
    /// The effect of a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<&'n Faulted>,
    /// A finding of a judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<&'n Finding>,
    /// The number of missing events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// The number of missing bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The content of a line that is not an exchange.
#[derive(Clone, Debug)]
pub enum NoteContent {
    /// A message of which only the beginning was recorded: its length in bytes.
    Clipped(u64),
    /// The effect of a fault.
    Fault(Box<Faulted>),
    /// A finding of a judge.
    Finding(Box<Finding>),
    /// What is missing.
    Gap(Gap),
    /// An HTTP head.
    Head(Box<Head>),
    /// A message.
    Message(Body),
    /// A line of standard error.
    Stderr(Bytes),
}

impl Body {
    pub(super) fn of(text: &[u8]) -> Self {
        Self::Text(Bytes::copy_from_slice(text))
    }

    /// Its text, if it has any.
    #[must_use]
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::NoRoom | Self::Unwanted => None,
        }
    }
}

impl Entry {
    pub(super) fn matches(&self, filter: &Filter) -> bool {
        let mut subject = match self {
            Self::Exchange { row, .. } => Subject::of_row(row),
            Self::Model { row, .. } => Subject::of_model(row),
            Self::Beside(note) => return filter.matches(&note.subject()),
        };
        if let Some(bodies) = self.bodies() {
            subject.texts = bodies.map(|body| body.text().unwrap_or_default());
        }
        filter.matches(&subject)
    }

    /// The request and the answer, for lines that have both.
    pub(super) fn bodies(&self) -> Option<[&Body; 2]> {
        match self {
            Self::Exchange {
                request, answer, ..
            }
            | Self::Model {
                request, answer, ..
            } => Some([request, answer]),
            Self::Beside(_) => None,
        }
    }

    /// When it began, in milliseconds since the beginning of the recording, if known.
    #[must_use]
    pub fn at_ms(&self) -> Option<f64> {
        match self {
            Self::Exchange { row, .. } => row.at_ms,
            Self::Model { row, .. } => row.at_ms,
            Self::Beside(note) => note.at_ms,
        }
    }

    /// The line with its times counted from this many milliseconds earlier.
    #[must_use]
    pub fn later_by(mut self, ms: f64) -> Self {
        let at_ms = match &mut self {
            Self::Exchange { row, .. } => &mut row.at_ms,
            Self::Model { row, .. } => &mut row.at_ms,
            Self::Beside(note) => &mut note.at_ms,
        };
        *at_ms = at_ms.map(|at_ms| at_ms + ms);
        self
    }

    /// The line without times.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        match &mut self {
            Self::Exchange { row, .. } => **row = row.as_ref().clone().without_times(),
            Self::Model { row, .. } => **row = row.as_ref().clone().without_times(),
            Self::Beside(note) => note.at_ms = None,
        }
        self
    }
}

impl Note {
    /// It, as a filter sees it.
    #[must_use]
    pub fn subject(&self) -> Subject<'_> {
        let said: &[u8] = match &self.told {
            NoteContent::Message(body) => body.text().unwrap_or_default(),
            NoteContent::Stderr(line) => line,
            _ => b"",
        };
        let status = match &self.told {
            NoteContent::Head(head) => match head.as_ref() {
                Head::Interim(head) | Head::Response(head) => Some(head.status),
                Head::Request(_) => None,
            },
            _ => None,
        };
        Subject {
            method: self.method.as_deref().unwrap_or_default(),
            id: self.id.as_deref(),
            http_status: status,
            texts: [said, b""],
            ..Subject::new(self.kind, self.session, self.dir)
        }
    }

    /// It, for programs.
    #[must_use]
    pub fn beside(&self) -> NoteRow<'_> {
        let lossy = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut beside = NoteRow {
            kind: self.kind.name(),
            seq: self.seq,
            session: self.session,
            from: self.dir.sender(),
            at_ms: self.at_ms,
            method: self.method.as_deref(),
            id: self.id.as_deref(),
            about: self.about,
            text: None,
            head: None,
            fault: None,
            finding: None,
            events: None,
            bytes: None,
        };
        match &self.told {
            NoteContent::Clipped(bytes) => beside.bytes = Some(*bytes),
            NoteContent::Fault(faulted) => beside.fault = Some(faulted),
            NoteContent::Finding(finding) => beside.finding = Some(finding),
            NoteContent::Gap(gap) => {
                (beside.events, beside.bytes) = (Some(gap.events), Some(gap.bytes));
            }
            NoteContent::Head(head) => beside.head = Some(head),
            NoteContent::Message(body) if self.kind == LineKind::Noise => {
                beside.text = body.text().map(lossy);
            }
            NoteContent::Message(_) => {}
            NoteContent::Stderr(line) => beside.text = Some(lossy(line)),
        }
        beside
    }
}
