//! Named pipes, which are the local sockets of Windows, and checks of others.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::windows::io::AsSocket as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::sync::Mutex;

use super::pipe::Pipe;
use crate::upstream::{ChunkSource as _, ReadResult};
use tapewright_schemas::slices::PartMut as _;

/// A socket that blocks.
type Stream = std::net::TcpStream;
/// A connection that [`Listener`] accepted.
pub(crate) type LocalStream = NamedPipeServer;

/// A connection to a named pipe.
#[derive(Debug)]
pub struct LocalClient {
    pipe: Pipe,
    file: File,
    patience: Duration,
}

/// Connects to the address of a [`Listener`]. Reads time out after `patience`.
pub fn connect(path: &Path, patience: Duration) -> io::Result<LocalClient> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let pipe = Pipe::of(file.try_clone()?.into());
    Ok(LocalClient {
        pipe,
        file,
        patience,
    })
}

impl Write for LocalClient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for LocalClient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut space = Vec::with_capacity(bytes.len());
        match self.pipe.read(&mut space, Some(self.patience))? {
            ReadResult::Bytes(count) => {
                bytes.part_mut(..count).copy_from_slice(&space);
                Ok(count)
            }
            ReadResult::End => Ok(0),
            ReadResult::TimedOut => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// A named pipe that is private: no other process has created it before, no other machine can
/// connect, and only its owner may write to it. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    path: PathBuf,
    // The instance for the next client.
    next: Mutex<NamedPipeServer>,
}

impl Listener {
    pub(crate) fn bind(path: PathBuf) -> io::Result<Self> {
        let first = ServerOptions::new()
            .first_pipe_instance(true)
            .create(&path)?;
        Ok(Self {
            path,
            next: Mutex::new(first),
        })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) async fn accept(&self) -> io::Result<LocalStream> {
        let mut next = self.next.lock().await;
        next.connect().await?;
        let free = ServerOptions::new().create(&self.path)?;
        Ok(std::mem::replace(&mut *next, free))
    }
}

/// Checks a connection that other code reads.
#[derive(Debug)]
pub(crate) struct ConnectionProbe(Stream);

impl ConnectionProbe {
    pub(crate) fn at(socket: &TcpStream) -> io::Result<Self> {
        Ok(Self(socket.as_socket().try_clone_to_owned()?.into()))
    }

    /// Whether there is unread data, or the end.
    pub(crate) fn has_come(&self) -> bool {
        // It does not block: the runtime has made it non-blocking.
        let waits = |error: io::Error| error.kind() == io::ErrorKind::WouldBlock;
        !self.0.peek(&mut [0]).is_err_and(waits)
    }
}
