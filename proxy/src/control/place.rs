//! Where a control can be: a port of this machine, or a socket in the file system.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::UnixListener;
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

use super::answer::Control;
use crate::http::listen::{Client, Limits, Listener, Phase, Served};

/// Where a control is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A port of this machine; whoever knows the token may use it.
    Tcp(SocketAddr),
    /// A socket that only its owner can open.
    Unix(PathBuf),
}

/// Why a text names no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a port of this machine, such as `127.0.0.1:0`, nor `unix:PATH`")]
pub struct BadPlace(String);

impl Place {
    /// Reads `127.0.0.1:4001`, `4001`, an `http://` URL of the same, or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, BadPlace> {
        let bad = || BadPlace(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(bad()),
                path => Ok(Self::Unix(PathBuf::from(path))),
            };
        }
        let plain = text.strip_prefix("http://").unwrap_or(text);
        let plain = plain.trim_end_matches('/');
        let address = match plain.parse::<u16>() {
            Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
            Err(_) => plain.parse().map_err(|_| bad())?,
        };
        address
            .ip()
            .is_loopback()
            .then_some(Self::Tcp(address))
            .ok_or_else(bad)
    }
}

/// A place at which nobody is served yet.
pub(super) enum Bound {
    Tcp(Listener),
    Unix(UnixListener, Socket),
}

/// A socket of ours in the file system, which goes when we go.
pub(super) struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody may have removed it before us.
        fs::remove_file(&self.0).ok();
    }
}

impl Bound {
    pub(super) async fn bind(place: &Place) -> io::Result<Self> {
        match place {
            Place::Tcp(address) => {
                let listener = Listener::bind(*address, None, super::LIMITS).await?;
                Ok(Self::Tcp(listener))
            }
            Place::Unix(path) => {
                // A socket that nobody serves any more is in the way; anything else stays.
                let is_socket =
                    fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
                if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
                    fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                let socket = Socket(path.clone());
                fs::set_permissions(path, Permissions::from_mode(0o600))?;
                Ok(Self::Unix(listener, socket))
            }
        }
    }

    /// As a client names it.
    pub(super) fn address(&self) -> io::Result<String> {
        match self {
            Self::Tcp(listener) => Ok(format!("http://{}", listener.address()?)),
            Self::Unix(_, Socket(path)) => Ok(format!("unix:{}", path.display())),
        }
    }

    pub(super) async fn serve(
        self,
        control: Control,
        limits: Limits,
        mut phase: watch::Receiver<Phase>,
    ) {
        let (listener, _socket) = match self {
            Self::Tcp(listener) => return listener.serve(control, phase).await,
            Self::Unix(listener, socket) => (listener, socket),
        };
        let tasks = TaskTracker::new();
        let places = Arc::new(Semaphore::new(limits.connections));
        let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = phase.wait_for(|phase| *phase != Phase::Serving) => break,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                continue;
            };
            // More than there are places for are sent away.
            let Ok(permit) = Arc::clone(&places).try_acquire_owned() else {
                continue;
            };
            let served = Served {
                client: Client {
                    address: nobody,
                    connection: 0,
                    secure: false,
                },
                handler: control.clone(),
                limits,
                phase: phase.clone(),
            };
            tasks.spawn(async move {
                served.serve_decided(stream, false).await;
                drop(permit);
            });
        }
        tasks.close();
        tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let local = |port| Ok(Place::Tcp(SocketAddr::from(([127, 0, 0, 1], port))));
        assert_eq!(Place::parse("4001"), local(4001));
        assert_eq!(Place::parse("127.0.0.1:0"), local(0));
        assert_eq!(Place::parse("http://127.0.0.1:7/"), local(7));
        assert_eq!(
            Place::parse("unix:/tmp/x"),
            Ok(Place::Unix("/tmp/x".into()))
        );
        for text in ["", "unix:", "0.0.0.0:1", "example.com:1", "99999"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
