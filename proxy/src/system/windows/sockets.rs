//! Named pipes, which are the local sockets of Windows, and checks of others.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsSocket as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
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

/// Whether one direction of a [`LocalStream`] can be closed before the other: not of a pipe.
pub(crate) const CAN_HALF_CLOSE: bool = false;

/// A connection to a named pipe. It is written before it is read: the system lets a write wait while
/// another thread reads the same end.
#[derive(Debug)]
pub struct LocalClient {
    pipe: Pipe,
    file: File,
    patience: Duration,
    // What was read and not fetched yet.
    unread: Vec<u8>,
}

/// The number of attempts to connect while a listener is taking another client, and the pause in
/// between.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// Whether a process has the socket at `theirs` open that is connected to `ours`: not known here.
pub(crate) fn has_open(_theirs: SocketAddr, _ours: SocketAddr) -> Option<bool> {
    None
}

/// Connects to the address of a [`Listener`]. Reads time out after `patience`.
pub fn connect(path: &Path, patience: Duration) -> io::Result<LocalClient> {
    /// No instance is free: the listener makes the next one when it has taken a client.
    const PIPE_BUSY: i32 = 231;
    /// Who listens learns who we are, and cannot act in our name.
    const SECURITY_IDENTIFICATION: u32 = 0x0001_0000;
    let name = name_of(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.security_qos_flags(SECURITY_IDENTIFICATION);
    let mut tries = 0;
    let file = loop {
        match options.open(&name) {
            Err(error) if error.raw_os_error() == Some(PIPE_BUSY) && tries < TRIES => {
                tries += 1;
                sleep(PAUSE);
            }
            other => break other?,
        }
    };
    let pipe = Pipe::of(file.try_clone()?.into());
    Ok(LocalClient {
        pipe,
        file,
        patience,
        unread: Vec::new(),
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
        if self.unread.is_empty() {
            let read = self.pipe.read(&mut self.unread, Some(self.patience))?;
            if read == ReadResult::TimedOut {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        let count = self.unread.len().min(bytes.len());
        let taken = self.unread.drain(..count);
        bytes.part_mut(..count).copy_from_slice(taken.as_slice());
        Ok(count)
    }
}

/// A named pipe that no other process has created before, and to which no other machine can connect.
/// Only its owner, administrators and the system may write to it; others can connect, but ask nothing.
/// It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    path: PathBuf,
    name: PathBuf,
    // The instance for the next client.
    next: Mutex<NamedPipeServer>,
}

impl Listener {
    pub(crate) fn bind(path: PathBuf) -> io::Result<Self> {
        let name = name_of(&path)?;
        let first = ServerOptions::new()
            .first_pipe_instance(true)
            .create(&name)?;
        Ok(Self {
            path,
            name,
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
        let free = ServerOptions::new().create(&self.name)?;
        Ok(std::mem::replace(&mut *next, free))
    }
}

/// The name of the pipe for a path: all pipes are in one folder, and their names may contain
/// anything but a backslash.
fn name_of(path: &Path) -> io::Result<PathBuf> {
    const FOLDER: &str = r"\\.\pipe\";
    let path = std::path::absolute(path)?;
    let text = path.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    if text.to_lowercase().starts_with(FOLDER) {
        return Ok(path);
    }
    Ok(PathBuf::from(format!(
        "{FOLDER}{}",
        text.replace('\\', "/")
    )))
}

/// Keeps an accepted connection from the processes that we start.
///
/// Unlike the sockets that `std` and `tokio` make themselves, an accepted one is inherited on this system: a server that
/// we start would hold it open after we have closed it. A copy is not inherited.
pub(crate) fn uninherited(accepted: TcpStream) -> io::Result<TcpStream> {
    TcpStream::from_std(accepted.into_std()?.try_clone()?)
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

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::Shutdown;
    use std::process::{Command, Stdio};

    use super::*;

    /// What a client reads after a connection to it was closed, while a process that was started
    /// meanwhile is running.
    fn read_after_close(
        keep: impl FnOnce(TcpStream) -> io::Result<TcpStream>,
    ) -> io::Result<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (mut client, accepted) = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = Stream::connect(listener.local_addr().unwrap()).unwrap();
            (client, keep(listener.accept().await.unwrap().0).unwrap())
        });
        let mut child = Command::new("cmd")
            .args(["/d", "/c", "set /p line="])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let _inside = runtime.enter();
        drop(accepted);
        client
            .set_read_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        let read = client.read(&mut [0]);
        drop(child.stdin.take());
        child.wait().unwrap();
        client.shutdown(Shutdown::Both).ok();
        read
    }

    #[test]
    fn a_closed_connection_is_not_held_open_by_a_process_that_was_started_meanwhile() {
        assert_eq!(read_after_close(uninherited).unwrap(), 0);
        // Without it it would be. If this fails, `uninherited` is not needed any more.
        let held = read_after_close(Ok).unwrap_err();
        let late = [ErrorKind::TimedOut, ErrorKind::WouldBlock];
        assert!(late.contains(&held.kind()), "{held}");
    }

    #[test]
    fn a_path_is_the_name_of_a_pipe() {
        let name = |path| name_of(Path::new(path)).unwrap();
        let named = Path::new(r"\\.\pipe\C:/a b/control");
        assert_eq!(name(r"C:\a b\control"), named);
        assert_eq!(name("C:/a b/control"), named);
        let given = r"\\.\pipe\mine";
        assert_eq!(name(given), Path::new(given));
    }
}
