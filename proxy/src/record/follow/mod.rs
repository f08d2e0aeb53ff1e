//! Projects a tape while it is written, so that little is left to do at its end.
//!
//! A thread of low priority reads the tape while it is written, line by line, and feeds the
//! projectors of the cassette and the capture, whose memory is bounded. Their output is in files
//! without names, so nothing is left if the process dies. At the end the code that finishes the
//! recording takes over the projectors, and completes them.
//!
//! The remaining work is bounded: if processors are scarce the thread gets little time, and when it
//! is more than [`BEHIND`] behind, the writer projects as much as it writes.
//!
//! This is optional: if it is not possible, or fails, the tape is projected at its end, with the
//! same result.

mod handed;
mod progress;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use tapewright_schemas::tape::{Ending, Reader};
use tapewright_schemas::{capture, cassette};

use self::handed::Known;
use self::progress::Behind;
use super::finish::{Content, folder_of, spool};
use super::names::Target;
use crate::system::Rank;
use crate::system::process::step_back;
use crate::system::{files, unnamed};

pub(crate) use self::handed::Facts;
pub(crate) use self::progress::Progress;

/// The minimum size of a tape that is followed: a shorter one is projected quickly at its end.
pub(crate) const FROM: u64 = 1 << 20;

/// How far the projections may be behind the tape, in bytes, in addition to one write: the work
/// that is left at its end.
pub(crate) const BEHIND: u64 = 4 << 20;

/// How much the thread reads before others get the lock, in bytes.
const TURN: u64 = 16 << 10;

/// Projects a tape while it is written.
#[derive(Debug)]
pub(crate) struct Follower {
    progress: Arc<Progress>,
    shared: Arc<Shared>,
}

/// The projections in progress; `None` after they failed, or were taken.
#[derive(Debug)]
struct Shared(Mutex<Option<Following>>);

/// The projections of a tape that was followed to its end.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) cassette: Option<Draft>,
    pub(crate) capture: Option<Draft>,
}

/// A complete projection without a name.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    content: Content,
}

impl Draft {
    /// Gives it an unused name, and returns its content.
    pub(super) fn name(self, path: &Path) -> io::Result<(File, Content)> {
        unnamed::name(&self.file, path)?;
        Ok((self.file, self.content))
    }
}

impl Follower {
    /// Starts to follow a tape, if that is possible and a projection is requested.
    pub(crate) fn start(tape: &Path, target: &Target, progress: &Arc<Progress>) -> Option<Self> {
        let follower = Self::alone(tape, target, progress)?;
        let (shared, progress) = (Arc::clone(&follower.shared), Arc::clone(progress));
        thread::Builder::new()
            .name("cassette".to_owned())
            .spawn(move || follow(&shared, &progress))
            .ok()?;
        Some(follower)
    }

    /// Like `start`, without a thread: only the writer projects.
    pub(super) fn alone(tape: &Path, target: &Target, progress: &Arc<Progress>) -> Option<Self> {
        let file = File::open(tape).ok()?;
        let following = Following::begin(file, target, progress).ok()?;
        Some(Self {
            progress: Arc::clone(progress),
            shared: Arc::new(Shared(Mutex::new(Some(following)))),
        })
    }

    /// Makes the writer of this many bytes project if the thread is too far behind: more than was
    /// written, so that the distance shrinks.
    pub(crate) fn keep_up(&self, written: u64) {
        if self.progress.behind() > BEHIND {
            self.shared.read_on(written.saturating_mul(2));
        }
    }

    /// Does the remaining work, after the tape has its footer. `None` if the tape must be projected
    /// from its start.
    pub(crate) fn finish(self) -> Option<Drafts> {
        self.progress.close();
        // The thread ends on its own and is not joined.
        let following = self.shared.lock().take()?;
        following.finish().ok()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.progress.close();
    }
}

/// The projections in progress.
#[derive(Debug)]
struct Following {
    progress: Arc<Progress>,
    reader: Reader<Behind>,
    known: Known,
    cassette: Option<(cassette::Projector<File>, PathBuf)>,
    capture: Option<(capture::Projector<File>, PathBuf)>,
    // Events since the free space of the disk was last checked.
    since: u32,
}

/// The free space that is left for the tape, in bytes.
const ROOM: u64 = 64 << 20;
/// The number of events between two checks of it.
const LOOK: u32 = 4_096;

