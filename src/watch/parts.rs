//! The tapes of the watched recording, and their sessions.

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
    /// Why other files cannot be read.
    pub(crate) missing: Vec<String>,
    /// By their tape and number.
    pub(crate) sessions: BTreeMap<(u16, u32), Session>,
}

/// One tape, or a substitute for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: String,
    /// Its file, if it can be read from here.
    pub(crate) path: Option<PathBuf>,
    /// Its state.
    pub(crate) state: PartState,
    /// The faults in its header.
    pub(crate) faults: Vec<String>,
    /// When the first of all tapes began, in microseconds of wall time, if known.
    pub(crate) began_us: Option<i64>,
    /// How long ago that was, in microseconds, if a recorder has reported it.
    pub(crate) age_us: Option<u64>,
}

/// The state of a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PartState {
    /// It is being read for the first time.
    #[default]
    Reading,
    /// It is still being written, and has been read up to its end.
    Live,
    /// It has ended.
    Over,
    /// It stops without an end: its recorder was killed.
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
    /// When its first and its last line began, in microseconds since the start of the recording.
    pub(crate) seen_us: [u64; 2],
    /// Exchanges that have ended.
    pub(crate) exchanges: u64,
    /// Those that failed.
    pub(crate) failures: u64,
    /// Findings of judges.
    pub(crate) findings: u64,
    /// Effects of faults.
    pub(crate) faults: u64,
}

/// The names that peers declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introduced {
    /// The client.
    pub(crate) client: Option<String>,
    /// The server.
    pub(crate) server: Option<String>,
    /// The revision.
    pub(crate) revision: Option<String>,
}

/// How many sessions are kept.
const SESSIONS: usize = 10_000;

impl Parts {
    fn session(&mut self, part: u16, number: u32) -> Option<&mut Session> {
        let key = (part, number);
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&key) {
            return None;
        }
        Some(self.sessions.entry(key).or_default())
    }

    /// Counts a new line.
    pub(super) fn seen(&mut self, line: &Line) {
        // Heads and standard error belong to no session.
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

    /// Counts an exchange that has ended.
    pub(super) fn over(&mut self, line: &Line) {
        if let Some(session) = self.session(line.part, line.session) {
            session.exchanges += 1;
            session.failures += u64::from(line.is_failure());
        }
    }

    /// Counts a note.
    pub(super) fn beside(&mut self, part: u16, note: &Note) {
        if let Some(session) = self.session(part, note.session) {
            session.findings += u64::from(note.kind == LineKind::Finding);
            session.faults += u64::from(note.kind == LineKind::Fault);
        }
    }

    /// Sets the names that the peers declared.
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

    /// Whether one of the tapes is still being written.
    pub(crate) fn is_live(&self) -> bool {
        self.all.iter().any(|part| part.state == PartState::Live)
    }

    /// Whether a tape is still being read for the first time.
    pub(crate) fn is_reading(&self) -> bool {
        self.all.iter().any(|part| part.state == PartState::Reading)
    }
}
