//! The messages of a recording, one by one, and the outcomes of its requests.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::counting::{Counting, Reply};
use super::introduction::Introduction;
use super::report::{Noise, Notification, Unanswered};
use super::sessions::SessionsFold;
use crate::conversation::{Does, Exchange, Handle, Over, PerExchange, Step};
use crate::envelope::{Envelope, Kind, Malformed};
use crate::era::{Era, EraTracker};
use crate::event::{Direction, Event, Offset, Scope};
use crate::slices::Front as _;
use crate::waits::HangReported;

/// Follows single messages.
#[derive(Debug, Default)]
pub(super) struct MessagesFold {
    pub(super) calls: Counting,
    pub(super) tools: Counting,
    pub(super) notifications: Vec<Notification>,
    pub(super) introduction: Introduction,
    pub(super) by_session: SessionsFold,
    pub(super) seen_eras: Vec<Era>,
    pub(super) unanswered_count: u64,
    /// Responses that answer nothing.
    pub(super) stray: u64,
    pub(super) noise_count: u64,
    pub(super) noise: Vec<Noise>,
    eras: BTreeMap<Scope, EraTracker>,
    // The methods of the requests that may still be answered.
    called: PerExchange<Called>,
    // The first of those that ended without an answer, by their sender and time.
    unanswered: BTreeMap<(Direction, Handle), (Offset, Unanswered)>,
}

/// The method of a request, and its tool.
#[derive(Clone, Copy, Debug)]
struct Called {
    method: usize,
    tool: Option<usize>,
}

const CALL: &str = "tools/call";
/// The maximum number of notification methods that are distinguished; the rest counts as one.
const METHOD_LIMIT: usize = 256;
const OTHER_METHODS: &str = "(others)";
/// The maximum number of unanswered requests that are listed.
const UNANSWERED_LIMIT: usize = 1_000;
/// The maximum number of lines of noise that are listed, and how much of each.
const NOISE_LIMIT: usize = 5;
const NOISE_LIMIT_BYTES: usize = 200;

impl MessagesFold {
    /// Handles the next event, before its messages.
    pub(super) fn observe(&mut self, event: &Event) {
        self.by_session.observe(event);
    }

    /// Handles the next message.
    pub(super) fn step(&mut self, event: &Event, step: &Step<'_, HangReported>) {
        self.era(event, step.envelope);
        match (&step.envelope.kind, step.handle) {
            (Kind::Request { method, params, .. }, Some(handle)) => {
                self.introduction.request(method, *params);
                let bytes = step.text.len() as u64;
                let called = Called {
                    method: self.calls.ask(event.dir, method, bytes),
                    tool: step.exchange.and_then(|request| self.tool(request)),
                };
                self.called.insert(handle, called);
            }
            (Kind::Response { .. }, _) => self.response(event, step),
            (Kind::Notification { method, .. }, _) => self.notification(event.dir, method),
            (Kind::Malformed(why), _) => self.noise(event, step.text, *why),
            _ => self.noise(event, step.text, Malformed::NotAnEnvelope),
        }
    }

    /// Handles an exchange that is over.
    pub(super) fn over(&mut self, over: &Over<HangReported>) {
        if over.exchange.answer.is_some() {
            return;
        }
        let exchange = &over.exchange;
        self.unanswered_count += 1;
        let one = Unanswered {
            method: exchange.method.clone(),
            from: exchange.dir.sender(),
            id: shown_id(exchange),
            sent_ms: None,
            waited_ms: None,
            why: over.outcome.why(),
        };
        let key = (exchange.dir, over.handle);
        self.unanswered.insert(key, (exchange.at, one));
        if self.unanswered.len() > UNANSWERED_LIMIT {
            self.unanswered.pop_last();
        }
    }

    /// The first unanswered requests of a recording whose last event came at this time.
    pub(super) fn unanswered(&mut self, timed: bool, last: Offset) -> Vec<Unanswered> {
        let all = std::mem::take(&mut self.unanswered).into_values();
        let shown = |(at, one): (Offset, Unanswered)| Unanswered {
            sent_ms: timed.then(|| at.millis()),
            waited_ms: timed.then(|| last.since(at).millis()),
            ..one
        };
        all.map(shown).collect()
    }

    fn response(&mut self, event: &Event, step: &Step<'_, HangReported>) {
        let (Does::Answers | Does::Late, Some(exchange), Some(handle)) =
            (step.what, step.exchange, step.handle)
        else {
            self.stray += 1;
            return;
        };
        if step.what == Does::Late && self.unanswered.remove(&(exchange.dir, handle)).is_some() {
            self.unanswered_count -= 1;
        }
        let (Some(called), Some(answer)) = (self.called.remove(handle), &exchange.answer) else {
            return;
        };
        let reply = Reply {
            error: answer.error.is_some(),
            tool_error: answer.tool_error,
            bytes: answer.bytes,
            took: event.at.since(exchange.at),
        };
        self.calls.answer(called.method, reply);
        if let Some(tool) = called.tool {
            self.tools.answer(tool, reply);
        }
        if let Kind::Response {
            result: Some(result),
            ..
        } = step.envelope.kind
        {
            self.introduction.answer(&exchange.method, result);
        }
    }

    /// The tool that a request calls, if any.
    fn tool(&mut self, request: &Exchange<HangReported>) -> Option<usize> {
        let name = request.name.as_ref().filter(|_| request.method == CALL)?;
        Some(self.tools.ask(Direction::ToServer, name, request.bytes))
    }

    fn notification(&mut self, dir: Direction, method: &str) {
        let from = dir.sender();
        let full = self.notifications.len() >= METHOD_LIMIT;
        for name in [method, OTHER_METHODS] {
            let mut all = self.notifications.iter_mut();
            if let Some(known) = all.find(|one| one.from == from && one.method == name) {
                known.count += 1;
                return;
            }
            if !full {
                break;
            }
        }
        let method = if full { OTHER_METHODS } else { method };
        self.notifications.push(Notification {
            method: method.to_owned(),
            from,
            count: 1,
        });
    }

    fn noise(&mut self, event: &Event, text: &[u8], why: Malformed) {
        self.noise_count += 1;
        if self.noise.len() < NOISE_LIMIT {
            let head = text.front(NOISE_LIMIT_BYTES);
            self.noise.push(Noise {
                from: event.dir.sender(),
                why,
                text: String::from_utf8_lossy(head).into_owned(),
                bytes: text.len() as u64,
            });
        }
    }

    fn era(&mut self, event: &Event, envelope: &Envelope<'_>) {
        let era = event.era.or_else(|| {
            self.eras
                .entry(event.scope())
                .or_default()
                .observe(event.dir, envelope)
        });
        let Some(era) = era else { return };
        self.by_session.era(event.session.0, era);
        if !self.seen_eras.contains(&era) {
            self.seen_eras.push(era);
        }
    }
}

/// The id of a request, as written.
fn shown_id(exchange: &Exchange<HangReported>) -> Box<RawValue> {
    let id = RawValue::from_string(exchange.id.clone());
    // An id that is too long to be kept whole becomes a string.
    let id = id.or_else(|_| serde_json::value::to_raw_value(&exchange.id));
    id.unwrap_or_else(|_| RawValue::NULL.to_owned())
}
