//! Addresses for clients: a TCP address, or a socket in the file system.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream};

use crate::system::sockets;

/// The address for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// A TCP address; every user of this machine can connect to it.
    Tcp(SocketAddr),
    /// A socket that only its owner can open.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether only this machine can connect.
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

/// The address at which clients can connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachableAt {
    /// At `scheme://authority`.
    Origin(String),
    /// Through a socket, over HTTP/1.1.
    Socket(PathBuf),
}

/// A bound address.
#[derive(Debug)]
pub(super) enum BoundListener {
    Tcp(TcpListener),
    Unix(sockets::Listener),
}

/// An accepted connection.
pub(super) enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(sockets::LocalStream),
}

impl BoundListener {
    pub(super) async fn bind(place: ListenAddress) -> io::Result<Self> {
        match place {
            ListenAddress::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            ListenAddress::Unix(path) => Ok(Self::Unix(sockets::Listener::bind(path)?)),
        }
    }

    /// The address; a socket in the file system counts as local.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.local_addr(),
            Self::Unix(_) => Ok((Ipv4Addr::LOCALHOST, 0).into()),
        }
    }

    /// The path of a socket in the file system.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(socket) => Some(socket.path()),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(socket) => {
                let (stream, address) = socket.accept().await?;
                Ok(Accepted::Tcp(sockets::uninherited(stream)?, address))
            }
            Self::Unix(socket) => Ok(Accepted::Unix(socket.accept().await?)),
        }
    }
}
