//! The thread that reads tapes while a page is open.
//!
//! It reads tapes behind their writers, from then on at the lowest priority, and beside a busy
//! recorder as little as [`Pace`] allows: the recorder does nothing for it and waits for nothing of
//! it. A finished tape is read like everything else.

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
use crate::clock::processor_time;
use crate::growth::{Growth, WaitEnd};
use crate::system::process::{Rank, step_back};

/// How many events of a tape are read before it is another one's turn, and beside a busy
/// recorder.
const TURN: usize = 512;
const SMALL_TURN: usize = 64;
/// After what time it is looked once more whether a writer that has gone has let its tape go.
const SETTLED: Duration = Duration::from_millis(500);
/// How many tapes are shown.
const TAPES: usize = 1_024;

/// What there was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOutcome {
    /// Something, and there may be more.
    Some,
    /// Something, and more is to be left to the recorder.
    Enough,
    /// Nothing.
    Nothing,
}

impl PageContent {
    pub(super) fn run(&self, source: Source, mut pace: Pace) {
        let (path, search) = self.begin(source);
        // Growing tapes are watched only while a page is open and little happens.
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
                    // A watch costs the writer as well.
                    (growth, is_due) = (None, true);
                    self.pause();
                    continue;
                }
                ReadOutcome::Nothing => {}
            }
            let Some(growth) = &growth else {
                // What came before it was watched is read first.
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

    /// Takes what is shown; where it grows, and which tapes are looked for there.
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

    /// Tells who asked for what, once it is quiet and there is more than there was.
    fn link(&self, linked: &mut Linked) {
        let state = self.lock();
        let events = state.tapes.iter().map(Tape::events).sum();
        if !linked.is_due(events) {
            return;
        }
        let tapes: Vec<_> = state.tapes.iter().map(Tape::to_link).collect();
        drop(state);
        // What cannot be read now was told without links.
        let told = linked.tell(&tapes, events, self.row_writer());
        if told.unwrap_or(false) && self.rows.flush().is_ok() {
            self.changed();
        }
    }

    /// Whether nothing more can come.
    fn is_over(&self, search: Option<&Search>) -> bool {
        search.is_none() && self.lock().tapes.iter().all(Tape::is_over)
    }

    /// Waits for a viewer: how long it stays at least, if that is known, and whether there was a
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

    /// Looks for tapes that are new; whether there is one of which nothing is known yet.
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

    /// Opens a tape, where it is one of those that are looked for; whether that is known.
    fn open(&self, path: &Path, search: Option<&Search>) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = name.strip_suffix(".tape.jsonl").unwrap_or(&name);
        let part = search
            .filter(|search| search.several)
            .map(|_| part.to_owned());
        let mut state = self.lock();
        let opened = match Tape::open(path, part, self.long) {
            // Its header will come.
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

    /// Reads a bit of everything.
    fn read(&self, pace: &mut Pace) -> ReadOutcome {
        let now = self.clock.now();
        pace.settle(now, processor_time());
        if pace.is_due(now) {
            pace.grown(now, self.written_bytes());
            if pace.steps_back() {
                // Beside a recorder.
                step_back(Rank::Last);
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
        // What cannot be shown now will be read with the rest.
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

    /// Tells the newest rows of tapes that are behind; whether there is something new.
    fn tell_newest(&self) -> io::Result<bool> {
        let to = self.row_writer();
        let mut is_new = false;
        for tape in &mut self.lock().tapes {
            is_new |= tape.tell_newest(to)?;
        }
        self.rows.flush()?;
        Ok(is_new)
    }

    /// Reads so many events of each tape; how many that were.
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
            // Others wait for the state: a reader that is told of the end finds all rows.
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
        // Before others can be told how it stands.
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
