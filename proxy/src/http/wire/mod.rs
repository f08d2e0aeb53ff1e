//! Writes to a connection what hyper does not support: interim responses (1xx) on the client's leg,
//! and unannounced trailers on both.
//!
//! Both need the right position in the output, which hyper reveals by its flushes: it flushes when
//! everything that it has encoded was written. At that moment, before there is a response, an
//! interim response is between two messages; and when only the trailers of a body are left, the
//! next bytes are its last chunk, which the trailers belong to. The replacement is encoded here
//! ([`say`]) from parsed fields, so that no peer can inject a line.

mod say;
mod stream;
mod trailing;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

pub(crate) use self::say::may_trail;
pub(crate) use self::stream::Wired;
pub(crate) use self::trailing::Trailing;

/// One connection, for code that writes to it.
///
/// Counts how often all output has been written. A body that is cut off makes its connection fail
/// immediately, including what is still in its buffers: the last output of a server that crashed
/// would be lost. Such a body waits for the next of these times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire(Arc<State>);

#[derive(Debug, Default)]
struct State {
    times: AtomicU64,
    // Whether there is a waiter, so that a flush without one needs no lock.
    is_waited_for: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
    // The task that serves the connection.
    server: Mutex<Option<Waker>>,
    // Whether there is anything in `own`, which is rare.
    has_own: AtomicBool,
    own: Mutex<Own>,
}

/// Pending output that bypasses hyper.
#[derive(Debug, Default)]
struct Own {
    // The exchange whose interim responses are accepted, and the number of exchanges so far.
    taken: Option<u64>,
    exchanges: u64,
    interims: Vec<u8>,
    // A last chunk with its trailers.
    trailers: Option<Bytes>,
}

impl Wire {
    /// How often all output has been written so far.
    pub(crate) fn times(&self) -> u64 {
        self.0.times.load(Ordering::Acquire)
    }

    /// Ready when the count exceeds `times`.
    pub(crate) fn poll_after(&self, times: u64, context: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0.waiting);
        // Set before the count is read: either the new count is seen here, or this flag there.
        self.0.is_waited_for.store(true, Ordering::SeqCst);
        if self.0.times.load(Ordering::SeqCst) > times {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Causes another flush. An HTTP/2 connection is idle while its streams have nothing to send,
    /// and would only flush with the next incoming frame.
    pub(crate) fn ask(&self) {
        if let Some(server) = &*lock(&self.0.server) {
            server.wake_by_ref();
        }
    }

    pub(crate) fn served_by(&self, waker: &Waker) {
        let mut server = lock(&self.0.server);
        match &mut *server {
            Some(known) => known.clone_from(waker),
            None => *server = Some(waker.clone()),
        }
    }

    /// Notes that all output has been written.
    pub(crate) fn tell(&self) {
        self.0.times.fetch_add(1, Ordering::SeqCst);
        if self.0.is_waited_for.swap(false, Ordering::SeqCst) {
            let waiting = std::mem::take(&mut *lock(&self.0.waiting));
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Accepts interim responses of the exchange that starts now, until [`Interims::close`].
    pub(crate) fn interims(&self) -> Interims {
        let mut own = lock(&self.0.own);
        own.exchanges += 1;
        own.taken = Some(own.exchanges);
        own.trailers = None;
        Interims {
            wire: self.clone(),
            exchange: own.exchanges,
        }
    }

    /// Writes these trailers with the last chunk, if that comes next.
    fn trail(&self, last: Bytes) {
        lock(&self.0.own).trailers = Some(last);
        self.0.has_own.store(true, Ordering::Release);
    }

    /// The replacement for the next bytes, if they are a last chunk.
    fn take_trailers(&self) -> Option<Bytes> {
        self.take(|own| own.trailers.take())
    }

    /// The pending interim responses.
    fn take_interims(&self) -> Option<Bytes> {
        let taken = self.take(|own| {
            let bytes = std::mem::take(&mut own.interims);
            (!bytes.is_empty()).then(|| bytes.into())
        });
        if taken.is_some() {
            self.ask();
        }
        taken
    }

    fn take(&self, what: impl FnOnce(&mut Own) -> Option<Bytes>) -> Option<Bytes> {
        if !self.0.has_own.load(Ordering::Acquire) {
            return None;
        }
        let mut own = lock(&self.0.own);
        let taken = what(&mut own);
        let is_left = own.trailers.is_some() || !own.interims.is_empty();
        self.0.has_own.store(is_left, Ordering::Release);
        taken
    }
}

/// Forwards the interim responses of one exchange to an HTTP/1.1 client.
#[derive(Clone, Debug)]
pub(crate) struct Interims {
    wire: Wire,
    exchange: u64,
}

/// An interim response that was not forwarded, since the client does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread;

/// The maximum size of pending interim responses, in bytes.
const MOST_WAITING: usize = 256 * 1024;

impl Interims {
    /// Forwards one. It is ignored if there already is a response: in that case the exchange has
    /// ended without this server.
    pub(crate) fn pass(&self, status: StatusCode, fields: &HeaderMap) -> Result<(), Unread> {
        let state = &self.wire.0;
        let mut own = lock(&state.own);
        if own.taken != Some(self.exchange) {
            return Ok(());
        }
        if own.interims.len() > MOST_WAITING {
            return Err(Unread);
        }
        say::interim(status, fields, &mut own.interims);
        state.has_own.store(true, Ordering::Release);
        drop(own);
        self.wire.ask();
        Ok(())
    }

    /// Registers the connection's task to be woken for each of them. Nothing else does this: a
    /// connection is idle while the body of its request is not read.
    pub(crate) fn poll_begin(&self, context: &Context<'_>) -> Poll<()> {
        self.wire.served_by(context.waker());
        Poll::Ready(())
    }

    /// Accepts no more of them, since there is a response.
    pub(crate) fn close(&self) {
        let mut own = lock(&self.wire.0.own);
        if own.taken == Some(self.exchange) {
            own.taken = None;
        }
    }

    /// Ready when all of them have been written, so that the response may follow.
    pub(crate) fn poll_passed(&self, context: &Context<'_>) -> Poll<()> {
        // The code that takes them wakes this task.
        ready!(self.poll_begin(context));
        if lock(&self.wire.0.own).interims.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
