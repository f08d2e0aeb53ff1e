//! The current state of one session.

use serde_json::{Value, json};
use tapewright_schemas::conversation::{Step, shown};
use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{Direction, Event, EventBody, Exit, Offset, Payload, SessionMark};
use tapewright_schemas::summary::{Introduction, Peer};
use tapewright_schemas::waits::HangReported;

use super::is_request;

/// The current state of one session.
#[derive(Debug)]
pub(super) struct SessionView {
    began: Offset,
    last: Offset,
    introduction: Introduction,
    // To the server, to the client.
    messages: [u64; 2],
    bytes: [u64; 2],
    requests: u64,
    faults: u64,
    findings: u64,
    gaps: u64,
    ended: Option<String>,
}

impl SessionView {
    pub(super) fn new(at: Offset) -> Self {
        Self {
            began: at,
            last: at,
            introduction: Introduction::default(),
            messages: [0; 2],
            bytes: [0; 2],
            requests: 0,
            faults: 0,
            findings: 0,
            gaps: 0,
            ended: None,
        }
    }

    /// Handles an event of the session.
    pub(super) fn event(&mut self, event: &Event) {
        self.last = self.last.max(event.at);
        match &event.body {
            EventBody::Message { payload, .. } => self.count(event.dir, payload),
            EventBody::Faulted { .. } => self.faults += 1,
            EventBody::Gap(gap) => self.gaps += gap.events,
            EventBody::Session(SessionMark::Ended(why)) => self.ended = Some(why.name().to_owned()),
            EventBody::Session(SessionMark::Began(_)) => self.ended = None,
            EventBody::Exited(exited) => {
                self.ended = Some(match exited.how {
                    Exit::Code(status) => format!("the server exited with status {status}"),
                    Exit::Signal(signal) => format!("signal {signal} ended the server"),
                });
            }
            _ => {}
        }
    }

    /// Handles a message.
    pub(super) fn message(&mut self, event: &Event, step: &Step<'_, HangReported>) {
        self.requests += u64::from(is_request(step.envelope));
        match &step.envelope.kind {
            Kind::Request { method, params, .. } if event.dir == Direction::ToServer => {
                self.introduction.request(method, *params);
            }
            Kind::Response { result, .. } if event.dir == Direction::ToClient => {
                if let (Some(wait), Some(result)) = (step.answers(), result) {
                    self.introduction.answer(&wait.method, result);
                }
            }
            _ => {}
        }
    }

    /// Counts a finding.
    pub(super) fn found(&mut self) {
        self.findings += 1;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    pub(super) fn shown(&self, number: u32, pending: u64) -> Value {
        let peer = |peer: &Option<Peer>| {
            let peer = peer.as_ref();
            peer.map(|peer| json!({"name": shown(&peer.name), "version": shown(&peer.version)}))
        };
        let [to_server, to_client] = self.messages;
        let [bytes_to_server, bytes_to_client] = self.bytes;
        json!({
            "session": number,
            "began_ms": self.began.millis(),
            "last_ms": self.last.millis(),
            "client": peer(&self.introduction.client),
            "server": peer(&self.introduction.server),
            "protocol_version": self.introduction.protocol_version().map(shown),
            "to_server": {"messages": to_server, "bytes": bytes_to_server},
            "to_client": {"messages": to_client, "bytes": bytes_to_client},
            "requests": self.requests,
            "pending": pending,
            "faults": self.faults,
            "findings": self.findings,
            "gap_events": self.gaps,
            "ended": self.ended,
        })
    }

    fn count(&mut self, dir: Direction, payload: &Payload) {
        let index = dir as usize;
        if let (Some(messages), Some(bytes)) =
            (self.messages.get_mut(index), self.bytes.get_mut(index))
        {
            *messages += 1;
            *bytes += payload.wire_len();
        }
    }
}
