//! Projecting a tape while it is written, so that little is left to do at its end.
//!
//! A thread of low priority reads the tape behind its writer, a line at a time, and feeds the
//! projectors of the cassette and the capture, whose memory is bounded. What they write stands
//! in files without names, so that none of it outlives us. At the end whoever finishes the
//! recording takes over what the thread has, and does the rest.
//!
//! Nothing depends on it: where it cannot be done, or broke off, the tape is projected at its
//! end. What comes out is the same.

mod progress;
pub(super) mod unnamed;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tapewright_schemas::event::Event;
use tapewright_schemas::tape::{Ending, Reader};
use tapewright_schemas::{capture, cassette};

use self::progress::Behind;
use super::finish::{Content, folder_of, spool};
use super::names::Target;

pub(crate) use self::progress::Progress;

/// From how many bytes on a tape is followed: a shorter one is projected at its end in no
/// time.
pub(crate) const FROM: u64 = 1 << 20;

/// Whoever projects a tape while it is written.
#[derive(Debug)]
pub(crate) struct Follower {
    progress: Arc<Progress>,
    // `None` once it was asked for.
    thread: Option<JoinHandle<io::Result<Following>>>,
}

/// What became of a tape that was followed to its end.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) cassette: Option<Draft>,
    pub(crate) capture: Option<Draft>,
}

/// A whole projection that has no name yet.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    content: Content,
}

impl Draft {
    /// Gives it a name that must be free; what it holds.
    pub(super) fn name(self, path: &Path) -> io::Result<(File, Content)> {
        unnamed::name(&self.file, path)?;
        Ok((self.file, self.content))
    }
}

impl Follower {
    /// Begins to follow a tape, if it can be and something is to be made of it.
    pub(crate) fn start(tape: &Path, target: &Target, progress: &Arc<Progress>) -> Option<Self> {
        let file = File::open(tape).ok()?;
        let behind = Behind::new(file, Arc::clone(progress));
        let following = Following::begin(behind, target).ok()?;
        let of_thread = Arc::clone(progress);
        let thread = thread::Builder::new()
            .name("cassette".to_owned())
            .spawn(move || follow(following, &of_thread))
            .ok()?;
        Some(Self {
            progress: Arc::clone(progress),
            thread: Some(thread),
        })
    }

    /// Does what is left to do, now that the tape has its footer. `None` when the tape has to
    /// be projected from its beginning.
    pub(crate) fn finish(mut self) -> Option<Drafts> {
        self.progress.close();
        let following = self.thread.take()?.join().ok()?.ok()?;
        following.finish().ok()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.progress.close();
    }
}

/// The projections under way.
#[derive(Debug)]
struct Following {
    reader: Reader<Behind>,
    cassette: Option<(cassette::Projector<File>, PathBuf)>,
    capture: Option<(capture::Projector<File>, PathBuf)>,
    // Events since somebody looked how much room the disk has.
    since: u32,
}

/// How much room is left on a disk for those who cannot do without, in bytes.
const ROOM: u64 = 64 << 20;
/// How many events may pass until somebody looks again how much that is.
const LOOK: u32 = 4_096;
/// How far behind everybody else the thread stands where processors are scarce.
const NICE: i32 = 10;

/// Follows the tape until it ends, or nobody wants to know any more.
fn follow(mut following: Following, progress: &Progress) -> io::Result<Following> {
    // Of this thread alone. Where it may not be done, it runs as the others do.
    let _as_the_others = rustix::process::setpriority_process(None, NICE);
    while !progress.is_closed() {
        if progress.is_ahead() {
            following.step()?;
        } else {
            progress.wait();
        }
    }
    Ok(following)
}

impl Following {
    fn begin(tape: Behind, target: &Target) -> io::Result<Self> {
        let reader = Reader::open(tape).map_err(io::Error::other)?;
        let mut following = Self {
            cassette: None,
            capture: None,
            reader,
            since: 0,
        };
        let header = following.reader.header();
        if let Some(path) = &target.cassette {
            let spools = (begin(path)?, spool(path, "messages")?);
            let projector = cassette::Projector::new(header, spools.0, spools.1);
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

    /// Takes the next event; whether there was one.
    fn step(&mut self) -> io::Result<bool> {
        let Some(event) = self.reader.next_event().map_err(io::Error::other)? else {
            return Ok(false);
        };
        self.observe(&event)?;
        self.since += 1;
        if self.since >= LOOK {
            self.since = 0;
            self.look()?;
        }
        Ok(true)
    }

    fn observe(&mut self, event: &Event) -> io::Result<()> {
        if let Some((cassette, _)) = &mut self.cassette {
            cassette.observe(event)?;
        }
        if let Some((capture, _)) = &mut self.capture {
            capture.observe(event)?;
        }
        Ok(())
    }

    /// Fails when the disks run out of room: what is left belongs to the tape.
    fn look(&self) -> io::Result<()> {
        let cassette = self.cassette.as_ref().map(|(_, path)| path);
        let capture = self.capture.as_ref().map(|(_, path)| path);
        for path in cassette.into_iter().chain(capture) {
            let disk = rustix::fs::statvfs(folder_of(path))?;
            if disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }

    /// Reads what is left, and ends what there is.
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

/// Begins a file that is to stand at `path`.
fn begin(path: &Path) -> io::Result<File> {
    unnamed::create(folder_of(path))
}

#[cfg(test)]
mod tests;
