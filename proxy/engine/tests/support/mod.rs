//! Drives a lane like a transport, and collects its output.

use tapewright_engine::policy::Policy;
use tapewright_engine::{Forward, Lane, Settings};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, LineEnd, Offset, SessionKey,
};

/// A lane to the server with all its output.
pub(crate) struct Driven<P: Policy> {
    pub(crate) lane: Lane<P>,
    pub(crate) out: Vec<u8>,
    pub(crate) writes: Vec<Vec<u8>>,
    pub(crate) events: Vec<Event>,
    /// For each event, the number of bytes that had been forwarded when it was handed out.
    pub(crate) out_before_event: Vec<usize>,
}

pub(crate) fn settings(forward: Forward, limit_bytes: usize) -> Settings {
    Settings {
        conduit: ConduitId(0),
        session: SessionKey(0),
        forward,
        limit_bytes,
    }
}

impl<P: Policy> Driven<P> {
    pub(crate) fn new(forward: Forward, limit_bytes: usize, policy: P) -> Self {
        Self {
            lane: Lane::new(Direction::ToServer, settings(forward, limit_bytes), policy),
            out: Vec::new(),
            writes: Vec::new(),
            events: Vec::new(),
            out_before_event: Vec::new(),
        }
    }

    pub(crate) fn input(&mut self, at: u64, bytes: &[u8]) {
        self.lane.space().extend_from_slice(bytes);
        self.lane.handle_input(Offset(at));
        self.drain();
    }

    pub(crate) fn eof(&mut self, at: u64) {
        self.lane.handle_eof(Offset(at));
        self.drain();
    }

    pub(crate) fn timeout(&mut self, at: u64) {
        self.lane.handle_timeout(Offset(at));
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        self.drain_events();
        self.drain_transmit();
    }

    fn drain_transmit(&mut self) {
        while let Some(bytes) = self.lane.poll_transmit() {
            self.out.extend_from_slice(bytes);
            self.writes.push(bytes.to_vec());
            self.lane.transmitted();
        }
    }

    fn drain_events(&mut self) {
        while let Some(event) = self.lane.poll_event() {
            self.events.push(event);
            self.out_before_event.push(self.out.len());
        }
    }

    /// The messages on the tape: wire length, recorded bytes and line end.
    pub(crate) fn messages(&self) -> Vec<(u64, Vec<u8>, LineEnd)> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Message { payload, end, .. } => {
                    Some((payload.wire_len(), payload.kept().to_vec(), *end))
                }
                _ => None,
            })
            .collect()
    }
}
