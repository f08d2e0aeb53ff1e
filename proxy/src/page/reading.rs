//! The thread that reads tapes while a page is open.
//!
//! It reads tapes while they are written, at the lowest priority, and while the recorder is busy
//! only as much as [`Pace`] allows: the recorder does no work for it, and never waits for it. A
//! finished tape is read in the same way.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tapewright_schemas::event::Offset;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::tape::Header;

use super::content::{PageContent, Search, Source, TapeFilter};
use super::fold::Fold;
use super::linked::Linked;
use super::pace::{LOOK, Pace};
use super::tape::Tape;
use crate::behind::aside;
use crate::clock::processor_time;
use crate::growth::{Growth, WaitEnd};

/// The number of events read from one tape before the next one is read, and while the recorder is
/// busy.
const TURN: usize = 512;
const SMALL_TURN: usize = 64;
/// The time after which to check again whether a writer has released its tape.
const SETTLED: Duration = Duration::from_millis(500);
/// The maximum number of tapes.
const TAPES: usize = 1_024;

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOutcome {
    /// Some events, and there may be more.
    Some,
    /// Some events, and the rest must wait for the recorder.
    Enough,
    /// No events.
    Nothing,
}

impl PageContent {
    pub(super) fn run(&self, source: Source, mut pace: Pace) {
        let (path, search) = self.begin(source);
        // Growing tapes are only watched while a page is open and there is little traffic.
        let mut growth: Option<Growth> = None;
        let (mut is_due, mut settles) = (true, false);
        let mut linked = search
            .as_ref()
            .is_some_and(|search| search.several)
            .then(Linked::default);
        while let Some((most, has_waited)) = self.viewer() {
            if has_waited {
                (growth, is_due) = (None, true);
                self.lock().reads_all = false;
            }
            if std::mem::take(&mut is_due) {
                is_due = search.as_ref().is_some_and(|search| self.search(search));
            }
            match self.read(&mut pace) {
                ReadOutcome::Some => continue,
                ReadOutcome::Enough => {
                    // Watching slows the writer as well.
                    (growth, is_due) = (None, true);
                    self.pause();
                    continue;
                }
                ReadOutcome::Nothing => {}
            }
            let Some(growth) = &growth else {
                // First read what came before the watch.
                growth = Some(self.watched(path.as_deref(), search.as_ref()));
                is_due = true;
                continue;
            };
            if let Some(linked) = linked.as_mut().filter(|_| !settles) {
                self.link(linked);
            }
            let soon = settles.then_some(SETTLED);
            let over = growth.wait(soon.into_iter().chain(most).min(), Some(&self.wakeup));
            settles = matches!(over, WaitEnd::Grown { .. });
            is_due |= over == WaitEnd::Grown { came: true };
        }
    }

    /// Takes the source; returns the path to watch, and the search for tapes.
    fn begin(&self, source: Source) -> (Option<PathBuf>, Option<Search>) {
        match source {
            Source::Document(document) => {
                let fold = Fold::new(None, document.timed, self.long);
                self.lock().document = Some((Arc::new(*document), fold, false));
                (None, None)
            }
            Source::Folder(wanted) => (Some(wanted.folder.clone()), Some(wanted)),
            Source::Tape(path) => {
                self.open(&path, None);
                (Some(path), None)
            }
        }
    }

    fn watched(&self, place: Option<&Path>, search: Option<&Search>) -> Growth {
        let mut growth = Growth::default();
        if let Some(place) = place.filter(|_| !self.is_over(search)) {
            growth.add(place);
        }
        growth
    }

