//! The end of a recording: writes the projections of the tape, and names them.
//!
//! A projection is written to a new file, which is then renamed. Three things never happen: a
//! cassette is overwritten by a recording that is empty or has gaps; a cassette is overwritten that
//! another process wrote during the recording; a partial file is left behind.

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

/// Why a tape is incomplete, and the system's error.
pub type Failure = (TapeFailure, String);

/// The result of a recording.
#[derive(Debug, Default)]
pub struct Finished {
    /// The tape, if there is one.
    pub tape: Option<PathBuf>,
    /// The cassette, if one was written, by its actual name.
    pub cassette: Option<PathBuf>,
    /// The capture, if one was written, by its actual name.
    pub capture: Option<PathBuf>,
    /// For a recording into a folder: the files of every session.
    pub sessions: Vec<SessionFiles>,
    /// The number of sessions that are not listed, because there were too many.
    pub unlisted: u64,
    /// The number of events on the tape, or on all tapes.
    pub events: u64,
    /// The gaps.
    pub gaps: GapTotal,
    /// The findings of judges.
    pub findings: Findings,
    /// Why the tape is incomplete, if it is.
    pub lost: Option<Failure>,
    /// Other problems, as text.
    pub problems: Vec<Problem>,
}

/// The files of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFiles {
    /// Its number; 0 for sessionless exchanges.
    pub session: u32,
    /// Its tapes, each continuing the one before.
    pub tapes: Vec<PathBuf>,
    /// Its cassette, if one was written, by its actual name.
    pub cassette: Option<PathBuf>,
    /// Its capture, if one was written, by its actual name.
    pub capture: Option<PathBuf>,
}

/// A requested file that was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An existing file was kept: the recording is no better than it.
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
        /// The error of the system or of the tape's reader.
        why: String,
    },
    /// There is nothing to write: the recording has no message.
    #[error("`{}` was not written: no message was recorded", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Finished {
    /// Whether all requested files were written.
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

/// Tapes to project, and where to.
pub(crate) struct Projection<'a> {
    /// The tapes, each continuing the one before.
    pub(crate) tapes: &'a [PathBuf],
    pub(crate) number: u32,
    pub(crate) target: &'a Target,
    pub(crate) before: &'a [Option<Identity>; 2],
    /// Whether the existing files are from this recorder, for the same session.
    pub(crate) ours: [bool; 2],
    /// Whether to rename the tape like its cassette. In a folder, the numbers show which tape
    /// continues which.
    pub(crate) together: bool,
}

/// The file that existed before.
#[derive(Clone, Copy)]
struct Before {
    file: Option<Identity>,
    /// Whether it is from this recorder, for the same session.
    ours: bool,
}

/// Writes a projection of tapes, with its spools near the target path, and with or without times.
type Project = fn(&[PathBuf], &Path, bool, &mut dyn Write) -> io::Result<Content>;

/// The content of a projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    exchanges: u64,
    anything: bool,
}

impl Projection<'_> {
    /// Writes the requested projections, unless they exist as drafts, and notes the results.
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
        // Written last, since the tape may be renamed after it.
        if let Some(path) = &self.target.cassette {
            let before = Before {
                file: cassette_before,
                ours: self.ours[0],
            };
            let written = self.written(path, drafts.cassette, write_cassette);
            finished.cassette = self.one(path, before, written, finished);
        } else if self.together && !self.target.one_of_several {
            self.name_tape(finished);
        }
    }

    /// Gives a whole tape the name that was asked for, if it is the only file of the recording.
    fn name_tape(&self, finished: &mut Finished) {
        let ([tape], wanted) = (self.tapes, &self.target.tape) else {
            return;
        };
        let whole = finished.lost.is_none() && finished.gaps.is_empty();
        if tape != wanted && whole && together::is_answered(tape) {
            // Without the lock it keeps its number.
            if let Ok(_lock) = files::lock_folder(folder_of(wanted)) {
                finished.tape = Some(together::join(tape, wanted));
            }
        }
    }

    /// Ensures that a complete projection is next to its target path.
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
        // Already gone if it was renamed.
        drop(fs::remove_file(&fresh));
        match placed {
            Ok(placed) => placed,
            Err(error) => {
                finished.problems.push(unwritten(&error));
                None
            }
        }
    }

    /// Renames a finished file, under a lock that all recorders of the folder share.
    fn place(
        &self,
        fresh: &Path,
        path: &Path,
        before: Before,
        content: Content,
        finished: &mut Finished,
    ) -> io::Result<Option<PathBuf>> {
        let Before { file: before, ours } = before;
        let _lock = files::lock_folder(folder_of(path))?;
        let now = Identity::of(path);
        let whole = finished.lost.is_none() && finished.gaps.is_empty();
        match now {
            None if content.anything => {
                self.rename(fresh, path)?;
                self.join(path, None, finished);
                Ok(Some(path.to_path_buf()))
            }
            None => {
                // Sessions in a folder have no name that somebody waits for.
                if self.together {
                    let path = path.to_path_buf();
                    finished.problems.push(Problem::Empty { path });
                }
                Ok(None)
            }
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

    /// Renames a finished file.
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

    /// Renames the tape like its projection.
    fn join(&self, path: &Path, number: Option<u32>, finished: &mut Finished) {
        if let (true, [tape]) = (self.is_joined(path), self.tapes) {
            let wanted = numbered(&self.target.tape, number.unwrap_or(1));
            finished.tape = Some(together::join(tape, &wanted));
        }
    }

    /// Whether the tape is named after this file.
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

/// The maximum size of a projection that is synced before it is renamed, in bytes.
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
    // Syncing a large file would make the client wait; its tape exists in any case.
    if file.metadata()?.len() <= SYNC_LIMIT {
        file.sync_data()?;
    }
    Ok(())
}

/// The extension of a complete projection before it is renamed.
const FRESH: &str = "new";

/// Creates a file without a name, next to `near`. If the file system does not support that, it
/// briefly has a name.
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

/// A name that no other process uses, such as `.fs.json.4711.new`.
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
