//! A recording as an upstream of `proxy`, with a player in the server's place.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::system::{Signal, ends_within};
use tapewright_proxy::upstream::{
    ChunkSink, ChunkSource, Life, Link, OpenError, ReadResult, Upstream,
};
use tapewright_schemas::event::{Exit, Peer};
use tapewright_schemas::slices::Part as _;

use crate::index::Index;
use crate::player::{Output, Player, Sessionless};
use crate::tally::Tally;

/// A recording as a server that uses lines. Every link is a separate session.
#[derive(Clone, Debug)]
pub struct CassetteUpstream {
    index: Arc<Index>,
    tally: Arc<Tally>,
    sessionless: Sessionless,
    clock: Clock,
}

impl CassetteUpstream {
    /// A server that plays this recording.
    #[must_use]
    pub fn new(index: Arc<Index>, tally: Arc<Tally>, clock: Clock) -> Self {
        Self {
            sessionless: Sessionless::new(&index),
            index,
            tally,
            clock,
        }
    }

    /// Starts a session without a link, for a front that transports messages itself.
    #[must_use]
    pub fn session(&self) -> ReplaySession {
        self.tally.opened();
        let player = Player::new(
            Arc::clone(&self.index),
            Arc::clone(&self.tally),
            self.sessionless.clone(),
        );
        ReplaySession {
            stage: Arc::new(Stage {
                state: Mutex::new(State {
                    player,
                    gone: None,
                    input_over: false,
                    unheard: false,
                    done: false,
                }),
                changed: Condvar::new(),
                clock: self.clock,
            }),
        }
    }
}

impl CassetteUpstream {
    /// Like [`session`](Self::session), but unrecorded requests are left to another server.
    #[must_use]
    pub fn falling_session(&self) -> ReplaySession {
        let session = self.session();
        session.stage.lock().player.fall_through();
        session
    }
}

impl Upstream for CassetteUpstream {
    fn open(&self) -> Result<Link, OpenError> {
        let session = self.session();
        let waiting = session.clone();
        Ok(Link {
            peer: Peer::Cassette,
            to_server: Box::new(Sink {
                session: session.clone(),
                partial: BytesMut::new(),
            }),
            to_client: Box::new(Source {
                session: session.clone(),
                pieces: VecDeque::new(),
            }),
            log: None,
            ended: Box::new(move || Ok(waiting.wait())),
            life: Box::new(session),
        })
    }
}

/// A session shared by threads that wait for each other.
#[derive(Clone, Debug)]
pub struct ReplaySession {
    stage: Arc<Stage>,
}

#[derive(Debug)]
struct Stage {
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    player: Player,
    // How the session was ended from outside.
    gone: Option<Exit>,
    // The client's input has ended.
    input_over: bool,
    // The receiver is gone.
    unheard: bool,
    // The last message was taken, or the receiver is gone.
    done: bool,
}

/// The result of [`ReplaySession::receive`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// There are no more messages.
    End,
    /// A message.
    Output(Output),
    /// No message within the timeout.
    TimedOut,
}

impl ReplaySession {
    /// Handles one message of the client.
    ///
    /// Blocks while too many messages to the client are unread.
    pub fn send(&self, message: &Bytes) {
        let mut state = self.room();
        state.player.handle(self.stage.clock.elapsed(), message);
        drop(state);
        self.stage.changed.notify_all();
    }

