//! Connections that wait for their next exchange.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::connect::Connection;

/// The idle connections to one origin, the latest last.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Idle>>);

#[derive(Debug)]
struct Idle {
    connection: Connection,
    // HTTP/2 says itself when it is over.
    until: Option<Instant>,
}

/// How many connections are kept.
const MOST_IDLE: usize = 64;

/// How long a connection of HTTP/1.1 may wait. Common servers close theirs after five
/// seconds, and a request that meets a closing connection is lost: it is sent once.
pub(super) const LONGEST_IDLE: Duration = Duration::from_secs(3);

impl Pool {
    /// A connection that was open when last seen.
    pub(super) fn take(&self) -> Option<Connection> {
        let mut idle = self.lock();
        while let Some(Idle { connection, until }) = idle.pop() {
            let late = until.is_some_and(|until| now() > until);
            if late || !connection.is_open() {
                connection.abandon();
                continue;
            }
            if connection.is_shared() {
                let connection = connection.clone_shared();
                idle.push(Idle { connection, until });
            }
            return Some(connection);
        }
        None
    }

    /// The connection that requests share, when there is one: HTTP/2.
    pub(super) fn take_shared(&self) -> Option<Connection> {
        let mut idle = self.lock();
        idle.retain(|idle| !idle.connection.is_shared() || idle.connection.is_open());
        let shared = idle.iter().find(|idle| idle.connection.is_shared())?;
        Some(shared.connection.clone_shared())
    }

    /// Keeps a connection for the next exchange, for so long.
    pub(super) fn put(&self, connection: Connection, time: Duration) {
        if !connection.is_open() || time.is_zero() {
            return;
        }
        let mut idle = self.lock();
        let is_shared = |idle: &Idle| idle.connection.is_shared();
        let known = connection.is_shared() && idle.iter().any(is_shared);
        if !known && idle.len() < MOST_IDLE {
            let until = (!connection.is_shared()).then(|| now() + time);
            idle.push(Idle { connection, until });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The runtime's time, which only measures how long connections idle.
fn now() -> Instant {
    Instant::now()
}
