//! The thread that reads tapes while they are written.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::tape::{Opened, Tape};
use super::{End, MakeObserver};
use crate::clock::{self, Clock};
use crate::growth::{Growth, WaitEnd, Wakeup};
use crate::page::Search;
use tapewright_schemas::order::Order as _;

/// Reads tapes while they are written.
pub(super) struct Follower {
    search: Search,
    make: MakeObserver,
    pace: Duration,
    end: Arc<End>,
    wakeup: Arc<Wakeup>,
    tapes: Vec<Tape>,
    // The tapes that were opened, and files to ignore.
    known: HashSet<PathBuf>,
}

/// The number of events read from one tape before the next one is read.
const TURN: usize = 512;
/// The maximum number of open tapes; others wait until one ends.
const OPEN: usize = 256;
/// The maximum time between two reads of a growing tape; the results are not read more often.
const PACE: Duration = Duration::from_secs(1);
/// The time without new events after which exchanges are reported although nothing followed their
/// answer.
const QUIET: Duration = Duration::from_secs(2);
/// The further time after which ended sessions are reported.
const STILL: Duration = Duration::from_secs(15);

/// Pauses between reads while nothing arrives; after the last, the thread sleeps until it is woken.
const QUIETER: &[Duration] = &[QUIET, STILL];

impl Follower {
    pub(super) fn new(
        search: Search,
        make: MakeObserver,
        pace: Duration,
        end: Arc<End>,
        wakeup: Arc<Wakeup>,
    ) -> Self {
        Self {
            search,
            make,
            pace: pace.min(PACE),
            end,
            wakeup,
            tapes: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// Reads until the recording has ended, and everything was read or the time for it is over;
    /// returns the number of unread bytes.
    pub(super) fn run(mut self) -> u64 {
        let mut growth = Growth::default();
        growth.add(&self.search.folder);
        // Not woken by growth: a busy recorder is only checked once in a while.
        let pause = Growth::default();
        let clock = Clock::start();
        let (mut is_due, mut waits, mut since) = (true, QUIETER, Duration::ZERO);
        while !self.end.has_come() {
            if is_due {
                is_due = self.search();
            }
            if self.read() > 0 {
                (waits, since) = (QUIETER, clock.elapsed());
            }
            let quiet = clock.elapsed().saturating_sub(since);
            let rest = waits.first().map(|most| most.saturating_sub(quiet));
            match growth.wait(rest, Some(&self.wakeup)) {
                // Perhaps nothing has grown: not every system tells.
                WaitEnd::Grown { came } => {
                    is_due |= came;
                    // Whatever ended the wait, read what is available.
                    let _woken_or_over = pause.wait(Some(self.pace), Some(&self.wakeup));
                }
                WaitEnd::Time => {
                    self.settle();
                    waits = waits.split_first().map_or(&[], |(_, later)| later);
                    since = clock.elapsed();
                }
                WaitEnd::Woken => {}
            }
        }
        self.search();
        while self.turn() > 0 && !self.end.is_past() {}
        self.unread()
    }

    /// Ends all open tapes, including those that waited to be opened; returns the number of unread
    /// bytes.
    fn unread(&mut self) -> u64 {
        let mut unread = 0;
        while !self.tapes.is_empty() {
            for tape in &mut self.tapes {
                unread += tape.unread();
                tape.finish();
            }
            self.tapes.clear();
            self.search();
        }
        unread
    }

    /// Reads what is available, unless the recording ends; returns the number of events.
    fn read(&mut self) -> usize {
        let mut all = 0;
        while !self.end.has_come() {
            let read = self.turn();
            all += read;
            if read == 0 {
                break;
            }
        }
        all
    }

    /// Reads some events of each tape; returns their number.
    fn turn(&mut self) -> usize {
        let mut read = 0;
        for tape in &mut self.tapes {
            read += tape.read_on(TURN);
        }
        let open = self.tapes.len();
        self.tapes.retain(|tape| !tape.is_over());
        if self.tapes.len() < open {
            // Others may have waited to be opened.
            self.search();
        }
        read
    }

    /// Handles a time without new events.
    fn settle(&mut self) {
        // Events since then may not be on the tape yet.
        let now = clock::wall();
        let now = now.checked_sub(QUIET).unwrap_or(now);
        for tape in &mut self.tapes {
            tape.rest(now);
        }
        self.tapes.retain(|tape| !tape.is_over());
    }

    /// Searches for new tapes; returns whether there is one whose header is not complete yet.
    fn search(&mut self) -> bool {
        let entries = std::fs::read_dir(&self.search.folder);
        let paths = entries.into_iter().flatten().flatten();
        let mut fresh: Vec<PathBuf> = paths
            .map(|entry| entry.path())
            .filter(|path| is_tape(path) && !self.known.contains(path))
            .collect();
        fresh.order();
        let mut is_due = false;
        for path in fresh {
            if self.tapes.len() >= OPEN {
                return true;
            }
            is_due |= !self.open(path);
        }
        is_due
    }

    /// Opens a tape if it is wanted; returns whether that is decided.
    fn open(&mut self, path: PathBuf) -> bool {
        let wanted = &self.search.tapes;
        match Tape::open(&path, |header| wanted.is(header), &self.make) {
            Ok(Opened::Unknown) => return false,
            Ok(Opened::Tape(tape)) => self.tapes.push(*tape),
            // A file that cannot be opened was not written by this recorder.
            Ok(Opened::Nothing) | Err(_) => {}
        }
        self.known.insert(path);
        true
    }
}

fn is_tape(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".tape.jsonl")
}
