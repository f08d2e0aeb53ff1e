//! The end of a recording: what the tape projects to, and under which names.
//!
//! A projection is written to a new file, which then takes its name. Three things are
//! never done: overwrite a cassette with a recording that is empty or has holes;
//! overwrite one that another process wrote while we recorded; leave half a file behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tapewright_schemas::tape::{GapTotal, TapeFailure};
use tapewright_schemas::{capture, cassette};

use super::chain::Chain;
use super::follow::{Draft, Drafts};
use super::judging::Findings;
use super::names::{Target, numbered};
use super::probe::{is_probe, take_along};
use super::together;
use crate::system::files::{self, Identity};
use crate::system::unnamed;

/// Why a tape is not whole, and what the system says of it.
pub type Failure = (TapeFailure, String);

/// What became of a recording.
#[derive(Debug, Default)]
pub struct Finished {
    /// The tape, when there is one.
    pub tape: Option<PathBuf>,
    /// The cassette, when one was written, under the name that it got.
    pub cassette: Option<PathBuf>,
    /// The capture, when one was written, under the name that it got.
    pub capture: Option<PathBuf>,
    /// Of a recording into a folder: the files of every session.
    pub sessions: Vec<SessionFiles>,
    /// How many sessions are not listed, because there were too many.
    pub unlisted: u64,
    /// How many events the tape, or all tapes, hold.
    pub events: u64,
    /// What is missing on it.
    pub gaps: GapTotal,
    /// What judges found, if there were any.
    pub findings: Findings,
    /// Why the tape is not whole, when it is not.
    pub lost: Option<Failure>,
    /// What else went wrong, in words.
    pub problems: Vec<Problem>,
}

/// The files of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFiles {
    /// Its number; 0 for what belongs to no session.
    pub session: u32,
    /// Its tapes, each of which continues the one before.
    pub tapes: Vec<PathBuf>,
    /// Its cassette, when one was written, under the name that it got.
    pub cassette: Option<PathBuf>,
    /// Its capture, when one was written, under the name that it got.
    pub capture: Option<PathBuf>,
}

/// Something that was asked for and could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A file stands where it stood: the recording is no better than what it would
    /// replace.
    #[error("`{}` was kept: {why}", path.display())]
    Kept {
        /// The file.
        path: PathBuf,
        /// Why it was not replaced.
        why: &'static str,
    },
    /// A projection could not be written.
    #[error("`{}` could not be written: {why}", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// What the system, or the tape's reader, said.
        why: String,
    },
}

impl Finished {
    /// Whether everything that was asked for is on the disk.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let failed = |problem: &Problem| matches!(problem, Problem::Unwritten { .. });
        self.lost.is_none() && self.gaps.is_empty() && !self.problems.iter().any(failed)
    }

    pub(crate) fn writer_failed() -> Self {
        Self {
            lost: Some((
                TapeFailure::NotWritten,
                "the writer stopped unexpectedly".to_owned(),
            )),
            ..Self::default()
        }
    }
}

/// What is to be projected, and where to.
pub(crate) struct Projection<'a> {
    /// Tapes, each of which continues the one before.
    pub(crate) tapes: &'a [PathBuf],
    pub(crate) number: u32,
    pub(crate) target: &'a Target,
    pub(crate) before: &'a [Option<Identity>; 2],
    /// What stood there before is ours, and tells of the same session.
    pub(crate) ours: [bool; 2],
    /// The tape is to have the name of its cassette. In a folder, numbers say what continues
    /// what.
    pub(crate) together: bool,
}

/// What stood at a place before.
#[derive(Clone, Copy)]
struct Before {
    file: Option<Identity>,
    /// It is ours, and tells of the same session.
    ours: bool,
}

/// Writes a projection of tapes, with its spools near to where it is to stand, and with times or
/// without.
type Project = fn(&[PathBuf], &Path, bool, &mut dyn Write) -> io::Result<Content>;

/// What a projection turned out to hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    exchanges: u64,
    anything: bool,
}

