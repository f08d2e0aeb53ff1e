//! The thread that reads tapes behind their writers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::tape::{Opened, Tape};
use super::{End, MakeObserver};
use crate::clock;
use crate::growth::{Growth, WaitEnd, Wakeup};
use crate::page::Search;
use tapewright_schemas::order::Order as _;

/// Reads tapes behind their writers.
pub(super) struct Follower {
    search: Search,
    make: MakeObserver,
    pace: Duration,
    end: Arc<End>,
    wakeup: Arc<Wakeup>,
    tapes: Vec<Tape>,
    // The tapes that were opened, or are none of ours.
    known: HashSet<PathBuf>,
}

/// How many events of a tape are read before it is another one's turn.
const TURN: usize = 512;
/// How many tapes are open at once; more of them wait until others are over.
const OPEN: usize = 256;
/// Longest time between two reads of a growing tape; the results are not read more often.
const PACE: Duration = Duration::from_secs(1);
/// After what time without news exchanges are told whose answer nothing has followed.
const QUIET: Duration = Duration::from_secs(2);
/// After what further time sessions that have ended are told of.
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

    /// Reads until the recording has ended, and everything was read or the time for it is over; how much was not read, in bytes.
    pub(super) fn run(mut self) -> u64 {
        let mut growth = Growth::default();
        growth.add(&self.search.folder);
        // Not woken by what grows: a busy recorder is looked at once in a while.
        let pause = Growth::default();
        let (mut is_due, mut waits) = (true, QUIETER);
        while !self.end.has_come() {
            if is_due {
                is_due = self.search();
            }
            let read = self.read();
            let over = growth.wait(waits.first().copied(), Some(&self.wakeup));
            match over {
                WaitEnd::Grown { came } => {
                    is_due |= came;
                    waits = QUIETER;
                    // Whatever ends it, it is looked at what there is.
                    let _woken_or_over = pause.wait(Some(self.pace), Some(&self.wakeup));
                }
                WaitEnd::Time if read == 0 => {
                    self.settle();
                    waits = waits.split_first().map_or(&[], |(_, later)| later);
                }
                WaitEnd::Woken | WaitEnd::Time => {}
            }
        }
        self.search();
        while self.turn() > 0 && !self.end.is_past() {}
        self.unread()
    }

    /// Ends what is not over, also of tapes that waited for their places; how much of them was not read, in bytes.
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

    /// Reads what is there, unless the recording ends; how many events that were.
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

    /// Reads a bit of each tape; how many events that were.
    fn turn(&mut self) -> usize {
        let mut read = 0;
        for tape in &mut self.tapes {
            read += tape.read_on(TURN);
        }
        let open = self.tapes.len();
        self.tapes.retain(|tape| !tape.is_over());
        if self.tapes.len() < open {
            // Others may have waited for their places.
            self.search();
        }
        read
    }

    /// Nothing has come for a while.
    fn settle(&mut self) {
        // What was seen since then may still be on its way to the tape.
        let now = clock::wall();
        let now = now.checked_sub(QUIET).unwrap_or(now);
        for tape in &mut self.tapes {
            tape.rest(now);
        }
        self.tapes.retain(|tape| !tape.is_over());
    }

    /// Looks for tapes that are new; whether there is one of which nothing is known yet.
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

    /// Opens a tape, where it is one of those that are looked for; whether that is known.
    fn open(&mut self, path: PathBuf) -> bool {
        let wanted = &self.search.tapes;
        match Tape::open(&path, |header| wanted.is(header), &self.make) {
            Ok(Opened::Unknown) => return false,
            Ok(Opened::Tape(tape)) => self.tapes.push(*tape),
            // What cannot be opened now was not written by us.
            Ok(Opened::Nothing) | Err(_) => {}
        }
        self.known.insert(path);
        true
    }
}

fn is_tape(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".tape.jsonl")
}
