//! Handles as chunk sources and sinks.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tapewright_schemas::slices::{Front as _, Part as _, PartMut as _};
use winsafe::HSTD;
use winsafe::co::STD_HANDLE;

use super::ahead::Ahead;
use super::parent::Parent;
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// The size of one read, in bytes.
pub(super) const CHUNK: usize = 256 << 10;

/// One end of a pipe, file or console.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: Arc<File>,
    reading: Reading,
    // Whose pipe it is, if it is the process's standard input or output.
    client: Watch,
}

/// How it is read.
#[derive(Debug)]
enum Reading {
    /// By the calling thread, which blocks: into this buffer.
    Here(Vec<u8>),
    /// By a separate thread, as soon as there is a timeout, or the question whether the other side
    /// has closed it.
    Ahead(Ahead),
}

/// The process at the other end of a pipe, for the question whether it still reads once it has
/// closed its own end. The pipe itself shows only with the next write that it has no reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Option<Arc<Mutex<Parent>>>);

impl Watch {
    /// Whether the client has ended, as far as known.
    pub(crate) fn is_broken(&self) -> bool {
        let client = self.0.as_ref();
        client.is_some_and(|one| {
            one.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .has_ended()
        })
    }
}

impl Pipe {
    pub(super) fn of(handle: OwnedHandle) -> Self {
        Self {
            file: Arc::new(handle.into()),
            reading: Reading::Here(Vec::new()),
            client: Watch::default(),
        }
    }

    /// What shows another thread whether this pipe has a reader.
    pub(crate) fn watch(&self) -> Watch {
        self.client.clone()
    }

    /// Takes over the process's standard input and output. Nothing else in this process can write
    /// to the client afterwards, and dropping a pipe closes it for the client.
    pub(crate) fn take_standard() -> io::Result<(Self, Self)> {
        let client = Watch(Parent::find().map(|parent| Arc::new(Mutex::new(parent))));
        let own = |handle| Self {
            client: client.clone(),
            ..Self::of(handle)
        };
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        let pipes = (own(input), own(output));
        close_standard()?;
        Ok(pipes)
    }

    /// Has a thread read it from here on.
    fn read_ahead(&mut self) -> io::Result<()> {
        if let Reading::Here(_) = self.reading {
            self.reading = Reading::Ahead(Ahead::start(&self.file)?);
        }
        Ok(())
    }

    /// The process's standard error, shared with other code.
    pub(crate) fn standard_error() -> io::Result<Self> {
        Ok(Self::of(io::stderr().as_handle().try_clone_to_owned()?))
    }
}

/// Closes the standard input and output, which a server would inherit otherwise.
fn close_standard() -> io::Result<()> {
    let handle = |which| {
        let guard = HSTD::GetStdHandle(which);
        guard.map(|mut guard| guard.leak()).ok()
    };
    let input = handle(STD_HANDLE::INPUT);
    let output = handle(STD_HANDLE::OUTPUT);
    let error = handle(STD_HANDLE::ERROR);
    // A client may give one handle for several streams, and the log keeps its own.
    if input != output && input != error {
        drop(HSTD::GetStdHandle(STD_HANDLE::INPUT));
    }
    if output != input && output != error {
        drop(HSTD::GetStdHandle(STD_HANDLE::OUTPUT));
    }
    // The system uses a closed handle again. It gets one of these, and never one of a file, which
    // someone who prints would write to.
    for _ in 0..2 {
        std::mem::forget(File::options().read(true).write(true).open("NUL")?);
    }
    Ok(())
}

impl ChunkSource for Pipe {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        let room = room(space);
        if timeout.is_some() {
            self.read_ahead()?;
        }
        let buffer = match &mut self.reading {
            Reading::Ahead(ahead) => return ahead.read(space, room, timeout),
            Reading::Here(buffer) => buffer,
        };
        buffer.resize(CHUNK, 0);
        let count = read_some(&self.file, buffer.part_mut(..room))?;
        if count == 0 {
            return Ok(ReadResult::End);
        }
        space.extend_from_slice(buffer.front(count));
        Ok(ReadResult::Bytes(count))
    }

    /// Known once a thread has read up to the end, from the first question on, and of a client that
    /// has ended. A wrong answer only means that a read is put off.
    fn is_over(&mut self) -> bool {
        // Without a thread only the client's process tells.
        self.read_ahead().ok();
        let ended = matches!(&self.reading, Reading::Ahead(ahead) if ahead.has_ended());
        ended || self.client.is_broken()
    }
}

/// How much one read may append.
fn room(space: &Vec<u8>) -> usize {
    match space.capacity() - space.len() {
        0 => CHUNK,
        room => room.min(CHUNK),
    }
}

/// Reads available data; none at the end.
pub(super) fn read_some(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    // A write of no bytes arrives as well, and looks like an end. The end of a pipe or a file can be
    // read again; that of a console is read once.
    let mut is_certain = file.is_terminal();
    loop {
        match file.read(buffer) {
            Ok(0) if !is_certain => is_certain = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The other side is gone.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(0),
            other => return other,
        }
    }
}

impl ChunkSink for Pipe {
    fn write(&mut self, mut chunk: &[u8]) -> io::Result<()> {
        while !chunk.is_empty() {
            match (&*self.file).write(chunk) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => chunk = chunk.part(count..),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
