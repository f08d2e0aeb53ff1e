//! One tape, one for each session, or a preview.

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
    /// Nothing is written; there is a judge or listener.
    Preview(Box<Preview>),
}

/// Written data that is not known to be synced.
#[derive(Debug)]
pub(crate) struct Unsynced {
    pub(crate) gate: Arc<SyncGate>,
    pub(crate) file: Arc<File>,
    pub(crate) written: u64,
}

impl Unsynced {
    /// Waits until it is synced.
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

    /// Adds an event, which is written with the next [`flush`](Self::flush).
    #[inline]
    pub(crate) fn encode(&mut self, event: &mut Event) {
        match self {
            Self::One(tape) => tape.encode(event),
            Self::Folder(folder) => folder.encode(event),
            Self::Preview(preview) => preview.encode(event),
        }
    }

    /// Writes the added events.
    pub(crate) fn flush(&mut self) {
        match self {
            Self::One(tape) => drop(tape.flush()),
            Self::Folder(folder) => folder.flush(),
            Self::Preview(_) => {}
        }
    }

    /// Handles silent sessions, and updates the judges' time.
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
            // Over HTTP, the connections know their pending requests.
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
