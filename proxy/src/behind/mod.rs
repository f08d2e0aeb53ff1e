//! Processes a recording while it is made, on a thread of low priority that reads its tapes while
//! they are written.
//!
//! The tapes are already redacted. The recorder does no work for the thread, and never waits for
//! it.

mod follow;
mod tape;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::tape::Header;

use self::follow::Follower;
use crate::clock::Clock;
use crate::growth::Wakeup;
use crate::page::Search;
use crate::system::Rank;
use crate::system::process::step_back;

/// Observes the events of one tape.
pub trait Observer: Send {
    /// Handles the next event; `message` is its parsed message, if known.
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>);

    /// Called after a time without new events: everything up to this time was observed.
    fn tick(&mut self, now: SystemTime);

    /// Called after the last event.
    fn finish(&mut self);
}

/// Makes the observer of a tape; `None` for a tape that is not observed.
pub type MakeObserver = Box<dyn Fn(&Header) -> Option<Box<dyn Observer>> + Send>;

/// A thread that reads the tapes of a recording, until `end` was called and everything was read.
#[derive(Debug)]
pub struct Behind {
    end: Arc<End>,
    wakeup: Arc<Wakeup>,
    thread: Option<JoinHandle<()>>,
}

/// Whether the recording has ended, and the deadline for reading the rest.
#[derive(Debug)]
struct End {
    clock: Clock,
    until: Mutex<Option<Duration>>,
}

impl End {
    fn until(&self) -> Option<Duration> {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the recording has ended.
    fn has_come(&self) -> bool {
        self.until().is_some()
    }

    /// Whether the deadline has passed.
    fn is_past(&self) -> bool {
        self.until()
            .is_some_and(|until| self.clock.elapsed() >= until)
    }
}

impl Behind {
    /// Starts to read the wanted tapes, at this interval; `at_end` is called after the last
    /// observation, with the number of bytes that were not read before the deadline given to
    /// [`end`](Self::end).
    pub fn start(
        search: Search,
        make: MakeObserver,
        pace: Duration,
        at_end: impl FnOnce(u64) + Send + 'static,
    ) -> io::Result<Self> {
        let end = Arc::new(End {
            clock: Clock::start(),
            until: Mutex::default(),
        });
        let wakeup = Arc::new(Wakeup::new()?);
        let follower = Follower::new(search, make, pace, Arc::clone(&end), Arc::clone(&wakeup));
        let thread = thread::Builder::new()
            .name("behind".to_owned())
            .spawn(move || {
                aside();
                at_end(follower.run());
            })?;
        Ok(Self {
            end,
            wakeup,
            thread: Some(thread),
        })
    }

    /// Notes that the recording has ended: the rest is read, within this time.
    pub fn end(&self, within: Duration) {
        let until = self.end.clock.elapsed() + within;
        let mut ends = self
            .end
            .until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ends.get_or_insert(until);
        drop(ends);
        self.wakeup.wake();
    }

    /// Waits until everything was read.
    pub fn join(mut self) {
        // A panicked thread observes nothing more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Lowers the priority of this thread below all others.
pub(crate) fn aside() {
    step_back(Rank::Last);
}
