//! Opens recordings, and writes files that are either complete or missing.

pub(crate) mod agent;
pub(crate) mod claims;
mod create;
mod find;
pub(crate) mod folder;
pub(crate) mod output;
mod suite;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use tapewright_schemas::cassette;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::recording::{self, Document, DocumentError, FileKind};
use tapewright_schemas::tape::{Ending, Header, ReadError, Reader};

use crate::report::progress::Reading;
use crate::report::{self, Mistake};

pub(crate) use create::{NewFile, spool};
pub(crate) use find::{near, tape_beside, unreadable_or_near};
pub(crate) use suite::{Disk, is_yaml, suites};

/// A path with the same separators on every system, for what is compared on another one.
pub(crate) fn portable(path: &Path) -> String {
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}

/// A recording opened for reading.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The file that is read, which may be a substitute for the given one.
    pub(crate) path: PathBuf,
    /// Its contents.
    pub(crate) contents: Contents,
    reading: Option<Reading>,
}

/// Reads a tape event by event.
pub(crate) type TapeReader = Reader<BufReader<File>>;

/// Reads a cassette event by event.
pub(crate) type CassetteReader = cassette::Reader<File>;

/// The contents of a file.
#[derive(Debug)]
pub(crate) enum Contents {
    /// A tape, read event by event.
    Tape(Box<TapeReader>),
    /// A cassette, whose text stays in its file.
    Cassette(Box<CassetteReader>),
    /// A capture, or a cassette in another format than ours, read whole, and the recording in it as
    /// events.
    Document(Document, Box<recording::Recording>),
}

/// The header and the ending of a recording.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What was recorded, and how.
    pub(crate) header: Header,
    /// How it ends.
    pub(crate) ending: Ending,
}

impl Recording {
    /// Opens a tape, a cassette or a capture, distinguished by content. If a cassette was never
    /// finished, opens the tape next to it and reports that.
    pub(crate) fn open(named: &Path) -> anyhow::Result<Self> {
        let path = existing(named)?;
        let (contents, _) = read(&path)?;
        Ok(Self::of(path, contents))
    }

    /// Like `open`, with a progress line if it takes long; for commands that print nothing before
    /// everything is read.
    pub(crate) fn open_slowly(named: &Path) -> anyhow::Result<Self> {
        let path = existing(named)?;
        let (contents, file) = read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let reading = Reading::of(&file, &name);
        Ok(Self {
            path,
            contents,
            reading,
        })
    }

    /// Like `open_slowly`, for a command that writes to this file while reading; `None` is standard
    /// output, which must not be a terminal then.
    pub(crate) fn open_to(named: &Path, output: Option<&Path>) -> anyhow::Result<Self> {
        if output.is_some() || !report::is_terminal() {
            Self::open_slowly(named)
        } else {
            Self::open(named)
        }
    }

    /// Wraps opened contents that are to be read whole.
    pub(crate) fn of(path: PathBuf, contents: Contents) -> Self {
        Self {
            path,
            contents,
            reading: None,
        }
    }

    /// The kind of file.
    pub(crate) fn kind(&self) -> FileKind {
        match &self.contents {
            Contents::Tape(_) => FileKind::Tape,
            Contents::Cassette(_) => FileKind::Cassette,
            Contents::Document(document, _) => document.kind(),
        }
    }

    /// The header, as far as it is known before the events are read.
    pub(crate) fn header(&self) -> Header {
        match &self.contents {
            Contents::Tape(reader) => reader.header().clone(),
            Contents::Cassette(reader) => reader.header().clone(),
            Contents::Document(_, recording) => recording.header.clone(),
        }
    }

    /// Whether the events have times.
    pub(crate) fn timed(&self) -> bool {
        match &self.contents {
            Contents::Tape(_) => true,
            Contents::Cassette(reader) => reader.timed(),
            Contents::Document(_, recording) => recording.timed,
        }
    }

    /// The tape, for reading several in parallel; other files cannot be read in pieces.
    pub(crate) fn into_tape(self) -> Option<Box<TapeReader>> {
        match self.contents {
            Contents::Tape(reader) => Some(reader),
            Contents::Cassette(_) | Contents::Document(..) => None,
        }
    }

    /// The string members of a cassette's `meta`.
    pub(crate) fn meta(&self) -> &[(String, String)] {
        match &self.contents {
            Contents::Cassette(reader) => reader.meta(),
            Contents::Document(Document::Cassette(cassette), _) => &cassette.meta,
            Contents::Tape(_) | Contents::Document(..) => &[],
        }
    }

