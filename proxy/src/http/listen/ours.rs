//! Addresses of this process, which must not be reachable through it.
//!
//! Requests of a forward proxy or a gateway come from this machine with the right host, so users of
//! the proxy could reach what is only for the owner of this machine.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::net::TcpStream;

/// Registers a listening address, until it is dropped.
#[derive(Debug)]
pub(super) struct ListeningPlace(SocketAddr);

static OURS: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

impl ListeningPlace {
    pub(super) fn new(address: SocketAddr) -> Self {
        all().push(address);
        Self(address)
    }
}

impl Drop for ListeningPlace {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(at) = all.iter().position(|one| *one == self.0) {
            all.swap_remove(at);
        }
    }
}

fn all() -> MutexGuard<'static, Vec<SocketAddr>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rejects a connection to this process. It is checked when it is established: at that point the
/// address is unambiguous, in any notation.
pub(crate) fn but_to_us(stream: TcpStream) -> io::Result<TcpStream> {
    let (here, there) = (stream.local_addr()?, stream.peer_addr()?);
    if all().iter().any(|ours| is_at(*ours, here, there)) {
        let why = format!("{there} is an address of tapewright itself, which it does not proxy");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(stream)
}

/// Whether a connection from `here` to `there` leads to this listening address.
fn is_at(ours: SocketAddr, here: SocketAddr, there: SocketAddr) -> bool {
    let [at, from, to] = [ours, here, there].map(|one| one.ip().to_canonical());
    let is_this_machine = to.is_loopback() || to == from;
    ours.port() == there.port() && (at == to || at.is_unspecified() && is_this_machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ours: &str, here: &str, there: &str) -> bool {
        is_at(
            ours.parse().unwrap(),
            here.parse().unwrap(),
            there.parse().unwrap(),
        )
    }

    #[test]
    fn what_comes_out_at_ourselves_is_known_by_where_it_came_out() {
        assert!(at("127.0.0.1:4001", "127.0.0.1:50000", "127.0.0.1:4001"));
        assert!(at(
            "127.0.0.1:4001",
            "[::ffff:127.0.0.1]:50000",
            "[::ffff:127.0.0.1]:4001"
        ));
        assert!(at("0.0.0.0:4001", "192.0.2.7:50000", "192.0.2.7:4001"));
        assert!(at("[::]:4001", "127.0.0.1:50000", "127.0.0.2:4001"));
        assert!(!at("127.0.0.1:4001", "127.0.0.1:50000", "127.0.0.1:4002"));
        assert!(!at("127.0.0.1:4001", "127.0.0.1:50000", "127.0.0.2:4001"));
        assert!(!at("127.0.0.1:4001", "[::1]:50000", "[::1]:4001"));
        assert!(!at("0.0.0.0:4001", "192.0.2.7:50000", "192.0.2.8:4001"));
    }

    #[tokio::test]
    async fn a_place_of_ours_is_refused_until_we_leave_it() {
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let ours = ListeningPlace::new(address);
        // Other notations.
        let port = address.port();
        for host in ["127.0.0.1", "0.0.0.0", "localhost"] {
            let stream = TcpStream::connect((host, port)).await.unwrap();
            let kind = but_to_us(stream).map(drop).map_err(|error| error.kind());
            assert_eq!(kind, Err(io::ErrorKind::PermissionDenied), "{host}");
        }
        drop(ours);
        let stream = TcpStream::connect(address).await.unwrap();
        assert!(but_to_us(stream).is_ok());
    }
}
