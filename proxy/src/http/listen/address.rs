//! Where clients connect: an address, or a socket in the file system.

use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixSocket, UnixStream};

/// Where clients connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An address; on this machine every user reaches it.
    Tcp(SocketAddr),
    /// A socket that only its owner can open.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether only this machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(out),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

/// How clients reach us, once they can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachableAt {
    /// At `scheme://authority`.
    Origin(String),
    /// Through a socket, over HTTP/1.1.
    Socket(PathBuf),
}

/// A place that is ours.
#[derive(Debug)]
pub(super) enum BoundListener {
    Tcp(TcpListener),
    Unix(UnixListener, Owned),
}

/// A connection that was accepted.
pub(super) enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

/// A socket of ours in the file system, which goes when we go.
#[derive(Debug)]
pub(super) struct Owned(PathBuf);

impl Drop for Owned {
    fn drop(&mut self) {
        // Another process may have removed it.
        fs::remove_file(&self.0).ok();
    }
}

impl BoundListener {
    pub(super) async fn bind(place: ListenAddress) -> io::Result<Self> {
        match place {
            ListenAddress::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            ListenAddress::Unix(path) => {
                remove_dead(&path)?;
                let socket = UnixSocket::new_stream()?;
                socket.bind(&path)?;
                let owned = Owned(path);
                // Nobody can connect before we listen, so that there is no moment at which
                // others could.
                fs::set_permissions(&owned.0, Permissions::from_mode(0o600))?;
                Ok(Self::Unix(socket.listen(BACKLOG)?, owned))
            }
        }
    }

    /// The address; a socket in the file system counts as one of this machine.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.local_addr(),
            Self::Unix(..) => Ok((Ipv4Addr::LOCALHOST, 0).into()),
        }
    }

    /// The path of a socket in the file system.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(_, Owned(path)) => Some(path),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(socket) => {
                let (stream, address) = socket.accept().await?;
                Ok(Accepted::Tcp(stream, address))
            }
            Self::Unix(socket, _) => Ok(Accepted::Unix(socket.accept().await?.0)),
        }
    }
}

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Removes a socket without a server; anything else stays.
fn remove_dead(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refused) {
        fs::remove_file(path)?;
    }
    Ok(())
}