impl Projection<'_> {
    /// Writes what was asked for, as far as it is not there already as a draft, and notes how
    /// it went.
    pub(crate) fn write(&self, drafts: Drafts, finished: &mut Finished) {
        let [cassette_before, capture_before] = *self.before;
        if let Some(path) = &self.target.capture {
            let before = Before {
                file: capture_before,
                ours: self.ours[1],
            };
            let written = self.written(path, drafts.capture, write_capture);
            finished.capture = self.one(path, before, written, finished);
        }
        // The last one: with it the tape may get another name.
        if let Some(path) = &self.target.cassette {
            let before = Before {
                file: cassette_before,
                ours: self.ours[0],
            };
            let written = self.written(path, drafts.cassette, write_cassette);
            finished.cassette = self.one(path, before, written, finished);
        }
    }

    /// Sees to it that a whole projection stands beside its place.
    fn written(&self, path: &Path, draft: Option<Draft>, write: Project) -> io::Result<Content> {
        let fresh = beside(path, FRESH);
        if let Some((file, content)) = draft.and_then(|draft| draft.name(&fresh).ok()) {
            sync(&file)?;
            return Ok(content);
        }
        let times = self.target.times;
        write_new(&fresh, |out| write(self.tapes, path, times, out))
    }

    fn one(
        &self,
        path: &Path,
        before: Before,
        written: io::Result<Content>,
        finished: &mut Finished,
    ) -> Option<PathBuf> {
        let unwritten = |error: &io::Error| Problem::Unwritten {
            path: path.to_path_buf(),
            why: error.to_string(),
        };
        let fresh = beside(path, FRESH);
        let placed =
            written.and_then(|content| self.place(&fresh, path, before, content, finished));
        // Gone already when it has taken its name.
        drop(fs::remove_file(&fresh));
        match placed {
            Ok(placed) => placed,
            Err(error) => {
                finished.problems.push(unwritten(&error));
                None
            }
        }
    }

    /// Gives a finished file its name, under a lock that all recorders of the folder
    /// share.
    fn place(
        &self,
        fresh: &Path,
        path: &Path,
        before: Before,
        content: Content,
        finished: &mut Finished,
    ) -> io::Result<Option<PathBuf>> {
        let Before { file: before, ours } = before;
        let folder = File::open(folder_of(path))?;
        folder.lock()?;
        let now = Identity::of(path);
        let whole = finished.lost.is_none() && finished.gaps.is_empty();
        match now {
            None if content.anything => {
                self.rename(fresh, path)?;
                self.join(path, None, finished);
                Ok(Some(path.to_path_buf()))
            }
            None => Ok(None),
            Some(_) if content.exchanges == 0 => {
                let why = "the new recording is empty";
                finished.problems.push(Problem::Kept {
                    path: path.to_path_buf(),
                    why,
                });
                Ok(None)
            }
            Some(_) if (whole || ours) && (now == before || is_probe(path)) => {
                take_along(path, fresh)?;
                self.rename(fresh, path)?;
                self.join(path, None, finished);
                Ok(Some(path.to_path_buf()))
            }
            Some(_) => {
                let number = self.free_number(path)?;
                let other = numbered(path, number);
                self.rename(fresh, &other)?;
                self.join(path, Some(number), finished);
                let why = if now == before {
                    "the new recording has gaps and was written next to it"
                } else {
                    "another recorder wrote it; this recording was written next to it"
                };
                finished.problems.push(Problem::Kept {
                    path: path.to_path_buf(),
                    why,
                });
                Ok(Some(other))
            }
        }
    }

    /// Gives a finished file its name.
    fn rename(&self, fresh: &Path, path: &Path) -> io::Result<()> {
        if let [tape] = self.tapes {
            together::mark(fresh, tape);
        }
        files::replace(fresh, path)
    }

    fn free_number(&self, path: &Path) -> io::Result<u32> {
        let first = self.number.max(2);
        let found = match (self.is_joined(path), self.tapes) {
            (true, [tape]) => together::free_number(self.target, path, tape, first),
            _ => (first..=u32::MAX)
                .find(|number| fs::symlink_metadata(numbered(path, *number)).is_err()),
        };
        found.ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the tape the name that belongs to what was made of it.
    fn join(&self, path: &Path, number: Option<u32>, finished: &mut Finished) {
        if let (true, [tape]) = (self.is_joined(path), self.tapes) {
            let wanted = numbered(&self.target.tape, number.unwrap_or(1));
            finished.tape = Some(together::join(tape, &wanted));
        }
    }

    /// Whether it is by this file that the tape is named.
    fn is_joined(&self, path: &Path) -> bool {
        self.together && self.target.cassette.as_deref() == Some(path)
    }
}

pub(super) fn write_cassette(
    tapes: &[PathBuf],
    near: &Path,
    times: bool,
    out: &mut dyn Write,
) -> io::Result<Content> {
    let mut chain = Chain::open(tapes)?;
    let spools = (spool(near, "spool")?, spool(near, "messages")?);
    let mut projector = cassette::Projector::new(chain.header(), spools.0, spools.1);
    if !times {
        projector = projector.without_times();
    }
    let ending = chain.feed(|event, message| projector.observe_message(event, message))?;
    let summary = projector.finish(&ending, out)?;
    Ok(Content::of(summary))
}

pub(super) fn write_capture(
    tapes: &[PathBuf],
    near: &Path,
    _: bool,
    out: &mut dyn Write,
) -> io::Result<Content> {
    let mut chain = Chain::open(tapes)?;
    let spools = (spool(near, "spool")?, spool(near, "messages")?);
    let mut projector = capture::Projector::new(chain.header(), spools.0, spools.1);
    let ending = chain.feed(|event, message| projector.observe_message(event, message))?;
    let summary = projector.finish(&ending, out)?;
    Ok(Content::of(summary))
}

impl Content {
    pub(super) fn of(summary: cassette::Summary) -> Self {
        let anything = summary.exchanges + summary.unanswered + summary.messages > 0;
        Self {
            exchanges: summary.exchanges,
            anything,
        }
    }
}

/// The largest projection that is synced before it takes its name, in bytes.
const SYNC_LIMIT: u64 = 8 << 20;

/// Writes a new file.
fn write_new<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    let file = files::open_own(OpenOptions::new().write(true).create_new(true), path)?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let result = write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    sync(&file)?;
    Ok(result)
}

fn sync(file: &File) -> io::Result<()> {
    // A large file would keep the client waiting; its tape is there in any case.
    if file.metadata()?.len() <= SYNC_LIMIT {
        file.sync_data()?;
    }
    Ok(())
}

/// What a whole projection is called before it has its name.
const FRESH: &str = "new";

/// A file without a name, beside `near`. Where the file system has none, it has a name for a
/// moment.
pub(super) fn spool(near: &Path, kind: &str) -> io::Result<File> {
    if let Ok(file) = unnamed::create(folder_of(near)) {
        return Ok(file);
    }
    let path = beside(near, kind);
    let mut options = OpenOptions::new();
    let file = files::open_own(options.read(true).write(true).create_new(true), &path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

/// A name that no other process uses: `.fs.json.4711.new`.
fn beside(path: &Path, kind: &str) -> PathBuf {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    path.with_file_name(format!(".{name}.{}.{kind}", std::process::id()))
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