/// Follows the tape until it ends, or the follower is dropped.
fn follow(shared: &Shared, progress: &Progress) {
    step_back(Rank::Behind);
    while !progress.is_closed() {
        if !progress.is_ahead() {
            progress.wait();
        } else if !shared.read_on(TURN) {
            return;
        }
    }
}

impl Shared {
    /// Projects up to this many bytes plus a line; returns whether it can continue.
    fn read_on(&self, bytes: u64) -> bool {
        let mut shared = self.lock();
        let Some(following) = shared.as_mut() else {
            return false;
        };
        let goes_on = following.read_on(bytes).is_ok();
        if !goes_on {
            *shared = None;
        }
        goes_on
    }

    fn lock(&self) -> MutexGuard<'_, Option<Following>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            // A panic in between left a partial event.
            let mut shared = poisoned.into_inner();
            *shared = None;
            shared
        })
    }
}

impl Following {
    fn begin(tape: File, target: &Target, progress: &Arc<Progress>) -> io::Result<Self> {
        let behind = Behind::new(tape, Arc::clone(progress));
        let reader = Reader::open(behind).map_err(io::Error::other)?;
        let mut following = Self {
            progress: Arc::clone(progress),
            cassette: None,
            capture: None,
            reader,
            known: Known::default(),
            since: 0,
        };
        let header = following.reader.header();
        if let Some(path) = &target.cassette {
            let spools = (begin(path)?, spool(path, "messages")?);
            let mut projector = cassette::Projector::new(header, spools.0, spools.1);
            if !target.times {
                projector = projector.without_times();
            }
            following.cassette = Some((projector, path.clone()));
        }
        if let Some(path) = &target.capture {
            let spools = (begin(path)?, spool(path, "messages")?);
            let projector = capture::Projector::new(header, spools.0, spools.1);
            following.capture = Some((projector, path.clone()));
        }
        following.look()?;
        Ok(following)
    }

    /// Handles events until this many bytes were read, or there are no more whole lines.
    fn read_on(&mut self, bytes: u64) -> io::Result<()> {
        let goal = self.progress.read().saturating_add(bytes);
        while self.progress.is_ahead() && self.progress.read() < goal {
            self.step()?;
        }
        Ok(())
    }

    /// Handles the next event; returns whether there was one.
    fn step(&mut self) -> io::Result<bool> {
        let next = match self.known.at(self.reader.offset(), &self.progress.handed) {
            Some(facts) => self.reader.next_known(facts),
            None => self.reader.next_event(),
        };
        let Some(event) = next.map_err(io::Error::other)? else {
            return Ok(false);
        };
        let message = self.reader.envelope(&event);
        if let Some((cassette, _)) = &mut self.cassette {
            cassette.observe_message(&event, message.as_ref())?;
        }
        if let Some((capture, _)) = &mut self.capture {
            capture.observe_message(&event, message.as_ref())?;
        }
        self.since += 1;
        if self.since >= LOOK {
            self.since = 0;
            self.look()?;
        }
        Ok(true)
    }

    /// Fails when the disks run out of space, which is left for the tape.
    fn look(&self) -> io::Result<()> {
        let cassette = self.cassette.as_ref().map(|(_, path)| path);
        let capture = self.capture.as_ref().map(|(_, path)| path);
        for path in cassette.into_iter().chain(capture) {
            if files::room(folder_of(path))? < ROOM {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }

    /// Reads the rest, and completes the projections.
    fn finish(mut self) -> io::Result<Drafts> {
        while self.step()? {}
        let Self {
            reader,
            cassette,
            capture,
            ..
        } = self;
        let ending = reader.ending().cloned().unwrap_or(Ending::CutShort {
            last_seq: 0,
            torn: false,
        });
        let mut drafts = Drafts::default();
        if let Some((projector, path)) = cassette {
            let (summary, file) = projector.finish_in_place(&ending, || begin(&path))?;
            let content = Content::of(summary);
            drafts.cassette = Some(Draft { file, content });
        }
        if let Some((projector, path)) = capture {
            let (summary, file) = projector.finish_in_place(&ending, || begin(&path))?;
            let content = Content::of(summary);
            drafts.capture = Some(Draft { file, content });
        }
        Ok(drafts)
    }
}

/// Creates a file for the target `path`.
fn begin(path: &Path) -> io::Result<File> {
    unnamed::create(folder_of(path))
}

#[cfg(test)]
mod tests;
