//! Slots for connections. When all are taken, the longest idle connection is closed.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::clock::runtime_now;
use crate::http::wire::Wire;

/// The slots for connections.
pub(super) struct ConnectionSlots {
    places: Arc<Semaphore>,
    shared: Arc<Shared>,
    // The maximum number asked to leave at once.
    batch: usize,
}

struct Shared {
    start: Instant,
    taken: Mutex<HashMap<u64, Weak<ConnectionSlot>>>,
    // The number asked to leave that have not left yet.
    leaving: AtomicUsize,
}

/// The slot of one connection, and of the tunnel that it may become.
pub(crate) struct ConnectionSlot {
    number: u64,
    shared: Arc<Shared>,
    /// Shows whether data for the client has been sent.
    pub(super) wire: Wire,
    // The number of requests in progress.
    requests: AtomicUsize,
    // The number of flushes when the last of them ended, plus one; 0 if there was none.
    written: AtomicU64,
    // When it became idle, in milliseconds since the start.
    since: AtomicU64,
    is_leaving: AtomicBool,
    // It is closed, and waits for its client to close it.
    is_lingering: AtomicBool,
    leave: Notify,
    // Set for TCP.
    ends: OnceLock<Ends>,
    _place: OwnedSemaphorePermit,
}

/// The addresses of a connection.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) ours: SocketAddr,
    pub(super) theirs: SocketAddr,
}

/// A request in progress, or a tunnel: it holds the slot.
pub(crate) struct Busy(Arc<ConnectionSlot>);

/// How long to wait for a slot before idle connections are checked again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The number of slots for each connection that is closed at once: scanning all of them takes time.
const BATCH: usize = 64;

impl ConnectionSlots {
    pub(super) fn new(count: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(count)),
            shared: Arc::new(Shared {
                start: runtime_now(),
                taken: Mutex::default(),
                leaving: AtomicUsize::new(0),
            }),
            batch: count.div_ceil(BATCH),
        }
    }

    /// A slot for a connection; those that have been idle longest are closed if there is none.
    pub(super) async fn take(&self, number: u64) -> Option<Arc<ConnectionSlot>> {
        let mut place = Arc::clone(&self.places).try_acquire_owned().ok();
        while place.is_none() {
            if self.shared.leaving.load(Ordering::Relaxed) == 0 {
                self.make_room();
            }
            // Connections that were asked may have started a request meanwhile, and others are idle
            // now.
            match timeout(LOOK_AGAIN, Arc::clone(&self.places).acquire_owned()).await {
                Ok(acquired) => place = Some(acquired.ok()?),
                Err(_) => self.make_room(),
            }
        }
        let slot = Arc::new(ConnectionSlot {
            number,
            shared: Arc::clone(&self.shared),
            wire: Wire::default(),
            requests: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            since: AtomicU64::new(self.shared.now()),
            is_leaving: AtomicBool::new(false),
            is_lingering: AtomicBool::new(false),
            leave: Notify::new(),
            ends: OnceLock::new(),
            _place: place?,
        });
        let mut taken = self
            .shared
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        taken.insert(number, Arc::downgrade(&slot));
        Some(slot)
    }

    /// Asks connections to leave: first those that are closed, then those that have been idle
    /// longest.
    fn make_room(&self) {
        // Dropping the last reference to a slot takes the lock.
        let all: Vec<Arc<ConnectionSlot>> = {
            let taken = self
                .shared
                .taken
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            taken.values().filter_map(Weak::upgrade).collect()
        };
        let mut idle: Vec<(u64, &Arc<ConnectionSlot>)> = all
            .iter()
            .filter(|slot| !slot.is_leaving.load(Ordering::Relaxed))
            .filter_map(|slot| Some((slot.idle_since()?, slot)))
            .collect();
        idle.sort_unstable_by_key(|(since, slot)| (*since, slot.number));
        for (_, slot) in idle.into_iter().take(self.batch) {
            slot.is_leaving.store(true, Ordering::Relaxed);
            self.shared.leaving.fetch_add(1, Ordering::Relaxed);
            slot.leave.notify_one();
        }
    }
}

impl Shared {
    fn now(&self) -> u64 {
        let since = runtime_now().saturating_duration_since(self.start);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl ConnectionSlot {
    /// Starts a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Notes the addresses of the connection.
    pub(super) fn is_between(&self, ends: Ends) {
        self.ends.get_or_init(|| ends);
    }

    /// The addresses of the connection, if it has any.
    pub(super) fn ends(&self) -> Option<Ends> {
        self.ends.get().copied()
    }

    /// Whether a request is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Acquire) > 0
    }

    /// Completes when another connection needs the slot.
    pub(super) async fn asked(&self) {
        self.leave.notified().await;
    }

    /// Whether there is no request in progress, and all answers have been sent.
    pub(super) fn is_idle(&self) -> bool {
        self.idle_since().is_some()
    }

    /// Notes whether the connection is closed, and only waits for its client.
    pub(super) fn linger(&self, is_lingering: bool) {
        self.is_lingering.store(is_lingering, Ordering::Relaxed);
    }

    /// When the last request ended, to the millisecond, unless one is in progress.
    pub(super) fn free_since(&self) -> Option<Instant> {
        let since = Duration::from_millis(self.since.load(Ordering::Acquire));
        (!self.is_busy()).then(|| self.shared.start + since)
    }

    fn idle_since(&self) -> Option<u64> {
        let since = self.since.load(Ordering::Acquire);
        let is_busy = self.is_busy();
        let is_written = self.wire.times() >= self.written.load(Ordering::Acquire);
        let is_lingering = self.is_lingering.load(Ordering::Relaxed);
        (!is_busy && is_written).then_some(if is_lingering { 0 } else { since })
    }
}

impl Busy {
    /// The slot that it holds.
    pub(crate) fn slot(&self) -> &Arc<ConnectionSlot> {
        &self.0
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Self(slot) = self;
        slot.written.store(slot.wire.times() + 1, Ordering::Release);
        slot.since.store(slot.shared.now(), Ordering::Release);
        slot.requests.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let shared = &self.shared;
        let mut taken = shared.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.number);
        if self.is_leaving.load(Ordering::Relaxed) {
            shared.leaving.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
