//! Handles as chunk sources and sinks.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::windows::io::{AsHandle as _, OwnedHandle};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use tapewright_schemas::slices::{Front as _, Part as _};

use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// The size of one read, in bytes.
const CHUNK: usize = 256 << 10;

/// One end of a pipe, file or console.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: Arc<File>,
    reading: Reading,
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

/// A reference to a pipe.
#[derive(Debug)]
pub(crate) struct Watch;

impl Watch {
    /// Whether the pipe has no reader: only known after a write.
    #[expect(clippy::unused_self, reason = "elsewhere the pipe is looked at")]
    pub(crate) fn is_broken(&self) -> bool {
        false
    }
}

impl Pipe {
    pub(super) fn of(handle: OwnedHandle) -> Self {
        Self {
            file: Arc::new(handle.into()),
            reading: Reading::Here(Vec::new()),
        }
    }

    /// A reference to this pipe for another thread.
    #[expect(clippy::unused_self, reason = "elsewhere the pipe is looked at")]
    pub(crate) fn watch(&self) -> Watch {
        Watch
    }

    /// The process's standard input and output. Lints forbid printing, so nothing else writes to
    /// the client; the client sees the end of the output when the process exits.
    pub(crate) fn take_standard() -> io::Result<(Self, Self)> {
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        Ok((Self::of(input), Self::of(output)))
    }

    /// The process's standard error, shared with other code.
    pub(crate) fn standard_error() -> io::Result<Self> {
        Ok(Self::of(io::stderr().as_handle().try_clone_to_owned()?))
    }
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
        let count = read_some(&self.file, buffer)?;
        if count == 0 {
            return Ok(ReadResult::End);
        }
        space.extend_from_slice(buffer.front(count));
        Ok(ReadResult::Bytes(count))
    }

    fn is_over(&self) -> bool {
        false
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
        let room = match space.capacity() - space.len() {
            0 => CHUNK,
            room => room,
        };
        let count = room.min(self.rest.len());
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
