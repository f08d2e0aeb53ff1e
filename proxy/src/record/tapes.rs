//! One tape, or one for each session, or none that is kept.

use std::fs::File;
use std::sync::Arc;

use tapewright_schemas::event::{Event, Offset};

use super::Settings;
use super::finish::Finished;
use super::folder::Folder;
use super::preview::Preview;
use super::queue::Disk;
use super::stats::Amount;
use super::sync::SyncGate;
use super::tape_file::TapeWriter;

/// Where events are written.
#[derive(Debug)]
pub(crate) enum Tapes {
    /// A tape for each session.
    Folder(Box<Folder>),
    /// One tape of the whole run.
    One(Box<TapeWriter>),
    /// Nothing is kept; there is a listener.
    Preview(Box<Preview>),
}

/// Something that was written and is not known to be on the disk.
#[derive(Debug)]
pub(crate) struct Unsynced {
    pub(crate) gate: Arc<SyncGate>,
    pub(crate) file: Arc<File>,
    pub(crate) written: u64,
}

impl Unsynced {
    /// Waits until it is.
    pub(crate) fn wait(&self) {
        self.gate.wait(&self.file, self.written);
    }
}

impl Tapes {
    pub(crate) fn create(mut settings: Settings, disk: Arc<Disk>) -> Self {
        match settings.target.folder.take() {
            Some(target) => Self::Folder(Box::new(Folder::new(target, settings, disk))),
            None => Self::One(Box::new(TapeWriter::create(settings, disk))),
        }
    }

    /// Adds an event; it is in its file after the next [`flush`](Self::flush).
    #[inline]
    pub(crate) fn encode(&mut self, event: &mut Event) {
        match self {
            Self::One(tape) => tape.encode(event),
            Self::Folder(folder) => folder.encode(event),
            Self::Preview(preview) => preview.encode(event),
        }
    }

    /// Writes what was added.
    pub(crate) fn flush(&mut self) {
        match self {
            Self::One(tape) => drop(tape.flush()),
            Self::Folder(folder) => folder.flush(),
            Self::Preview(_) => {}
        }
    }

    /// Looks after what has been silent for long, and lets judges know the time.
    pub(crate) fn tick(&mut self, now: Offset) {
        match self {
            Self::One(tape) => tape.tick(now),
            Self::Folder(folder) => folder.tick(now),
            Self::Preview(preview) => preview.tick(now),
        }
    }

    pub(crate) fn owed(&self) -> usize {
        match self {
            Self::One(tape) => tape.owed(),
            Self::Preview(preview) => preview.owed(),
            // Over HTTP it is known to those who hold the connections.
            Self::Folder(_) => 0,
        }
    }

    /// What the disk did not take so far.
    pub(crate) fn lost(&self) -> Amount {
        match self {
            Self::One(tape) => tape.lost(),
            Self::Folder(folder) => folder.lost(),
            Self::Preview(_) => Amount::default(),
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::One(tape) => tape.is_finished(),
            Self::Folder(folder) => folder.is_finished(),
            Self::Preview(preview) => preview.is_finished(),
        }
    }

    pub(crate) fn finish(&mut self, now: Offset) -> Finished {
        match self {
            Self::One(tape) => tape.finish(now),
            Self::Folder(folder) => folder.finish(now),
            Self::Preview(preview) => preview.finish(now),
        }
    }

    pub(crate) fn remove(&mut self) {
        match self {
            Self::One(tape) => tape.remove(),
            Self::Folder(folder) => folder.remove(),
            Self::Preview(_) => {}
        }
    }
}
