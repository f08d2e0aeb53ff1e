//! What is made of a recording while it is made, by a thread of low priority that reads its tapes behind their writers.
//!
//! What is on a tape has its secrets hidden already. The recorder does nothing for the thread and waits for nothing of it.

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
use crate::system::process::{Rank, step_back};

/// Observes what is on one tape.
pub trait Observer: Send {
    /// Takes the next event; `message` is its message taken apart, where that is known.
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>);

    /// Nothing has come for a while, and everything up to this time has been observed.
    fn tick(&mut self, now: SystemTime);

    /// Nothing more will come.
    fn finish(&mut self);
}

/// Makes the observer of a tape; `None` for a tape that is not observed.
pub type MakeObserver = Box<dyn Fn(&Header) -> Option<Box<dyn Observer>> + Send>;

/// A thread that reads the tapes of a recording, until it is told that the recording has ended and everything was read.
#[derive(Debug)]
pub struct Behind {
    end: Arc<End>,
    wakeup: Arc<Wakeup>,
    thread: Option<JoinHandle<()>>,
}

/// Whether the recording has ended, and until when it is read on.
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

    /// Whether the time to read on is over.
    fn is_past(&self) -> bool {
        self.until()
            .is_some_and(|until| self.clock.elapsed() >= until)
    }
}

impl Behind {
    /// Begins to read the tapes that are looked for, once in so long; `at_end` is called once nothing more will be observed, with how
    /// many bytes of the tapes were not read in the time that [`end`](Self::end) gave.
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

    /// The recording has ended: what is left is read, for so long at most.
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
        // One that failed observes nothing more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Behind everybody else where processors are scarce.
pub(crate) fn aside() {
    step_back(Rank::Last);
}
