//! Reads a recording for replay.
//!
//! A cassette is read in one pass into offsets; nothing is copied, and no answer is examined before
//! it is served. A tape and a capture are first projected to a cassette, so that all recordings
//! take the same path.

mod ahead;
mod arrange;
mod disk;
mod parts;
mod placed;
mod scan;
mod spooled;
mod starts;

use std::fs::File;
use std::io::{self, Cursor, Read as _, Seek as _};

use bytes::Bytes;
use tapewright_schemas::cassette::Projector;
use tapewright_schemas::recording::{Document, DocumentError, FileKind};
use tapewright_schemas::slices::Part as _;
use tapewright_schemas::tape::{Ending, ReadError, Reader};

use crate::script::Script;

pub(crate) use ahead::threads;
pub use starts::Starts;

/// Creates a file without a name, for data that does not fit into memory.
pub type Spool<'s> = dyn Fn() -> io::Result<File> + 's;

/// Why a recording cannot be served.
///
/// Each message completes "cannot read the file: …".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is not a valid cassette or capture.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It could not be projected.
    #[error("cannot assemble its exchanges")]
    Projection(#[source] io::Error),
    /// The file is not a valid tape, or is damaged in the middle.
    #[error(transparent)]
    Tape(#[from] ReadError),
}

/// Files of at least this many bytes stay on the disk.
const LONG: u64 = 4 << 20;

impl Script {
    /// Reads a tape, a cassette or a capture, distinguished by its content. A long recording stays
    /// in its file, which is kept open, or on a spool.
    pub fn open(mut file: File, spool: &Spool<'_>) -> Result<Self, LoadError> {
        if file.metadata()?.len() >= LONG {
            return Self::open_long(file, spool);
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Self::load(text)
    }

    /// Like [`open`](Self::open), for a long file.
    fn open_long(mut file: File, spool: &Spool<'_>) -> Result<Self, LoadError> {
        if disk::is_tape(&file)? {
            let mut script = placed::read_tape(file, spool)?;
            if let Some(script) = &mut script {
                script.kind = FileKind::Tape;
            }
            return script.ok_or(LoadError::Document(DocumentError::Unknown));
        }
        if let Some(script) = disk::read(file.try_clone()?)? {
            return Ok(script);
        }
        // A capture, or a cassette with another layout than tapewright's.
        file.rewind()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Self::load(text)
    }

    /// Reads a tape, a cassette or a capture, distinguished by its content.
    pub fn load(file: impl Into<Bytes>) -> Result<Self, LoadError> {
        let file = file.into();
        let first = memchr::memchr(b'\n', &file).unwrap_or(file.len());
        if FileKind::is_tape_header(file.part(..first)) {
            return Self::of_tape(&file);
        }
        match scan::read(&file) {
            Ok(script) => Ok(script),
            // It is a capture, or the slower reader finds the place of the error.
            Err(shape) => match Document::read(file)? {
                Document::Capture(capture) => {
                    let recording = capture.recording();
                    let mut projector = Projector::new(&recording.header, spool(), spool());
                    for event in &recording.events {
                        projector.observe(event).map_err(LoadError::Projection)?;
                    }
                    Self::of_projection(projector, &recording.ending, FileKind::Capture)
                }
                Document::Cassette(_) => Err(shape.into()),
            },
        }
    }

    fn of_tape(file: &Bytes) -> Result<Self, LoadError> {
        let mut reader = Reader::open(file.as_ref())?;
        let mut projector = Projector::new(reader.header(), spool(), spool());
        while let Some(event) = reader.next_event()? {
            let message = reader.envelope(&event);
            projector
                .observe_message(&event, message.as_ref())
                .map_err(LoadError::Projection)?;
        }
        let ending = reader.ending().cloned();
        let ending = ending.unwrap_or(Ending::CutShort {
            last_seq: 0,
            torn: false,
        });
        Self::of_projection(projector, &ending, FileKind::Tape)
    }

    fn of_projection(
        projector: Projector<Cursor<Vec<u8>>>,
        ending: &Ending,
        kind: FileKind,
    ) -> Result<Self, LoadError> {
        let mut text = Vec::new();
        projector
            .finish(ending, &mut text)
            .map_err(LoadError::Projection)?;
        let mut script = scan::read(&text.into())?;
        script.kind = kind;
        Ok(script)
    }
}

fn spool() -> Cursor<Vec<u8>> {
    Cursor::new(Vec::new())
}
