//! Raw texts that are not well-formed requests, and the server's reaction to them.

use std::rc::Rc;

use bytes::Bytes;
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{RequestId, for_each_message, is_error_of_ours};
use tapewright_schemas::event::{Direction, Event, Payload, ResponseHead};
use tapewright_schemas::json;
use tapewright_schemas::slices::Part as _;

use super::Recorded;
use super::exchange::{Sent, parameters};
use super::head;
use crate::observation::{Answer, HttpHead, Observation, Reply};
use crate::placeholder::fill_text;
use crate::plan::AssertionIndex;
use crate::rule::Applies;

/// Whether a response may be the answer to raw bytes: it has an id in them, or none, since the
/// bytes could not be read. Of several lines the last one is answered.
#[must_use]
pub fn answers_raw(raw: &[u8], id: &RequestId<'_>) -> bool {
    let (line, alone) = last_line(raw);
    if !id.pairs() {
        return alone;
    }
    let wanted = IdKey::exact(id);
    let mut found = false;
    for_each_message(line, |one| {
        let own = json::find(one, &["id"]).map(IdKey::exact_of);
        found |= own == Some(wanted);
    });
    found
}

/// The last line of raw bytes, and whether it is the only one.
pub(super) fn last_line(raw: &[u8]) -> (&[u8], bool) {
    let raw = raw.trim_ascii_end();
    match raw.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => (raw.part(at + 1..), false),
        None => (raw, true),
    }
}

/// Notifications from clients to servers (2025-11-25, schema `ClientNotification`).
const TOLD: [&str; 5] = [
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];

