//! Handles as chunk sources and sinks.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tapewright_schemas::slices::{Front as _, Part as _, PartMut as _};
use winsafe::HSTD;
use winsafe::co::STD_HANDLE;

use super::parent::Parent;
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// The size of one read, in bytes.
const CHUNK: usize = 256 << 10;

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
    /// By a separate thread, as soon as there is a timeout, which the system does not support for a
    /// pipe on which both sides block.
    Ahead(Ahead),
}

/// The data read by a thread.
#[derive(Debug)]
struct Ahead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    // The part that did not fit into the space of the last read.
    rest: Vec<u8>,
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
        if timeout.is_some() && matches!(self.reading, Reading::Here(_)) {
            self.reading = Reading::Ahead(Ahead::start(&self.file)?);
        }
        let buffer = match &mut self.reading {
            Reading::Ahead(ahead) => return ahead.read(space, timeout),
            Reading::Here(buffer) => buffer,
        };
        buffer.resize(CHUNK, 0);
        let count = read_some(&self.file, buffer.part_mut(..room(space)))?;
        if count == 0 {
            return Ok(ReadResult::End);
        }
        space.extend_from_slice(buffer.front(count));
        Ok(ReadResult::Bytes(count))
    }

    /// Known of a client that has ended; a wrong answer only means that a read is not put off. The
    /// exit of a server is noticed by itself.
    fn is_over(&self) -> bool {
        self.client.is_broken()
    }
}

/// How much one read may append.
fn room(space: &Vec<u8>) -> usize {
    match space.capacity() - space.len() {
        0 => CHUNK,
        room => room.min(CHUNK),
    }
}

impl Ahead {
    fn start(file: &Arc<File>) -> io::Result<Self> {
        let file = Arc::clone(file);
        // One that was read, and one being read: the rest stays in the pipe.
        let (send, chunks) = sync_channel(1);
        let reader = thread::Builder::new().name("pipe".to_owned());
        reader.spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                let read = read_some(&file, &mut buffer);
                let is_last = !matches!(read, Ok(1..));
                let chunk = read.map(|count| buffer.front(count).to_vec());
                if send.send(chunk).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self {
            chunks,
            rest: Vec::new(),
        })
    }

    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        if self.rest.is_empty() {
            let next = match timeout {
                Some(timeout) => self.chunks.recv_timeout(timeout),
                None => self
                    .chunks
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
            };
            self.rest = match next {
                Ok(chunk) => chunk?,
                Err(RecvTimeoutError::Timeout) => return Ok(ReadResult::TimedOut),
                // The thread has already reported the end.
                Err(RecvTimeoutError::Disconnected) => return Ok(ReadResult::End),
            };
        }
        if self.rest.is_empty() {
            return Ok(ReadResult::End);
        }
        let count = room(space).min(self.rest.len());
        space.extend(self.rest.drain(..count));
        Ok(ReadResult::Bytes(count))
    }
}

/// Reads available data; none at the end.
fn read_some(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
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
