//! Pools idle connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::connect::Connection;
use crate::clock::runtime_now;
use crate::http::listen::WorkerId;

/// The connections to one origin.
#[derive(Debug, Default)]
pub(super) struct Pool {
    // In order of last use.
    idle: Mutex<Vec<Idle>>,
    // The number of connections in use.
    busy: AtomicUsize,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
    // HTTP/2 signals its own end.
    until: Option<Instant>,
}

impl Idle {
    /// Whether another exchange may start on it, as far as is known.
    fn is_good(&self) -> bool {
        let late = self.until.is_some_and(|until| runtime_now() > until);
        !late && self.connection.is_open()
    }

    /// Like `is_good`, also if that is not certain: the thread that waits for its socket may be
    /// busy, and not have noticed yet that the server has closed it. Checking the socket costs a
    /// system call, which is skipped for a recently used one.
    fn is_still_good(&self, thread: WorkerId) -> bool {
        let is_fresh = self.connection.serves(thread) && self.since.elapsed() < FRESH;
        self.is_good() && (is_fresh || self.connection.is_quiet())
    }
}

/// How long after an exchange the next one starts without a check. Servers that close idle
/// connections wait longer.
const FRESH: Duration = Duration::from_millis(20);

/// The maximum number of pooled connections.
const MOST_IDLE: usize = 64;

/// How long an HTTP/1.1 connection may be idle. Common servers close theirs after five seconds, and
/// a request on a closing connection is lost, since it is sent only once.
pub(super) const LONGEST_IDLE: Duration = Duration::from_secs(3);

impl Pool {
    /// A connection that was open when last checked.
    ///
    /// It is from the current thread. One from another thread is slower for both, and is only used
    /// while there are no other exchanges: in that case it is better than a new one.
    pub(super) fn take(&self) -> Option<Connection> {
        let me = WorkerId::current();
        let any = self.busy.load(Ordering::Relaxed) == 0;
        let mut idle = self.lock();
        loop {
            let own = idle.iter().rposition(|idle| idle.connection.serves(me));
            let at = own.or_else(|| idle.len().checked_sub(1).filter(|_| any))?;
            let found = idle.remove(at);
            if !found.is_still_good(me) {
                found.connection.abandon();
                continue;
            }
            if !found.connection.is_shared() {
                return Some(found.connection);
            }
            let connection = found.connection.clone_shared();
            idle.push(found);
            return Some(connection);
        }
    }

    /// Counts a connection as in use.
    pub(super) fn begin(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts it as no longer in use.
    pub(super) fn end(&self) {
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    /// The connection that requests share, if there is one: HTTP/2.
    pub(super) fn take_shared(&self) -> Option<Connection> {
        let mut idle = self.lock();
        idle.retain(|idle| !idle.connection.is_shared() || idle.connection.is_open());
        let shared = idle.iter().find(|idle| idle.connection.is_shared())?;
        Some(shared.connection.clone_shared())
    }

    /// Pools a connection for the next exchange, for this time.
    pub(super) fn put(&self, connection: Connection, time: Duration) {
        if !connection.is_open() || time.is_zero() {
            return;
        }
        let mut idle = self.lock();
        if idle.len() >= MOST_IDLE {
            idle.retain(Idle::is_good);
        }
        let is_shared = |idle: &Idle| idle.connection.is_shared();
        let known = connection.is_shared() && idle.iter().any(is_shared);
        if !known && idle.len() < MOST_IDLE {
            let since = runtime_now();
            let until = (!connection.is_shared()).then(|| since + time);
            idle.push(Idle {
                connection,
                since,
                until,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::connect::Connector;
    use super::super::{OriginSettings, OriginUrl, TlsSettings, client_config};
    use super::*;

    /// Whether a connection without a task is used.
    fn is_used(meanwhile: impl FnOnce(std::net::TcpStream) -> Option<std::net::TcpStream>) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let tls = TlsSettings {
            skip_verify: true,
            ..TlsSettings::default()
        };
        let settings = OriginSettings {
            tls: client_config(&tls).unwrap(),
            connect_timeout: Duration::from_secs(60),
            http2_prior_knowledge: false,
            destinations: None,
        };
        let connector = Connector::new(&OriginUrl::parse(&url).unwrap(), settings);
        let connection = runtime.block_on(connector.connect()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let pool = Pool::default();
        pool.put(connection, LONGEST_IDLE);
        for idle in pool.lock().iter_mut() {
            idle.since = idle.since.checked_sub(FRESH).unwrap();
        }
        let _server = meanwhile(server);
        pool.take().is_some()
    }

    #[test]
    fn a_connection_that_was_closed_unseen_is_not_used() {
        assert!(is_used(Some));
        assert!(!is_used(|server| {
            drop(server);
            None
        }));
    }
}
