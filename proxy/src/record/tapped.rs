//! An upstream whose conversations are recorded.
//!
//! Normally the recorder is between a client and a server. If tapewright itself is the client, or
//! if only a part of a conversation reaches the server, this records directly in front of the
//! server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tapewright_engine::policy::Transparent;
use tapewright_engine::{Conduit, Forward, Lane, Settings};
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Head, ResponseHead, SessionKey,
};
use tapewright_schemas::slices::Part as _;

use super::Recorder;
use crate::clock::Clock;
use crate::upstream::{ChunkSink, ChunkSource, Link, OpenError, ReadResult, Upstream};

/// An upstream, and how its conversations are recorded. Each link is a separate conduit.
pub struct Tapped {
    upstream: Arc<dyn Upstream>,
    recorder: Arc<Recorder>,
    clock: Clock,
    links: AtomicU32,
}

impl Tapped {
    /// Records `upstream` with `recorder` and the times of `clock`. The recorder is left running:
    /// the caller finishes it.
    #[must_use]
    pub fn new(upstream: Arc<dyn Upstream>, recorder: Arc<Recorder>, clock: Clock) -> Self {
        Self {
            upstream,
            recorder,
            clock,
            links: AtomicU32::new(0),
        }
    }

    /// Records the head of the HTTP response with the next answer of the latest link, which is not
    /// visible in its lines.
    pub fn note_head(&self, head: ResponseHead) {
        let notes = Notes {
            recorder: Arc::clone(&self.recorder),
            clock: self.clock,
            conduit: ConduitId(self.links.load(Ordering::Relaxed).saturating_sub(1)),
        };
        let head = Box::new(Head::Response(head));
        notes.note(Direction::ToClient, EventBody::Head(head));
    }
}

impl Upstream for Tapped {
    fn open(&self) -> Result<Link, OpenError> {
        let link = self.upstream.open()?;
        let conduit = ConduitId(self.links.fetch_add(1, Ordering::Relaxed));
        let notes = Notes {
            recorder: Arc::clone(&self.recorder),
            clock: self.clock,
            conduit,
        };
        notes.note(Direction::ToServer, EventBody::Opened(link.peer.clone()));
        let settings = Settings {
            conduit,
            session: SessionKey::default(),
            forward: Forward::AtOnce,
            limit_bytes: self.recorder.limit_bytes(),
        };
        let (to_server, to_client) = Conduit::new(settings, &Transparent).split();
        let (ended, end_notes) = (link.ended, notes.clone());
        Ok(Link {
            peer: link.peer,
            to_server: Box::new(Sink {
                lane: to_server,
                notes: notes.clone(),
                inner: link.to_server,
            }),
            to_client: Box::new(Source {
                lane: to_client,
                notes,
                inner: link.to_client,
                rest: Vec::new(),
                at: 0,
            }),
            log: link.log,
            ended: Box::new(move || {
                let exit = ended()?;
                end_notes.note(Direction::ToClient, EventBody::Exited(exit.into()));
                Ok(exit)
            }),
            life: link.life,
        })
    }
}

/// Records the events of a link.
#[derive(Clone)]
struct Notes {
    recorder: Arc<Recorder>,
    clock: Clock,
    conduit: ConduitId,
}

impl Notes {
    fn note(&self, dir: Direction, body: EventBody) {
        let mut event = Event::new(self.clock.now(), dir, body);
        event.conduit = self.conduit;
        let mut event = Some(event);
        self.recorder.record(|| event.take());
    }

    fn drain(&self, lane: &mut Lane<Transparent>) {
        self.recorder.record(|| lane.poll_event());
    }
}

struct Sink {
    lane: Lane<Transparent>,
    notes: Notes,
    inner: Box<dyn ChunkSink>,
}

impl ChunkSink for Sink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.lane.space().extend_from_slice(chunk);
        self.lane.handle_input(self.notes.clock.now());
        self.notes.drain(&mut self.lane);
        while let Some(bytes) = self.lane.poll_transmit() {
            self.inner.write(bytes)?;
            self.lane.transmitted();
        }
        self.notes.recorder.keep_pace();
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.lane.handle_eof(self.notes.clock.now());
        self.notes.drain(&mut self.lane);
    }
}

struct Source {
    lane: Lane<Transparent>,
    notes: Notes,
    inner: Box<dyn ChunkSource>,
    // What was recorded but not read yet.
    rest: Vec<u8>,
    at: usize,
}

impl ChunkSource for Source {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        while self.at == self.rest.len() {
            let read = self.inner.read(self.lane.space(), timeout);
            let now = self.notes.clock.now();
            match read {
                Ok(ReadResult::Bytes(_)) => {
                    self.lane.made_by(self.inner.maker());
                    self.lane.handle_input(now);
                }
                Ok(ReadResult::TimedOut) => return Ok(ReadResult::TimedOut),
                Ok(ReadResult::End) => self.lane.handle_eof(now),
                Err(_) => self.lane.handle_close(now, CloseReason::Failed),
            }
            self.notes.drain(&mut self.lane);
            self.rest.clear();
            self.at = 0;
            while let Some(bytes) = self.lane.poll_transmit() {
                self.rest.extend_from_slice(bytes);
                self.lane.transmitted();
            }
            if self.rest.is_empty() && self.lane.closed().is_some() {
                return read.map(|_| ReadResult::End);
            }
            self.notes.recorder.keep_pace();
        }
        let room = space.capacity() - space.len();
        let rest = self.rest.part(self.at..);
        let part = rest.part(..room.min(rest.len()));
        space.extend_from_slice(part);
        self.at += part.len();
        Ok(ReadResult::Bytes(part.len()))
    }
}