    /// Passes every event to the callback, in order.
    pub(crate) fn events(
        self,
        mut each: impl FnMut(&Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<Frame> {
        self.read(|event, _| each(event))
    }

    /// Passes events to the callback in order, until it returns true.
    pub(crate) fn until(self, mut enough: impl FnMut(&Event) -> bool) -> anyhow::Result<()> {
        match self.contents {
            Contents::Tape(mut reader) => {
                let fail = |error: ReadError| tape_error(&self.path, &error);
                while let Some(event) = reader.next_event().map_err(fail)? {
                    if enough(&event) {
                        break;
                    }
                }
            }
            Contents::Cassette(mut reader) => {
                let fail = |error| io_error(&self.path, &error);
                while let Some(event) = reader.next_event().map_err(fail)? {
                    if enough(&event) {
                        break;
                    }
                }
            }
            Contents::Document(_, recording) => {
                recording.events.iter().any(enough);
            }
        }
        Ok(())
    }

    /// Passes every event to the callback in order, with its parsed message if it is complete.
    pub(crate) fn messages(
        self,
        mut each: impl FnMut(&Event, Option<&Envelope<'_>>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Frame> {
        self.read(|event, reader| {
            let known = reader.and_then(|reader| reader.envelope(event));
            let envelope = known.or_else(|| event.envelope());
            each(event, envelope.as_ref())
        })
    }

    fn read(
        mut self,
        mut each: impl FnMut(&Event, Option<&TapeReader>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Frame> {
        let mut reading = self.reading.take();
        let mut each = |event: &Event, reader: Option<&TapeReader>| {
            reading.iter_mut().for_each(Reading::step);
            each(event, reader)
        };
        match self.contents {
            Contents::Tape(mut reader) => {
                let fail = |error: ReadError| tape_error(&self.path, &error);
                while let Some(event) = reader.next_event().map_err(fail)? {
                    each(&event, Some(&reader))?;
                }
                let ending = reader.ending().cloned();
                let ending = ending.unwrap_or(Ending::CutShort {
                    last_seq: 0,
                    torn: false,
                });
                Ok(Frame {
                    header: reader.header().clone(),
                    ending,
                })
            }
            Contents::Cassette(mut reader) => {
                let fail = |error| io_error(&self.path, &error);
                while let Some(event) = reader.next_event().map_err(fail)? {
                    each(&event, None)?;
                }
                Ok(Frame {
                    header: reader.header().clone(),
                    ending: reader.ending().clone(),
                })
            }
            Contents::Document(_, recording) => {
                let mut events = recording.events.iter();
                events.try_for_each(|event| each(event, None))?;
                Ok(Frame {
                    header: recording.header,
                    ending: recording.ending,
                })
            }
        }
    }
}

/// The file for a name: if a cassette was never finished, the tape next to it, which is reported.
fn existing(named: &Path) -> anyhow::Result<PathBuf> {
    let path = find::existing(named)?;
    if path != named {
        report::note(&format!(
            "`{}` was never finished; reading the tape next to it instead: `{}`",
            report::safe(&named.display().to_string()),
            report::safe(&path.display().to_string()),
        ));
    }
    Ok(path)
}

/// Opens a recording for a caller that limits its length itself.
pub(crate) fn opened(named: &Path) -> anyhow::Result<(PathBuf, File)> {
    let path = existing(named)?;
    let file = open(&path)?;
    Ok((path, file))
}

/// The bytes of a recording, and the path of its file.
pub(crate) fn whole(named: &Path) -> anyhow::Result<(PathBuf, Vec<u8>)> {
    let (path, mut file) = opened(named)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| io_error(&path, &error))?;
    Ok((path, bytes))
}

/// The first line of a file, without its line feed, if it is not longer than a header.
pub(crate) fn first_line(file: &mut impl std::io::BufRead) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.take(HEADER_LIMIT_BYTES).read_until(b'\n', &mut line)?;
    Ok(line.trim_ascii_end().to_vec())
}

/// An error about one file.
pub(crate) fn unreadable(path: &Path, why: &str, hint: &str) -> anyhow::Error {
    let path = report::safe(&path.display().to_string());
    Mistake::new(format!("cannot read `{path}`: {}", report::safe(why)), hint).into()
}

/// The error for a document that is no recording. A suite is called one, with the command for it.
pub(crate) fn no_recording(path: &Path, error: &DocumentError) -> anyhow::Error {
    if !suite::is_suite(path) {
        return unreadable(path, &error.to_string(), error.hint());
    }
    let shown = report::safe(&path.display().to_string());
    let hint = format!("run it with `tapewright run {shown}`");
    unreadable(path, "this is not a recording but a suite", &hint)
}

/// The content of a file, and a handle that shares the position of its reader.
fn read(path: &Path) -> anyhow::Result<(Contents, File)> {
    let io = |error: std::io::Error| io_error(path, &error);
    let file = open(path)?;
    let handle = file.try_clone().map_err(io)?;
    let mut file = BufReader::with_capacity(READ_BYTES, file);
    let line = first_line(&mut file).map_err(io)?;
    file.rewind().map_err(io)?;
    if FileKind::is_tape_header(&line) {
        let reader = Reader::open(file).map_err(|error| tape_error(path, &error))?;
        return Ok((Contents::Tape(Box::new(reader)), handle));
    }
    let mut file = file.into_inner();
    let reader = cassette::Reader::open(file.try_clone().map_err(io)?).map_err(io)?;
    if let Some(reader) = reader {
        return Ok((Contents::Cassette(Box::new(reader)), handle));
    }
    file.rewind().map_err(io)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(io)?;
    match Document::read(text) {
        Ok(document) => {
            let recording = Box::new(document.recording());
            Ok((Contents::Document(document, recording), handle))
        }
        Err(error) => Err(no_recording(path, &error)),
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    let io = |error: std::io::Error| io_error(path, &error);
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(unreadable(
            path,
            "it is a folder",
            "give one of the files in it",
        ));
    }
    Ok(file)
}

fn io_error(path: &Path, error: &std::io::Error) -> anyhow::Error {
    unreadable(
        path,
        &error.to_string(),
        "check the path and its permissions",
    )
}

pub(crate) fn tape_error(path: &Path, error: &ReadError) -> anyhow::Error {
    let hint = match error {
        ReadError::TooNew { .. } => {
            "read it with the version of tapewright that wrote it, or a later one".to_owned()
        }
        ReadError::BadRecord { line, .. } | ReadError::LineTooLong { line } => format!(
            "the lines before it are intact; save them with `head -n {} TAPE > NEW.tape.jsonl`",
            line.saturating_sub(1)
        ),
        _ => "check the disk".to_owned(),
    };
    let cause = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    unreadable(path, &cause, &hint)
}

const READ_BYTES: usize = 256 << 10;
const HEADER_LIMIT_BYTES: u64 = 16 << 20;
