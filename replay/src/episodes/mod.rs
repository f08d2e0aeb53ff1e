//! Plays a recording first and forwards everything else to a live server: recorded requests are
//! answered from the recording, others by the live server, and the client sees a single server.
//!
//! ```text
//! client ──▶ Worker ──▶ Session (the recording) ──▶ client
//!              └──────▶ Live (opened with the first request that needs it) ──▶ client
//! ```
//!
//! Before its first request the live server gets the `initialize` that the recording answered; its
//! answer is withheld from the client. Ids of the recorded server's requests are replaced by new
//! ones, so that replies find their request.

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

/// A recording, and a live server that answers everything else.
pub struct Episodes {
    cassette: CassetteUpstream,
    live: Arc<dyn Upstream>,
    asked: Arc<AtomicU64>,
}

impl Episodes {
    /// Answers from `cassette` first, then from `live`.
    #[must_use]
    pub fn new(cassette: CassetteUpstream, live: Arc<dyn Upstream>) -> Self {
        Self {
            cassette,
            live,
            asked: Arc::default(),
        }
    }

    /// The number of requests sent to the live server so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The queues of one session: lines from its client, lines to it, and lines for the log.
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

/// The live server, once it is started.
type LiveHold = Arc<Mutex<Option<LiveServer>>>;

/// Ends or signals the live server.
struct LiveServer {
    life: Box<dyn Life>,
    owed: Arc<Owed>,
}

/// Ends or signals both the player and the live server.
struct Hold {
    session: ReplaySession,
    // Lines from the client. When they end, the session ends.
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
                // How the server reacts to the signal is its decision; once it has ended, the
                // session ends.
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

/// The maximum length of a client's line that is examined.
const LONGEST_LINE: usize = 256 << 20;
