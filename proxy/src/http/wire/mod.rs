//! What is written to a connection past hyper, which has no way to say it: interim responses
//! (1xx) on the client's leg, and unannounced trailers on both.
//!
//! Both need the right place in the bytes that leave, and hyper tells of it by when it flushes:
//! it does so when all that it has encoded has left it. At such a moment, and while the
//! response is not known yet, an interim response stands between two messages; and where a
//! body has nothing left but trailers, the next bytes are its last chunk, which the trailers
//! belong to. What is written instead is encoded here ([`say`]), from fields that were parsed,
//! so that no peer can put a line into it.

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

/// One connection, as those see it who write to it.
///
/// Counts the times at which nothing of it was left in our hands. A body that breaks off makes
/// its connection fail at once, with what is still in its buffers: the last words of a server
/// that died would be lost. Such a body waits for the next of these times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire(Arc<State>);

#[derive(Debug, Default)]
struct State {
    times: AtomicU64,
    // Whether there is a waiter, so that a flush without one takes no lock.
    is_waited_for: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
    // Who serves the connection.
    server: Mutex<Option<Waker>>,
    // Whether there is anything in `own`, which is seldom.
    has_own: AtomicBool,
    own: Mutex<Own>,
}

/// What waits to be written past hyper.
#[derive(Debug, Default)]
struct Own {
    // The exchange whose interim responses are taken, and how many there were.
    taken: Option<u64>,
    exchanges: u64,
    interims: Vec<u8>,
    // A last chunk with its trailers.
    trailers: Option<Bytes>,
}

impl Wire {
    /// How often nothing was left in our hands so far.
    pub(crate) fn times(&self) -> u64 {
        self.0.times.load(Ordering::Acquire)
    }

    /// Ready once it was more often than so many `times`.
    pub(crate) fn poll_after(&self, times: u64, context: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0.waiting);
        // Before the times are read: either they are seen to have grown, or this is.
        self.0.is_waited_for.store(true, Ordering::SeqCst);
        if self.0.times.load(Ordering::SeqCst) > times {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Has the connection flushed once more. On HTTP/2 it rests while its streams have
    /// nothing to send, and would be flushed only with the next frame that comes.
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

    /// Says that nothing is left in our hands.
    pub(crate) fn tell(&self) {
        self.0.times.fetch_add(1, Ordering::SeqCst);
        if self.0.is_waited_for.swap(false, Ordering::SeqCst) {
            let waiting = std::mem::take(&mut *lock(&self.0.waiting));
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Takes interim responses of the exchange that begins now, until [`Interims::close`].
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

    /// Writes these trailers with the last chunk, if that is what comes next.
    fn trail(&self, last: Bytes) {
        lock(&self.0.own).trailers = Some(last);
        self.0.has_own.store(true, Ordering::Release);
    }

    /// What the next bytes are replaced by, if they are a last chunk.
    fn take_trailers(&self) -> Option<Bytes> {
        self.take(|own| own.trailers.take())
    }

    /// The interim responses that wait.
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

/// Where the interim responses of one exchange are passed on: to a client of HTTP/1.1.
#[derive(Clone, Debug)]
pub(crate) struct Interims {
    wire: Wire,
    exchange: u64,
}

/// An interim response that was not passed on: the client does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread;

/// How much of interim responses waits for a client to read it, in bytes.
const MOST_WAITING: usize = 256 * 1024;

impl Interims {
    /// Passes one on. Too late, when the response is there, it is passed over: then the
    /// exchange has come to its end without this server.
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

    /// Has the task of the connection woken for each of them. Nothing else may: a connection
    /// rests while the body of its request is not read.
    pub(crate) fn poll_begin(&self, context: &Context<'_>) -> Poll<()> {
        self.wire.served_by(context.waker());
        Poll::Ready(())
    }

    /// Takes no more of them, since the response is there.
    pub(crate) fn close(&self) {
        let mut own = lock(&self.wire.0.own);
        if own.taken == Some(self.exchange) {
            own.taken = None;
        }
    }

    /// Ready once all of them are on their way, so that the response may follow.
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
