//! A recording first, a live server for the rest: what is recorded is played, what is not
//! is asked of the live server, and the client talks with one.
//!
//! ```text
//! client ──▶ Worker ──▶ Session (the recording) ──▶ client
//!              └──────▶ Live (opened with the first request that needs it) ──▶ client
//! ```
//!
//! The live server is introduced before it is asked: it gets the `initialize` that the
//! recording answered, and its answer is kept from the client. Ids of the recorded server's
//! requests are replaced by new ones, so that replies find their request.

mod live;
mod worker;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tapewright_proxy::bridge::line_queue::LineQueue;
use tapewright_proxy::bridge::lines::{LineSink, LineSource};
use tapewright_proxy::system::Signal;
use tapewright_proxy::upstream::{Life, Link, OpenError, Upstream};
use tapewright_schemas::event::Peer;

use crate::upstream::{CassetteUpstream, ReplaySession};

use self::live::Owed;
use self::worker::Worker;

/// A recording, and a live server that answers what is not on it.
pub struct Episodes {
    cassette: CassetteUpstream,
    live: Arc<dyn Upstream>,
    asked: Arc<AtomicU64>,
}

impl Episodes {
    /// `cassette` first, then `live`.
    #[must_use]
    pub fn new(cassette: CassetteUpstream, live: Arc<dyn Upstream>) -> Self {
        Self {
            cassette,
            live,
            asked: Arc::default(),
        }
    }

    /// How many requests were asked of the live server so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The lines of one session: what its client sends, what it gets, and what servers say beside.
#[derive(Clone)]
struct LineQueues {
    input: LineQueue,
    output: LineQueue,
    log: LineQueue,
}

impl Upstream for Episodes {
    fn open(&self) -> Result<Link, OpenError> {
        let (input, output, log) = (
            LineQueue::default(),
            LineQueue::default(),
            LineQueue::default(),
        );
        let session = self.cassette.falling_session();
        let life = Hold {
            session: session.clone(),
            input: input.clone(),
            live: Arc::default(),
        };
        let line_queues = LineQueues {
            input: input.clone(),
            output: output.clone(),
            log: log.clone(),
        };
        let worker = Worker::new(
            session,
            Arc::clone(&self.live),
            line_queues,
            Arc::clone(&life.live),
            Arc::clone(&self.asked),
        );
        let working = thread::Builder::new()
            .name("episodes".to_owned())
            .spawn(move || worker.run())
            .map_err(OpenError::Bridge)?;
        Ok(Link {
            peer: Peer::Cassette,
            to_server: Box::new(LineSink::new(input, LONGEST_LINE)),
            to_client: Box::new(LineSource::new(output)),
            log: Some(Box::new(LineSource::new(log))),
            ended: Box::new(move || {
                let exit = working.join();
                exit.map_err(|_| io::Error::other("the session failed"))
            }),
            life: Box::new(life),
        })
    }
}

/// A hold on the live server, once there is one.
type LiveHold = Arc<Mutex<Option<LiveServer>>>;

/// A hold on the live server.
struct LiveServer {
    life: Box<dyn Life>,
    owed: Arc<Owed>,
}

/// A hold on both.
struct Hold {
    session: ReplaySession,
    // What the client says. Its end is the end of all.
    input: LineQueue,
    live: LiveHold,
}

impl Hold {
    fn lock(&self) -> MutexGuard<'_, Option<LiveServer>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life for Hold {
    fn signal(&self, signal: Signal) {
        self.session.signal(signal);
        match self.lock().as_ref() {
            Some(held) => {
                held.life.signal(signal);
                // What it does about the signal is its own affair; once it has ended, we end.
                held.owed.signalled();
            }
            None if self.session.is_gone() => self.input.finish(),
            None => {}
        }
    }

    fn owed(&self) -> usize {
        let live = self.lock().as_ref().map_or(0, |held| held.owed.count());
        self.session.owed() + live
    }

    fn finish(self: Box<Self>) {
        let held = self.lock().take();
        if let Some(held) = held {
            held.life.finish();
        }
    }
}

/// The longest line of a client that is looked at.
const LONGEST_LINE: usize = 256 << 20;