    /// Waits until the number of unread messages is below the limit.
    fn room(&self) -> MutexGuard<'_, State> {
        let mut state = self.stage.lock();
        while state.player.backlog() > BACKLOG && state.gone.is_none() {
            state = self.stage.wait(state);
        }
        state
    }

    /// Like [`send`](Self::send), for a session that [falls
    /// through](CassetteUpstream::falling_session); returns false for a request that another server
    /// must answer.
    #[must_use]
    pub fn offer(&self, message: &Bytes) -> bool {
        let mut state = self.room();
        let taken = state.player.offer(self.stage.clock.elapsed(), message);
        drop(state);
        self.stage.changed.notify_all();
        taken
    }

    /// Handles a request that the client cancelled by closing the stream of its answer.
    pub fn cancel(&self, id: &[u8]) {
        let now = self.stage.clock.elapsed();
        self.stage.lock().player.handle_cancel(now, id);
        self.stage.changed.notify_all();
    }

    /// How a signal ended the session, if one did.
    #[must_use]
    pub fn fate(&self) -> Option<Exit> {
        self.stage.lock().gone
    }

    /// Whether a signal ended the session.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.fate().is_some()
    }

    /// Handles the end of the client's input.
    pub fn end_input(&self) {
        let mut state = self.stage.lock();
        state.player.handle_end_of_input();
        state.input_over = true;
        state.done |= state.unheard;
        drop(state);
        self.stage.changed.notify_all();
    }

    /// Waits for the next message, at most for `timeout`.
    #[must_use]
    pub fn receive(&self, timeout: Option<Duration>) -> Received {
        let clock = self.stage.clock;
        let give_up = timeout.map(|timeout| clock.elapsed().saturating_add(timeout));
        let mut state = self.stage.lock();
        loop {
            let now = clock.elapsed();
            if state.gone.is_some() {
                state.done = true;
            } else if let Some(output) = state.player.poll(now) {
                if state.player.backlog() == BACKLOG {
                    self.stage.changed.notify_all();
                }
                return Received::Output(output);
            } else if state.player.is_done() {
                state.done = true;
            }
            if state.done {
                drop(state);
                self.stage.changed.notify_all();
                return Received::End;
            }
            let next = state.player.poll_timeout();
            let Some(until) = next.into_iter().chain(give_up).min() else {
                state = self.stage.wait(state);
                continue;
            };
            if give_up.is_some_and(|at| at <= now) {
                return Received::TimedOut;
            }
            let (guard, _) = self
                .stage
                .changed
                .wait_timeout(state, until.saturating_sub(now))
                .unwrap_or_else(PoisonError::into_inner);
            state = guard;
        }
    }

    /// Waits for the session to end.
    fn wait(&self) -> Exit {
        let mut state = self.stage.lock();
        while !state.done && state.gone.is_none() {
            state = self.stage.wait(state);
        }
        state.gone.unwrap_or(Exit::Code(0))
    }
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in another thread leaves the player in a consistent state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life for ReplaySession {
    fn signal(&self, signal: Signal) {
        if ends_within(signal) {
            let mut state = self.stage.lock();
            state.gone.get_or_insert(Exit::Signal(signal.as_raw()));
            drop(state);
            self.stage.changed.notify_all();
        }
    }

    fn owed(&self) -> usize {
        let state = self.stage.lock();
        if state.gone.is_some() {
            0
        } else {
            state.player.backlog()
        }
    }

    fn finish(self: Box<Self>) {}
}

/// Splits the client's input into lines.
struct Sink {
    session: ReplaySession,
    partial: BytesMut,
}

impl ChunkSink for Sink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        let mut rest = chunk;
        while let Some(feed) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(feed);
            rest = after.part(1..);
            let line = if self.partial.is_empty() {
                Bytes::copy_from_slice(line)
            } else {
                self.partial.extend_from_slice(line);
                self.partial.split().freeze()
            };
            self.session.send(&line);
        }
        if self.partial.len() + rest.len() > LINE_LIMIT {
            let what = "a line from the client is too long";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if !self.partial.is_empty() {
            self.session.send(&self.partial.split().freeze());
        }
        self.session.end_input();
    }
}

/// Yields the player's messages, line by line.
struct Source {
    session: ReplaySession,
    pieces: VecDeque<Bytes>,
}

impl ChunkSource for Source {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        let mut filled = 0;
        loop {
            while let Some(piece) = self.pieces.front_mut() {
                let room = space.capacity() - space.len();
                if room == 0 {
                    return Ok(ReadResult::Bytes(filled));
                }
                let part = piece.part(..room.min(piece.len()));
                space.extend_from_slice(part);
                filled += part.len();
                let taken = part.len();
                piece.advance(taken);
                if piece.is_empty() {
                    self.pieces.pop_front();
                }
            }
            // Add what is ready, without waiting.
            let wait = if filled > 0 {
                Some(Duration::ZERO)
            } else {
                timeout
            };
            match self.session.receive(wait) {
                Received::Output(output) => {
                    self.pieces
                        .extend(output.parts.into_iter().filter(|part| !part.is_empty()));
                    self.pieces.push_back(Bytes::from_static(b"\n"));
                }
                Received::End | Received::TimedOut if filled > 0 => {
                    return Ok(ReadResult::Bytes(filled));
                }
                Received::End => return Ok(ReadResult::End),
                Received::TimedOut => return Ok(ReadResult::TimedOut),
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut state = self.session.stage.lock();
        state.unheard = true;
        state.done |= state.input_over;
        drop(state);
        self.session.stage.changed.notify_all();
    }
}

/// The maximum length of a client's line. Real requests have a few megabytes at most: a file that
/// is written.
const LINE_LIMIT: usize = 256 << 20;

/// The maximum number of unread messages before the client's input is paused.
const BACKLOG: usize = 16_384;
