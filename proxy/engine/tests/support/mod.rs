//! Drives a lane the way a transport does, and keeps what came out.

use tapewright_engine::policy::Policy;
use tapewright_engine::{Forward, Lane, Settings};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, LineEnd, Offset, SessionKey,
};

/// A lane to the server with everything that left it.
pub struct Driven<P> {
    pub lane: Lane<P>,
    pub forward: Forward,
    pub out: Vec<u8>,
    pub writes: Vec<Vec<u8>>,
    pub events: Vec<Event>,
    /// For each event, how many bytes had been passed on when it was handed out.
    pub out_before_event: Vec<usize>,
}

pub fn settings(forward: Forward, limit_bytes: usize) -> Settings {
    Settings { conduit: ConduitId(0), session: SessionKey(0), forward, limit_bytes }
}

impl<P: Policy> Driven<P> {
    pub fn new(forward: Forward, limit_bytes: usize, policy: P) -> Self {
        Self {
            lane: Lane::new(Direction::ToServer, settings(forward, limit_bytes), policy),
            forward,
            out: Vec::new(),
            writes: Vec::new(),
            events: Vec::new(),
            out_before_event: Vec::new(),
        }
    }

    pub fn input(&mut self, at: u64, bytes: &[u8]) {
        self.lane.space().extend_from_slice(bytes);
        self.lane.handle_input(Offset(at));
        self.drain();
    }

    pub fn eof(&mut self, at: u64) {
        self.lane.handle_eof(Offset(at));
        self.drain();
    }

    pub fn timeout(&mut self, at: u64) {
        self.lane.handle_timeout(Offset(at));
        self.drain();
    }

    pub fn drain(&mut self) {
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

    /// The messages on the tape, as wire length, kept bytes and line end.
    pub fn messages(&self) -> Vec<(u64, Vec<u8>, LineEnd)> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Message { payload, end } => {
                    Some((payload.wire_len(), payload.kept().to_vec(), *end))
                }
                _ => None,
            })
            .collect()
    }
}

/// What a stream of bytes holds, by the plainest means.
pub fn expected(bytes: &[u8], limit: usize) -> Vec<(u64, Vec<u8>, LineEnd)> {
    let mut found = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (line, end) = match line {
            [line @ .., b'\r', b'\n'] => (line, LineEnd::CrLf),
            [line @ .., b'\n'] => (line, LineEnd::Lf),
            line => (line, LineEnd::None),
        };
        let kept = if line.len() > limit { &line[..limit.min(64 * 1024)] } else { line };
        found.push((line.len() as u64, kept.to_vec(), end));
    }
    found
}

