//! Connections that wait for their next exchange.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::connect::Connection;

/// The idle connections to one origin, the latest first.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Connection>>);

/// How many connections are kept.
const MOST_IDLE: usize = 64;

impl Pool {
    /// A connection that was open when last seen.
    pub(super) fn take(&self) -> Option<Connection> {
        let mut idle = self.lock();
        while let Some(connection) = idle.pop() {
            if !connection.is_open() {
                continue;
            }
            if connection.is_shared() {
                idle.push(connection.clone_shared());
            }
            return Some(connection);
        }
        None
    }

    /// Keeps a connection for the next exchange.
    pub(super) fn put(&self, connection: Connection) {
        if !connection.is_open() {
            return;
        }
        let mut idle = self.lock();
        let known = connection.is_shared() && idle.iter().any(Connection::is_shared);
        if !known && idle.len() < MOST_IDLE {
            idle.push(connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
