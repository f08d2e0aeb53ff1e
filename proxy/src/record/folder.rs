//! Writes a tape for each session.
//!
//! A session's tape is created at its first event and closed when the session ends, when it has
//! been silent for long, or when too many others are open. If the session continues later, it gets
//! another tape, whose header says which one it continues; its cassette and capture are projected
//! from all of them together.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_schemas::event::{Event, EventBody, Offset, SessionKey, SessionMark};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::tape::{GapTotal, Header};

use super::cassettes::{Cassettes, Job};
use super::finish::Finished;
use super::names::{FolderTarget, TAPE_ENDING, Target, numbered, stem};
use super::queue::Disk;
use super::stats::Amount;
use super::sync::SyncGate;
use super::tape_file::{TapeWriter, redact_header};
use super::tapes::Unsynced;
use super::{Durability, Judging, Settings};
use crate::operations::Operations;

/// Writes a tape for each session.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    stem: String,
    // Whether cassettes contain times.
    times: bool,
    header: Header,
    rules: Arc<Rules>,
    most_open: usize,
    idle_us: u64,
    synced: bool,
    judging: Option<(Judging, Durability)>,
    operations: Option<Arc<Operations>>,
    open: HashMap<SessionKey, Open>,
    // The sessions in this batch.
    touched: Vec<SessionKey>,
    // What must be synced before the batch counts as recorded.
    unsynced: Vec<Unsynced>,
    known: HashMap<SessionKey, SessionFiles>,
    // The known sessions, in the order in which they were added.
    order: VecDeque<SessionKey>,
    // Those with closed tapes that are not projected yet.
    due: BTreeSet<SessionKey>,
    now: Offset,
    // The number of events so far.
    stamp: u64,
    next_look: Offset,
    cassettes: Cassettes,
    disk: Arc<Disk>,
    // The totals of closed tapes, and what the disk did not take of them.
    done: Finished,
    lost: Amount,
    finished: bool,
}

/// A session whose tape is open.
#[derive(Debug)]
struct Open {
    tape: TapeWriter,
    gate: Arc<SyncGate>,
    last: Offset,
    /// Number of its last event.
    stamp: u64,
    touched: bool,
    /// The session has ended, and only its last exchange may still have events.
    ended: bool,
}

/// What is known of a session in addition to its open tape.
#[derive(Debug, Default)]
struct SessionFiles {
    /// Its tapes closed since the current cassette was started.
    tapes: Vec<PathBuf>,
    /// The number of the session's current cassette.
    volume: u32,
    /// How often it was written.
    rewrites: u32,
    last: Offset,
    gaps: bool,
}

/// Why a tape is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// Its session may continue at any time.
    MakesRoom,
    /// Its session is probably over.
    Settled,
}

/// How long to wait for the last exchange of a session that ended, in microseconds.
const LINGER_US: u64 = 1_000_000;
/// The maximum number of remembered sessions with closed tapes.
const KNOWN: usize = 65_536;
/// How often a cassette is rewritten because its session continued after a pause, which requires
/// reading all its tapes. After that the session gets another cassette.
const REWRITES: u32 = 16;
/// The maximum number of tapes of a cassette.
const CHAIN: usize = 4_096;

impl Folder {
    pub(crate) fn new(target: FolderTarget, settings: Settings, disk: Arc<Disk>) -> Self {
        let Settings {
            mut header,
            command,
            rules,
            durability,
            judging,
            operations,
            target: Target { times, .. },
            ..
        } = settings;
        let rules = rules();
        redact_header(
            &mut Redactor::new(Arc::clone(&rules)),
            &mut header,
            &command,
        );
        Self {
            stem: stem(&header),
            path: target.path,
            times,
            header,
            rules,
            most_open: target.most_open,
            idle_us: u64::try_from(target.idle.as_micros()).unwrap_or(u64::MAX),
            synced: durability == Durability::Synced,
            judging: judging.map(|judging| (judging, durability)),
            operations,
            open: HashMap::new(),
            touched: Vec::new(),
            unsynced: Vec::new(),
            known: HashMap::new(),
            order: VecDeque::new(),
            due: BTreeSet::new(),
            now: Offset::default(),
            stamp: 0,
            next_look: Offset::default(),
            cassettes: Cassettes::start(),
            disk,
            done: Finished::default(),
            lost: Amount::default(),
            finished: false,
        }
    }