    /// Leaves the processor to the recorder for a moment.
    fn pause(&self) {
        let state = self.lock();
        if state.closed || state.reads_all {
            return;
        }
        // An early wake-up has a reason.
        drop(
            self.wake
                .wait_timeout(state, LOOK)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Links tool uses with tool calls when there is little traffic and there are new events.
    fn link(&self, linked: &mut Linked) {
        let state = self.lock();
        let events = state.tapes.iter().map(Tape::events).sum();
        if !linked.is_due(events) {
            return;
        }
        let tapes: Vec<_> = state.tapes.iter().map(Tape::to_link).collect();
        drop(state);
        // Rows that cannot be read now were written without links.
        let told = linked.tell(&tapes, events, self.row_writer());
        if told.unwrap_or(false) && self.rows.flush().is_ok() {
            self.changed();
        }
    }

    /// Whether there can be no more events.
    fn is_over(&self, search: Option<&Search>) -> bool {
        search.is_none() && self.lock().tapes.iter().all(Tape::is_over)
    }

    /// Waits for a viewer: returns how long it stays at least, if known, and whether there was a
    /// wait. `None` if there will be no more viewers.
    fn viewer(&self) -> Option<(Option<Duration>, bool)> {
        let mut state = self.lock();
        let mut has_waited = false;
        while !state.closed {
            if state.looking > 0 {
                return Some((None, has_waited));
            }
            let rest = state.asked_until.0.saturating_sub(self.clock.now().0);
            if rest > 0 {
                return Some((Some(Duration::from_micros(rest)), has_waited));
            }
            has_waited = true;
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Searches for new tapes; returns whether there is one whose header is not complete yet.
    fn search(&self, search: &Search) -> bool {
        let known = self.lock().known.clone();
        let entries = std::fs::read_dir(&search.folder)
            .into_iter()
            .flatten()
            .flatten();
        let paths = entries.map(|entry| entry.path());
        let is_tape = |path: &PathBuf| path.to_string_lossy().ends_with(".tape.jsonl");
        let mut fresh: Vec<PathBuf> = paths
            .filter(|path| is_tape(path) && !known.contains(path))
            .collect();
        fresh.order();
        fresh.iter().fold(false, |is_due, path| {
            !self.open(path, Some(search)) | is_due
        })
    }

    /// Opens a tape if it is wanted; returns whether that is decided.
    fn open(&self, path: &Path, search: Option<&Search>) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = name.strip_suffix(".tape.jsonl").unwrap_or(&name);
        let part = search
            .filter(|search| search.several)
            .map(|_| part.to_owned());
        let mut state = self.lock();
        let opened = match Tape::open(path, part, self.long) {
            // Its header is not complete yet.
            Ok(None) => return false,
            Ok(Some(tape)) => Some(tape),
            Err(error) => {
                state.problem = Some(error.to_string());
                None
            }
        };
        state.known.insert(path.to_owned());
        let Some(mut tape) = opened else { return true };
        if search.is_some_and(|search| !search.tapes.is(&tape.header)) || state.tapes.len() >= TAPES
        {
            return true;
        }
        let began = |header: &Header| self.words.began_us(&header.created);
        let first = state.tapes.first().map(|first| began(&first.header));
        if let (Some(first), here) = (first, began(&tape.header)) {
            let ms = |from: u64, to: u64| Offset(to.saturating_sub(from)).millis();
            tape.fold.later_by(ms(first, here) - ms(here, first));
        }
        state.tapes.push(tape);
        drop(state);
        self.changed();
        true
    }

    /// Reads some of everything.
    fn read(&self, pace: &mut Pace) -> ReadOutcome {
        let now = self.clock.now();
        pace.settle(now, processor_time());
        if pace.is_due(now) {
            pace.grown(now, self.written_bytes());
            if pace.steps_back() {
                // There is a recorder.
                aside();
            }
        }
        let reads_all = self.lock().reads_all;
        let (read, has_left) = if reads_all || pace.may_read() {
            let turn = if pace.is_busy() && !reads_all {
                SMALL_TURN
            } else {
                TURN
            };
            let read = self.read_some(turn).unwrap_or_else(|error| {
                self.lock().problem = Some(error.to_string());
                0
            });
            (read, true)
        } else {
            (0, false)
        };
        if read > 0 {
            return ReadOutcome::Some;
        }
        if has_left {
            self.lock().reads_all = false;
            return ReadOutcome::Nothing;
        }
        // Rows that cannot be shown now are read with the rest.
        let told = self.tell_newest();
        if told.unwrap_or(false) {
            self.changed();
        }
        ReadOutcome::Enough
    }

    /// Length of the tapes that are being written; `None` if there are none.
    fn written_bytes(&self) -> Option<u64> {
        let state = self.lock();
        let written = state.tapes.iter().filter_map(Tape::written_bytes);
        written.reduce(|sum, one| sum + one)
    }

    /// Writes the newest rows of tapes that are behind; returns whether there is something new.
    fn tell_newest(&self) -> io::Result<bool> {
        let to = self.row_writer();
        let mut is_new = false;
        for tape in &mut self.lock().tapes {
            is_new |= tape.tell_newest(to)?;
        }
        self.rows.flush()?;
        Ok(is_new)
    }

    /// Reads up to this many events of each tape; returns their number.
    fn read_some(&self, turn: usize) -> io::Result<usize> {
        let mut read = 0;
        let to = self.row_writer();
        let mut state = self.lock();
        if let Some((document, fold, done)) = &mut state.document
            && !*done
        {
            *done = true;
            document
                .events
                .iter()
                .try_for_each(|event| fold.observe(event, None, to))?;
            fold.finish(to)?;
            read += 1;
        }
        for at in 0..state.tapes.len() {
            if let Some(tape) = state.tapes.get_mut(at) {
                read += tape.read_on(turn, to)?;
            }
            // Others wait for the state: a reader that sees the end must find all rows.
            self.rows.flush()?;
            drop(state);
            state = self.lock();
        }
        if read == 0 {
            for tape in &mut state.tapes {
                let was_over = tape.is_over();
                tape.rest(to)?;
                read += usize::from(tape.is_over() && !was_over);
            }
        }
        // Before others can see the state.
        self.rows.flush()?;
        drop(state);
        if read > 0 {
            self.changed();
        }
        Ok(read)
    }
}

impl TapeFilter {
    pub(crate) fn is(&self, header: &Header) -> bool {
        match self {
            Self::PartOf(id) => header.part_of == *id,
            Self::Single => header.part_of.is_empty() && header.redacted,
            Self::Recorder { pid, created } => header.pid == *pid && header.created == *created,
        }
    }
}