impl Recorded<'_> {
    /// Whether a message of the client matches the raw text of some assertion.
    pub(super) fn raw_message(&mut self, event: &Event, bytes: &Bytes) -> bool {
        let (mut about, mut text) = (self.raw_about(event, bytes), bytes.clone());
        if about.is_empty() && self.index.has_lines {
            about = self.lines_about(event, bytes);
            self.conduits.enter(event).line = Some(bytes.clone());
            if !about.is_empty() {
                text = [b"\n".as_slice(), bytes].concat().into();
            }
        }
        if about.is_empty() {
            return false;
        }
        self.conduits.enter(event).strange = true;
        self.awaits(event, text, about);
        true
    }

    /// The assertions whose last line this is, if the line before it was sent as well.
    fn lines_about(&mut self, event: &Event, bytes: &[u8]) -> Vec<AssertionIndex> {
        let before = self.conduits.enter(event).line.clone().unwrap_or_default();
        let is_both = |raw: &str| {
            let mut lines = raw.rsplit('\n').map(|line| line.trim().as_bytes());
            lines.next() == Some(bytes.trim_ascii()) && lines.next() == Some(before.trim_ascii())
        };
        let raw = self.index.raw.iter();
        raw.filter(|raw| raw.is_lines && is_both(raw.text))
            .map(|raw| raw.at)
            .collect()
    }

    /// A notification of the client expects nothing; a response to it is judged.
    pub(super) fn notifies(
        &mut self,
        event: &Event,
        text: &[u8],
        method: &str,
        params: Option<&[u8]>,
    ) {
        if !self.index.knows(method) {
            return;
        }
        let Some(asks) = self.index.method(method).map(Rc::clone) else {
            return;
        };
        let read = parameters(params);
        if params.is_some() && read.is_none() {
            return;
        }
        let tested = if self.is_of_use(event, method) {
            self.tested(event, &asks, read.as_ref())
        } else {
            Vec::new()
        };
        let about = tested.into_iter().map(|(at, _)| at).collect();
        self.conduits.enter(event).strange |= !TOLD.contains(&method);
        self.awaits(event, Bytes::copy_from_slice(text), about);
    }

    /// Something was sent that only a response without an id can be about.
    fn awaits(&mut self, event: &Event, text: Bytes, about: Vec<AssertionIndex>) {
        if about.is_empty() {
            return;
        }
        let conduit = self.conduits.enter(event);
        let sent = Sent {
            text,
            about,
            at: event.at,
            transport: conduit.transport,
        };
        let (head, in_place) = (conduit.response.clone(), conduit.in_place);
        if let Some(before) = conduit.raw.replace(sent) {
            self.raw_over(&before, Reply::None, head, None, in_place);
        }
    }

    fn raw_about(&mut self, event: &Event, bytes: &[u8]) -> Vec<AssertionIndex> {
        if self.index.raw.is_empty() {
            return Vec::new();
        }
        let text = bytes.trim_ascii();
        let raw = self.index.raw.iter();
        let same: Vec<AssertionIndex> = raw
            .filter(|raw| !raw.text.is_empty() && text.starts_with(raw.front.as_bytes()))
            .filter(|raw| {
                raw.text.as_bytes() == text
                    || fill_text(raw.text, &self.facts.known)
                        .is_ok_and(|filled| filled.as_bytes().trim_ascii() == text)
            })
            .map(|raw| raw.at)
            .collect();
        same.into_iter()
            .filter(|at| self.sends(event, *at))
            .collect()
    }

    /// Whether the request that carries an event has the fields of an assertion.
    fn sends(&mut self, event: &Event, at: AssertionIndex) -> bool {
        let issued = &self.issued;
        let conduit = self.conduits.enter(event);
        let call = self
            .plan
            .assertion(at)
            .and_then(|one| one.written.call.as_ref());
        call.is_some_and(|call| {
            let here = call
                .transport
                .is_none_or(|one| conduit.transport == Some(one));
            here && {
                let stdio = conduit.transport == Some(Applies::Stdio);
                stdio || head::has(conduit.request.as_ref(), &call.headers, issued)
            }
        })
    }

    /// The body of an HTTP message that is not MCP.
    pub(super) fn body(&mut self, event: &Event, payload: &Payload) {
        if let (Direction::ToServer, Payload::Whole(bytes)) = (event.dir, payload) {
            self.raw_message(event, bytes);
        }
    }

    /// A request without a body, such as a GET, is answered by a head.
    pub(super) fn bodiless(&mut self, event: &Event) {
        if event.dir != Direction::ToClient {
            return;
        }
        let conduit = self.conduits.enter(event);
        let is_post = conduit
            .request
            .as_ref()
            .is_none_or(|head| head.method == "POST");
        let (head, transport) = (conduit.response.clone(), conduit.transport);
        let in_place = conduit.in_place;
        if is_post {
            return;
        }
        let raw = self.index.raw.iter();
        let all: Vec<AssertionIndex> = raw
            .filter(|raw| raw.text.is_empty())
            .map(|raw| raw.at)
            .collect();
        let about: Vec<AssertionIndex> = all
            .into_iter()
            .filter(|at| self.sends(event, *at))
            .collect();
        let sent = Sent {
            text: Bytes::new(),
            about,
            at: event.at,
            transport,
        };
        self.raw_over(&sent, Reply::None, head, None, in_place);
    }

    /// Whether a response is the answer to raw bytes.
    pub(super) fn raw_answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        result: Option<&[u8]>,
        error: Option<&[u8]>,
    ) -> bool {
        let conduit = self.conduits.enter(event);
        let head = conduit.response.clone();
        let in_place = conduit.in_place || error.is_some_and(is_error_of_ours);
        let Some(sent) = conduit.raw.take_if(|sent| answers_raw(&sent.text, id)) else {
            return false;
        };
        let took = event.at.since(sent.at).0;
        self.raw_over(
            &sent,
            Reply::read(result, error),
            head,
            Some((event.seq, took)),
            in_place,
        );
        true
    }

    /// Handles the response to raw bytes, or its absence.
    pub(super) fn raw_over(
        &mut self,
        sent: &Sent,
        reply: Reply,
        head: Option<Rc<ResponseHead>>,
        came: Option<(u64, u64)>,
        in_place: bool,
    ) {
        let took = came.map(|(_, took)| std::time::Duration::from_micros(took));
        let answer = Answer {
            reply,
            head: head
                .filter(|_| sent.transport == Some(Applies::Http))
                .map(|head| HttpHead::from(head.as_ref())),
            took: took.filter(|_| self.timed),
            seq: came.map(|(seq, _)| seq),
        };
        let seen = Observation {
            transport: sent.transport,
            answers: vec![answer],
            in_place,
            ..Observation::default()
        };
        for at in &sent.about {
            self.decide(*at, &seen);
        }
    }
}