    /// Adds an event, which is written with the next [`flush`](Self::flush).
    pub(crate) fn encode(&mut self, event: &mut Event) {
        self.now = self.now.max(event.at);
        if self.now >= self.next_look {
            self.look();
        }
        let key = event.session;
        if !self.open.contains_key(&key) {
            self.begin(key);
        }
        self.stamp += 1;
        if let Some(open) = self.open.get_mut(&key) {
            open.tape.encode(event);
            open.last = self.now;
            open.stamp = self.stamp;
            if !open.touched {
                open.touched = true;
                self.touched.push(key);
            }
            match &event.body {
                EventBody::Session(SessionMark::Ended(_)) => open.ended = key != SessionKey(0),
                EventBody::Session(SessionMark::Began(_)) => open.ended = false,
                _ => {}
            }
        }
    }

    /// Writes the added events.
    pub(crate) fn flush(&mut self) {
        for key in std::mem::take(&mut self.touched) {
            let Some(open) = self.open.get_mut(&key) else {
                continue;
            };
            open.touched = false;
            let written = open.tape.flush();
            open.tape.trim();
            let file = open.tape.file().filter(|_| self.synced);
            self.unsynced.extend(file.map(|file| Unsynced {
                gate: Arc::clone(&open.gate),
                file,
                written,
            }));
        }
    }

    /// The files written since the last call that are not synced.
    pub(crate) fn unsynced(&mut self) -> Vec<Unsynced> {
        std::mem::take(&mut self.unsynced)
    }

    /// Finishes the files of sessions that have been silent for long.
    pub(crate) fn tick(&mut self, now: Offset) {
        self.now = self.now.max(now);
        if self.judging.is_some() || self.operations.is_some() {
            self.open.values_mut().for_each(|open| open.tape.tick(now));
        }
        self.look();
    }

    /// What the disk did not take so far.
    pub(crate) fn lost(&self) -> Amount {
        let open = self.open.values().map(|open| open.tape.lost());
        open.fold(self.lost, Amount::and)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Closes all tapes and writes their projections.
    pub(crate) fn finish(&mut self, now: Offset) -> Finished {
        self.finished = true;
        self.now = self.now.max(now);
        let mut keys: Vec<_> = self.open.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            self.close(key, Closing::Settled);
        }
        for key in std::mem::take(&mut self.due) {
            self.project(key);
        }
        let written = self.cassettes.finish();
        let mut finished = std::mem::take(&mut self.done);
        let (sessions, unlisted, problems) = written.into_files();
        finished.sessions = sessions;
        finished.sessions.order_by_key(|files| files.session);
        finished.unlisted = unlisted;
        finished.problems.extend(problems);
        finished
    }

    /// Removes the tapes, which are empty.
    pub(crate) fn remove(&mut self) {
        self.finished = true;
        self.open.values_mut().for_each(|open| open.tape.remove());
        self.open.clear();
    }

    /// Opens a tape for a session, its first or another one.
    fn begin(&mut self, key: SessionKey) {
        while self.open.len() >= self.most_open {
            // Close the tapes of sessions that have ended first.
            let silent = |(_, open): &(&SessionKey, &Open)| (!open.ended, open.stamp);
            let Some((oldest, _)) = self.open.iter().min_by_key(silent) else {
                break;
            };
            let oldest = *oldest;
            self.close(oldest, Closing::MakesRoom);
        }
        let known = self.known.get(&key);
        let (before, volume) = known.map_or((&[][..], 0), |known| (&known.tapes, known.volume));
        let part = before.len() + 1;
        let name = if part == 1 {
            format!("{}{TAPE_ENDING}", self.name(key))
        } else {
            format!("{}.part{part}{TAPE_ENDING}", self.name(key))
        };
        let continues = before.last().and_then(|path| path.file_name());
        let header = Header {
            session: Some(key.0),
            continues: continues.unwrap_or_default().to_string_lossy().into_owned(),
            ..self.header.clone()
        };
        let path = numbered(&self.path.join(name), volume + 1);
        let redactor = Redactor::new(Arc::clone(&self.rules));
        let target = Target::tape_only(&path);
        let tape = TapeWriter::open(
            target,
            header,
            redactor,
            self.judging.clone(),
            self.operations.clone(),
            Arc::clone(&self.disk),
        );
        self.open.insert(
            key,
            Open {
                tape,
                gate: Arc::default(),
                last: self.now,
                stamp: 0,
                touched: false,
                ended: false,
            },
        );
    }

