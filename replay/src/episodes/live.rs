//! The live server of a session.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use tapewright_proxy::bridge::line_queue::{Line, LineQueue};
use tapewright_proxy::bridge::ours;
use tapewright_proxy::upstream::{ChunkSink, ChunkSource, Life, Link, ReadResult};
use tapewright_schemas::conversation::{IdKey, Outstanding};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::Exit;

use super::LineQueues;

/// A running live server.
pub(super) struct Live {
    to_server: Box<dyn ChunkSink>,
    owed: Arc<Owed>,
    threads: Vec<JoinHandle<()>>,
    ended: Box<dyn FnOnce() -> io::Result<Exit> + Send>,
}

/// The maximum number of pending requests; further ones are refused.
const UNDER_WAY: usize = 65_536;

/// The pending requests of a live server.
pub(super) struct Owed {
    // Lines from the client.
    input: LineQueue,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    // Pending requests, by the key of their id: the source text of the id.
    requests: Outstanding<Vec<u8>>,
    // The request whose answer is withheld from the client.
    kept: Option<IdKey>,
    ended: bool,
    signalled: bool,
    // The client's input has ended: it expects no more answers.
    left: bool,
}

impl Live {
    /// The pending requests.
    pub(super) fn owed(&self) -> Arc<Owed> {
        Arc::clone(&self.owed)
    }

    /// Reads from a link: lines go to `output`, the log to `log`. The caller holds the returned
    /// life.
    pub(super) fn of(link: Link, line_queues: LineQueues) -> io::Result<(Self, Box<dyn Life>)> {
        let LineQueues { input, output, log } = line_queues;
        let owed = Arc::new(Owed {
            input,
            state: Mutex::new(State {
                requests: Outstanding::new(UNDER_WAY),
                kept: None,
                ended: false,
                signalled: false,
                left: false,
            }),
            changed: Condvar::new(),
        });
        let (hearing, source) = (Arc::clone(&owed), link.to_client);
        let mut threads = vec![spawn("live-read", move || {
            each_line(source, |line| hearing.hear(line, &output));
            hearing.over(&output);
        })?];
        if let Some(source) = link.log {
            threads.push(spawn("live-log", move || {
                each_line(source, |line| log.push_blocking(line).is_ok());
            })?);
        }
        let live = Self {
            to_server: link.to_server,
            owed,
            threads,
            ended: link.ended,
        };
        Ok((live, link.life))
    }

    /// Performs the client's handshake: sends its `initialize`, waits for the answer, and sends
    /// `notifications/initialized`. Returns false if no answer arrives.
    pub(super) fn introduce(&mut self, initialize: &[u8]) -> bool {
        let Kind::Request { id, .. } = Envelope::parse(initialize).kind else {
            return false;
        };
        self.owed.lock().kept = Some(IdKey::exact(&id));
        if !self.write(initialize) {
            return false;
        }
        let waits = |state: &mut State| state.kept.is_some() && !state.ended;
        let waited =
            self.owed
                .changed
                .wait_timeout_while(self.owed.lock(), INTRODUCTION_TIME, waits);
        let answered = waited
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .kept
            .is_none();
        answered && self.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    /// Sends a client's request whose id has the source text `id`. Returns false if it is refused.
    pub(super) fn ask(&mut self, id: &[u8], line: &[u8]) -> bool {
        let id_key = IdKey::exact_of(id);
        {
            let mut state = self.owed.lock();
            if state.ended {
                return false;
            }
            if !state.requests.enter(id_key, id.to_vec()) {
                return false;
            }
        }
        let taken = self.write(line);
        if !taken {
            // Already answered if its end was noticed first.
            return self.owed.lock().requests.take(id_key).is_none();
        }
        taken
    }

    /// Sends any other message.
    pub(super) fn write(&mut self, line: &[u8]) -> bool {
        self.to_server.write(&[line, b"\n"].concat()).is_ok()
    }

    /// Whether a request with this id is pending.
    pub(super) fn owes(&self, id: &RequestId<'_>) -> bool {
        self.owed.lock().requests.contains(id)
    }

    /// Closes its input, and waits until it exits.
    pub(super) fn end(self) -> Exit {
        self.owed.lock().left = true;
        drop(self.to_server);
        for thread in self.threads {
            // The result of a thread that panicked does not matter.
            thread.join().ok();
        }
        (self.ended)().unwrap_or(Exit::Code(1))
    }
}

impl Owed {
    /// The number of pending requests.
    pub(super) fn count(&self) -> usize {
        self.lock().requests.len()
    }

    /// Notes that a signal was forwarded to the server: when the server ends, so does the session.
    pub(super) fn signalled(&self) {
        let mut state = self.lock();
        state.signalled = true;
        if state.ended {
            self.input.finish();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards a message of the server; returns false if the receiver is gone.
    fn hear(&self, line: Bytes, output: &LineQueue) -> bool {
        let mut keep = false;
        for_each_message(&line, |message| {
            if let Kind::Response { id, .. } = Envelope::parse(message).kind {
                let mut state = self.lock();
                let key = IdKey::exact(&id);
                if state.kept.as_ref() == Some(&key) {
                    state.kept = None;
                    keep = true;
                }
                state.requests.take(key);
            }
        });
        if keep {
            self.changed.notify_all();
            return true;
        }
        line.trim_ascii().is_empty() || output.push_blocking(line).is_ok()
    }

    /// Answers the pending requests in the server's place, after the server has ended. A client
    /// whose input has ended is not answered: some fail at an answer while they leave.
    fn over(&self, output: &LineQueue) {
        let left: Vec<Vec<u8>> = {
            let mut state = self.lock();
            state.ended = true;
            if state.signalled {
                self.input.finish();
            }
            let pending = state.requests.take_all();
            pending.filter(|_| !state.left).collect()
        };
        self.changed.notify_all();
        for id in left {
            // A client that has left needs no answer.
            output
                .push_now(Line::ours(ours::error(&id, ENDED, None)))
                .ok();
        }
    }
}

/// The error for an unrecorded request that the live server did not answer.
pub(super) const ENDED: &str = "not recorded, and the live server has ended";

/// The timeout for the answer to `initialize`.
const INTRODUCTION_TIME: Duration = Duration::from_secs(60);

/// The maximum length of a live server's line.
const LONGEST_LINE: usize = 256 << 20;

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Splits a stream into lines, until it ends, a line is too long, or `each` returns false.
fn each_line(mut source: Box<dyn ChunkSource>, mut each: impl FnMut(Bytes) -> bool) {
    let mut partial = Vec::new();
    loop {
        let mut chunk = Vec::with_capacity(64 << 10);
        match source.read(&mut chunk, None) {
            Ok(ReadResult::Bytes(_)) => {}
            Ok(ReadResult::TimedOut) => continue,
            Ok(ReadResult::End) | Err(_) => break,
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if partial.len() + piece.len() > LONGEST_LINE {
                return;
            }
            partial.extend_from_slice(piece);
            if partial.last() == Some(&b'\n') {
                partial.pop();
                if !each(std::mem::take(&mut partial).into()) {
                    return;
                }
            }
        }
    }
    if !partial.is_empty() {
        each(partial.into());
    }
}
