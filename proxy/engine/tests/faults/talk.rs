//! A conversation with faults: both lanes, driven by hand.

use std::sync::Arc;

use tapewright_engine::fault::{Fault, FaultPolicy, FaultSet, TransportSupport};
use tapewright_engine::policy::SideAction;
use tapewright_engine::{Conduit, Forward, Lane, Settings};
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Faulted, Offset, SessionKey,
};

/// A conversation with all its output.
pub(crate) struct Talk {
    pub(crate) fault_set: Arc<FaultSet>,
    lanes: [Lane<FaultPolicy>; 2],
    out: [Vec<u8>; 2],
    writes: [usize; 2],
    events: Vec<Event>,
    asides: Vec<SideAction>,
}

impl Talk {
    pub(crate) fn new(faults: &[&str]) -> Self {
        Self::seeded(7, faults)
    }

    pub(crate) fn seeded(seed: u64, faults: &[&str]) -> Self {
        let fault_set = Arc::new(FaultSet::new(seed, "fs", TransportSupport::Stdio));
        for fault in faults {
            fault_set
                .add(Fault::parse(fault).expect("a fault"))
                .expect("a free name");
        }
        Self::on(&fault_set)
    }

    pub(crate) fn on(fault_set: &Arc<FaultSet>) -> Self {
        let policy = FaultPolicy::new(Arc::clone(fault_set));
        let settings = Settings {
            conduit: ConduitId(0),
            session: SessionKey(0),
            forward: Forward::AtOnce,
            limit_bytes: 1 << 20,
        };
        let (to_server, to_client) = Conduit::new(settings, &policy).split();
        Self {
            fault_set: Arc::clone(fault_set),
            lanes: [to_server, to_client],
            out: Default::default(),
            writes: [0, 0],
            events: Vec::new(),
            asides: Vec::new(),
        }
    }

    /// The client sends a line.
    pub(crate) fn client(&mut self, at: u64, line: &str) {
        self.line(0, at, line);
    }

    /// The server sends a line.
    pub(crate) fn server(&mut self, at: u64, line: &str) {
        self.line(1, at, line);
    }

    fn line(&mut self, side: usize, at: u64, line: &str) {
        let space = self.lanes[side].space();
        space.extend_from_slice(line.as_bytes());
        space.push(b'\n');
        self.lanes[side].handle_input(Offset(at));
        self.drain();
    }

    pub(crate) fn server_ends(&mut self, at: u64) {
        self.lanes[1].handle_eof(Offset(at));
        self.drain();
    }

    pub(crate) fn timeout(&mut self, at: u64) {
        for lane in &mut self.lanes {
            lane.handle_timeout(Offset(at));
        }
        self.drain();
    }

    fn drain(&mut self) {
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            while let Some(event) = lane.poll_event() {
                self.events.push(event);
            }
            while let Some(bytes) = lane.poll_transmit() {
                self.out[at].extend_from_slice(bytes);
                self.writes[at] += 1;
                lane.transmitted();
            }
            while let Some(aside) = lane.poll_aside() {
                self.asides.push(aside);
            }
        }
    }

    pub(crate) fn raw_to_client(&self) -> String {
        String::from_utf8(self.out[1].clone()).expect("text")
    }

    pub(crate) fn to_client(&self) -> Vec<String> {
        lines(&self.out[1])
    }

    pub(crate) fn to_server(&self) -> Vec<String> {
        lines(&self.out[0])
    }

    pub(crate) fn writes_to_client(&self) -> usize {
        self.writes[1]
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.lanes[1].closed() == Some(CloseReason::Policy)
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.lanes[0].is_stalled()
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        let effect = |event: &Event| match &event.body {
            EventBody::Faulted(faulted) => Some(told(faulted)),
            _ => None,
        };
        self.events.iter().filter_map(effect).collect()
    }

    /// The events on the tape, in order.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The delays of messages, as on the tape.
    pub(crate) fn delays(&self) -> Vec<Offset> {
        let delay = |event: &Event| match &event.body {
            EventBody::Faulted(faulted) => faulted.effect.what.delay(),
            _ => None,
        };
        self.events.iter().filter_map(delay).collect()
    }

    /// The messages on the tape.
    pub(crate) fn recorded(&self, dir: Direction) -> Vec<String> {
        let text = |event: &Event| match &event.body {
            EventBody::Message { payload, .. } if event.dir == dir => {
                Some(String::from_utf8_lossy(payload.kept()).into_owned())
            }
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    /// For each message to the client, whether a fault acted on it.
    pub(crate) fn touched(&self) -> Vec<bool> {
        let mut touched = Vec::new();
        for event in &self.events {
            match &event.body {
                EventBody::Message { .. } if event.dir == Direction::ToClient => {
                    touched.push(false);
                }
                EventBody::Faulted(_) if event.dir == Direction::ToClient => {
                    if let Some(last) = touched.last_mut() {
                        *last = true;
                    }
                }
                _ => {}
            }
        }
        touched
    }

    /// The length of the log, in bytes.
    pub(crate) fn logged(&self) -> usize {
        let length = |aside: &SideAction| match aside {
            SideAction::Log(bytes) => bytes.len(),
            SideAction::Exit(_) | SideAction::Answer { .. } => 0,
        };
        self.asides.iter().map(length).sum()
    }

    pub(crate) fn exit(&self) -> Option<u8> {
        self.asides.iter().find_map(|aside| match aside {
            SideAction::Exit(status) => Some(*status),
            SideAction::Log(_) | SideAction::Answer { .. } => None,
        })
    }
}

/// The fault, its kind and the name of its effect.
fn told(faulted: &Faulted) -> String {
    let did = faulted.effect.what.name();
    match &faulted.effect.fault {
        Some(fault) => format!("{} ({}): {did}", fault.name, fault.kind.name()),
        None => did,
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::to_owned).collect()
}
