//! Local sockets, and checks of others.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, SocketAddr};
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

/// Whether a process has the socket at `theirs` open that is connected to `ours`; `None` if the
/// system does not tell.
///
/// Linux lists the sockets of its own network. One that its process has closed has no inode.
pub(crate) fn has_open(theirs: SocketAddr, ours: SocketAddr) -> Option<bool> {
    let file = match theirs.ip().to_canonical() {
        IpAddr::V4(_) => "/proc/net/tcp",
        IpAddr::V6(_) => "/proc/net/tcp6",
    };
    listed_as_open(&fs::read_to_string(file).ok()?, theirs, ours)
}

fn listed_as_open(list: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<bool> {
    let ends = format!(" {} {} ", listed(theirs), listed(ours));
    let line = list.lines().find(|line| line.contains(&ends))?;
    let inode = line.split_ascii_whitespace().nth(9)?;
    Some(inode != "0")
}

/// An address as Linux lists it: words in the byte order of the machine.
fn listed(address: SocketAddr) -> String {
    let bytes = match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (words, _) = bytes.as_chunks();
    let words = words.iter().map(|word| u32::from_ne_bytes(*word));
    let mut text = String::new();
    for word in words {
        let _never_fails = write!(text, "{word:08X}");
    }
    let _never_fails = write!(text, ":{:04X}", address.port());
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn a_socket_without_a_process_is_not_open() {
        let list = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
  12: 0100007F:DF3A 0100007F:9B0D 04 00000001:00000000 01:00000014 00000000     0        0 904878 1 0
  13: 0100007F:DF3B 0100007F:9B0D 05 00000000:00000000 03:00001770 00000000     0        0 0 3 0
  14: 00000000000000000000000001000000:DF3C 00000000000000000000000001000000:9B0D 04 1:0 01:14 0 0 0 7 1 0
";
        let open = |port: u16, ip: &str| {
            let at = |port| SocketAddr::new(ip.parse().unwrap(), port);
            listed_as_open(list, at(port), at(0x9B0D))
        };
        assert_eq!(open(0xDF3A, "127.0.0.1"), Some(true));
        assert_eq!(open(0xDF3A, "::ffff:127.0.0.1"), Some(true));
        assert_eq!(open(0xDF3B, "127.0.0.1"), Some(false));
        assert_eq!(open(0xDF3C, "::1"), Some(true));
        // Something translates the address, or the connection was reset.
        assert_eq!(open(0xDF3D, "127.0.0.1"), None);
    }
}