    /// Closes the tape of a session.
    fn close(&mut self, key: SessionKey, why: Closing) {
        let Some(mut open) = self.open.remove(&key) else {
            return;
        };
        let closed = open.tape.close(self.now);
        if let Some(file) = open.tape.file().filter(|_| self.synced && open.touched) {
            let written = open.tape.flush();
            self.unsynced.push(Unsynced {
                gate: open.gate,
                file,
                written,
            });
        }
        self.done.events += closed.events;
        self.done.gaps = sum(self.done.gaps, closed.gaps);
        self.done.findings.add(closed.findings);
        let gaps = !closed.gaps.is_empty() || closed.lost.is_some();
        self.done.lost = self.done.lost.take().or(closed.lost);
        self.lost = self.lost.and(open.tape.lost());
        let Some(path) = closed.tape else { return };
        self.remember(key);
        if let Some(known) = self.known.get_mut(&key) {
            known.tapes.push(path);
            known.last = open.last;
            known.gaps |= gaps;
        }
        self.due.insert(key);
        let full = self
            .known
            .get(&key)
            .is_some_and(|known| known.tapes.len() >= CHAIN);
        if why == Closing::Settled || open.ended || full {
            self.project(key);
        }
    }

    /// Adds a session, and forgets the one that was added first if there are too many.
    fn remember(&mut self, key: SessionKey) {
        if self.known.contains_key(&key) {
            return;
        }
        if self.order.len() >= KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.project(oldest);
            self.known.remove(&oldest);
        }
        self.order.push_back(key);
        self.known.insert(key, SessionFiles::default());
    }

    /// Queues the tapes of a session for projection to a cassette and a capture.
    fn project(&mut self, key: SessionKey) {
        self.due.remove(&key);
        let name = self.name(key);
        let Some(known) = self
            .known
            .get_mut(&key)
            .filter(|known| !known.tapes.is_empty())
        else {
            return;
        };
        let number = known.volume + 1;
        let place = |ending: &str| numbered(&self.path.join(format!("{name}{ending}")), number);
        let target = Target::tape_only(Path::new(""));
        self.cassettes.project(Job {
            session: key.0,
            tapes: known.tapes.clone(),
            target: Target {
                cassette: Some(place(".json")),
                capture: Some(place(".capture.json")),
                times: self.times,
                ..target
            },
            number,
            gaps: known.gaps,
        });
        known.rewrites += 1;
        if known.rewrites >= REWRITES || known.tapes.len() >= CHAIN {
            *known = SessionFiles {
                volume: known.volume + 1,
                last: known.last,
                ..SessionFiles::default()
            };
        }
    }

    /// Finishes sessions that have been silent for long, or have ended.
    fn look(&mut self) {
        let linger = LINGER_US.min(self.idle_us);
        self.next_look = Offset(self.now.0.saturating_add(linger / 2 + 1));
        let now = self.now;
        let over = |last: Offset, ended: bool| {
            let limit = if ended { linger } else { self.idle_us };
            now.since(last).0 >= limit
        };
        let open = self.open.iter();
        let silent: Vec<_> = open
            .filter(|(_, open)| over(open.last, open.ended))
            .map(|(key, _)| *key)
            .collect();
        let due = self.due.iter().filter(|key| {
            let known = self.known.get(key);
            !self.open.contains_key(key) && known.is_none_or(|known| over(known.last, false))
        });
        let due: Vec<_> = due.copied().collect();
        for key in silent {
            self.close(key, Closing::Settled);
        }
        for key in due {
            self.project(key);
        }
    }

    /// The prefix of the names of a session's files.
    fn name(&self, key: SessionKey) -> String {
        match key {
            SessionKey(0) => format!("{}-lane", self.stem),
            SessionKey(number) => format!("{}-s{number}", self.stem),
        }
    }
}

fn sum(one: GapTotal, other: GapTotal) -> GapTotal {
    GapTotal {
        count: one.count + other.count,
        events: one.events.saturating_add(other.events),
        bytes: one.bytes.saturating_add(other.bytes),
    }
}

#[cfg(test)]
mod tests;
