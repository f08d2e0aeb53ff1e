//! Local sockets, and checks of others.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::net::{TcpStream, UnixListener, UnixSocket};

/// One end of a connection within this machine.
pub type Stream = UnixStream;

/// A connection that [`Listener`] accepted.
pub(crate) type LocalStream = tokio::net::UnixStream;

/// Whether one direction of a [`LocalStream`] can be closed before the other.
pub(crate) const CAN_HALF_CLOSE: bool = true;

/// Connects to the address of a `Listener`. Reads time out after `patience`.
pub fn connect(path: &Path, patience: Duration) -> io::Result<Stream> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(patience))?;
    Ok(stream)
}

/// A local address to which only its owner can connect. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: UnixListener,
    owned: Owned,
}

/// A socket in the file system, which is removed when dropped.
#[derive(Debug)]
struct Owned(PathBuf);

impl Drop for Owned {
    fn drop(&mut self) {
        // Another process may have removed it.
        fs::remove_file(&self.0).ok();
    }
}

/// The maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

impl Listener {
    pub(crate) fn bind(path: PathBuf) -> io::Result<Self> {
        remove_dead(&path)?;
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        let owned = Owned(path);
        // No connections are possible before `listen`, so the permissions apply from the start.
        fs::set_permissions(&owned.0, Permissions::from_mode(0o600))?;
        let socket = socket.listen(BACKLOG)?;
        Ok(Self { socket, owned })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.owned.0
    }

    pub(crate) async fn accept(&self) -> io::Result<LocalStream> {
        Ok(self.socket.accept().await?.0)
    }
}

/// Removes a socket without a server; anything else is left alone.
fn remove_dead(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).is_err_and(refused) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Keeps an accepted connection from the processes that we start, as it is anyway on this system.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Windows")]
pub(crate) fn uninherited(accepted: TcpStream) -> io::Result<TcpStream> {
    Ok(accepted)
}

/// Checks a connection that other code reads.
#[derive(Debug)]
pub(crate) struct ConnectionProbe(OwnedFd);

impl ConnectionProbe {
    pub(crate) fn at(socket: &TcpStream) -> io::Result<Self> {
        Ok(Self(socket.as_fd().try_clone_to_owned()?))
    }

    /// Whether there is unread data, or the end.
    pub(crate) fn has_come(&self) -> bool {
        let now = Some(&Timespec::default());
        let came = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], now);
        came.is_ok_and(|count| count > 0)
    }
}
