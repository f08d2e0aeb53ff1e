//! The tapes of what is watched, and their sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::Note;

use super::line::Line;

/// The tapes, and their sessions.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Each tape.
    pub(crate) all: Vec<Part>,
    /// Why others cannot be read.
    pub(crate) missing: Vec<String>,
    /// By their tape and number.
    pub(crate) sessions: BTreeMap<(u16, u32), Session>,
}

/// One tape, or what stands in its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// What it is called.
    pub(crate) name: String,
    /// Its file, where it can be read from here.
    pub(crate) path: Option<PathBuf>,
    /// How much of it was read, and what becomes of it.
    pub(crate) state: PartState,
    /// The faults that it began with, as its header tells.
    pub(crate) faults: Vec<String>,
    /// When the first of all tapes began, in microseconds of wall time, where that is known.
    pub(crate) began_us: Option<i64>,
    /// How long ago that was, in microseconds, where a recorder has told it.
    pub(crate) age_us: Option<u64>,
}

/// What becomes of a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PartState {
    /// What is there is being read.
    #[default]
    Reading,
    /// It is still written, and all that is there was read.
    Live,
    /// It is over.
    Over,
    /// It is over, and has no end: its recorder was killed.
    CutShort,
    /// It cannot be read any further.
    Failed(String),
}

/// One session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    /// The client's name and version.
    pub(crate) client: String,
    /// The server's name and version.
    pub(crate) server: String,
    /// The revision that they agreed on.
    pub(crate) revision: String,
    /// When its first and its last line began, in microseconds since the recording did.
    pub(crate) seen_us: [u64; 2],
    /// Exchanges that are over.
    pub(crate) exchanges: u64,
    /// Those of them that went wrong.
    pub(crate) failures: u64,
    /// What judges found.
    pub(crate) findings: u64,
    /// What faults did.
    pub(crate) faults: u64,
}

/// What a peer called itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introduced {
    /// The client.
    pub(crate) client: Option<String>,
    /// The server.
    pub(crate) server: Option<String>,
    /// The revision.
    pub(crate) revision: Option<String>,
}

/// How many sessions are known.
const SESSIONS: usize = 10_000;

impl Parts {
    fn session(&mut self, part: u16, number: u32) -> Option<&mut Session> {
        let key = (part, number);
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&key) {
            return None;
        }
        Some(self.sessions.entry(key).or_default())
    }

    /// A new line.
    pub(super) fn seen(&mut self, line: &Line) {
        // Heads and standard error belong to no session of their own.
        let is_of_session = !matches!(line.kind, LineKind::Http | LineKind::Gap);
        let at = line.at_us();
        if is_of_session && let Some(session) = self.session(line.part, line.session) {
            let [first, last] = &mut session.seen_us;
            if *last == 0 && *first == 0 {
                *first = at;
            }
            *last = at.max(*last);
        }
    }

    /// An exchange is over.
    pub(super) fn over(&mut self, line: &Line) {
        if let Some(session) = self.session(line.part, line.session) {
            session.exchanges += 1;
            session.failures += u64::from(line.is_failure());
        }
    }

    /// Something beside the exchanges.
    pub(super) fn beside(&mut self, part: u16, note: &Note) {
        if let Some(session) = self.session(part, note.session) {
            session.findings += u64::from(note.kind == LineKind::Finding);
            session.faults += u64::from(note.kind == LineKind::Fault);
        }
    }

    /// Peers have told who they are.
    pub(crate) fn introduced(&mut self, part: u16, number: u32, told: Introduced) {
        if let Some(session) = self.session(part, number) {
            let put = |place: &mut String, told: Option<String>| {
                if let Some(told) = told {
                    *place = told;
                }
            };
            put(&mut session.client, told.client);
            put(&mut session.server, told.server);
            put(&mut session.revision, told.revision);
        }
    }

    /// Whether one of the tapes is still written.
    pub(crate) fn is_live(&self) -> bool {
        self.all.iter().any(|part| part.state == PartState::Live)
    }

    /// Whether there is anything still to be read.
    pub(crate) fn is_reading(&self) -> bool {
        self.all.iter().any(|part| part.state == PartState::Reading)
    }
}
