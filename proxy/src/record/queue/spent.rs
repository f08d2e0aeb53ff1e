//! The memory of written events.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use tapewright_schemas::event::Event;

use super::cost;

/// Written events, until the next sender frees them.
///
/// Allocators cache freed memory for each thread. If the writer freed what other threads allocate,
/// their caches would be empty, and they would compete with the writer for the allocator's locks: a
/// tenth of the cost of an exchange, and sometimes a wait for a thread that has lost its processor.
#[derive(Debug, Default)]
pub(super) struct Spent(Mutex<Vec<Event>>);

/// The maximum number of stored events.
const MOST: usize = 4_096;

/// The maximum cost of a stored event: allocators do not cache large pieces.
const LARGEST: usize = 1_024;

impl Spent {
    /// Stores written events. The largest events are freed immediately, as are earlier ones that
    /// were not freed yet: an event may share its memory with a larger one.
    pub(super) fn put(&self, batch: &mut Vec<Event>) {
        batch.retain(|event| cost(event) <= LARGEST);
        batch.truncate(MOST);
        std::mem::swap(&mut *self.lock(), batch);
        batch.clear();
    }

    /// Frees up to this many, unless another thread does so.
    pub(super) fn free(&self, count: usize) {
        let mut spent = match self.0.try_lock() {
            Ok(spent) => spent,
            Err(TryLockError::Poisoned(spent)) => spent.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let rest = spent.len().saturating_sub(count);
        spent.truncate(rest);
    }

    /// Frees all: no more are added.
    pub(super) fn clear(&self) {
        *self.lock() = Vec::new();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use tapewright_schemas::event::{Direction, EventBody, LineEnd, Offset, Payload};

    use super::*;

    /// A message, and a handle that shows whether it was freed.
    fn message(size: usize) -> (Event, Arc<Vec<u8>>) {
        struct Tracked(Arc<Vec<u8>>);

        impl AsRef<[u8]> for Tracked {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        let text = Arc::new(vec![b' '; size]);
        let payload = Payload::Whole(Bytes::from_owner(Tracked(Arc::clone(&text))));
        let end = LineEnd::Lf;
        let body = EventBody::message(payload, end);
        (Event::new(Offset(0), Direction::ToServer, body), text)
    }

    fn held(all: &[Arc<Vec<u8>>]) -> usize {
        all.iter().filter(|one| Arc::strong_count(one) > 1).count()
    }

    #[test]
    fn what_was_written_is_freed_as_others_are_added() {
        let spent = Spent::default();
        let (mut batch, all): (Vec<_>, Vec<_>) = (0..9).map(|_| message(10)).unzip();
        spent.put(&mut batch);
        assert!(batch.is_empty());
        assert_eq!(held(&all), 9);
        spent.free(4);
        assert_eq!(held(&all), 5);
        let busy = spent.lock();
        spent.free(4);
        assert_eq!(busy.len(), 5);
        drop(busy);
        spent.free(100);
        assert_eq!(held(&all), 0);
    }

    #[test]
    fn no_more_is_kept_than_is_of_use() {
        let spent = Spent::default();
        let (mut batch, all): (Vec<_>, Vec<_>) = (0..MOST + 9).map(|_| message(1)).unzip();
        let (large, text) = message(LARGEST);
        batch.insert(0, large);
        spent.put(&mut batch);
        assert_eq!((held(&all), held(&[text])), (MOST, 0));
        // The earlier ones.
        let (message, text) = message(1);
        spent.put(&mut vec![message]);
        assert_eq!((held(&all), held(std::slice::from_ref(&text))), (0, 1));
        spent.clear();
        assert_eq!(held(&[text]), 0);
        spent.clear();
        assert_eq!(held(&all), 0);
    }
}
