//! From requests to observations, and from observations to verdicts.

use std::time::Duration;

use serde_json::{Map, Value};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{Direction, Event};

use super::exchange::{Finished, ObservedExchange};
use super::head::{self, Asked};
use super::index::OPENINGS;
use super::question::Named;
use super::{Recorded, question};
use crate::judge::judge;
use crate::observation::{Answer, HttpHead, Observation, Reply, Sent};
use crate::placeholder::{Stands, chooses};
use crate::plan::At;
use crate::rule::Applies;
use crate::verdict::{Untested, Verdict};

/// How long an answer is waited for where an assertion does not say, in milliseconds.
pub const PATIENCE_MS: u64 = 10_000;
/// By how much a client may give up earlier than it meant to, in microseconds.
const EARLY_US: u64 = 100_000;

impl Recorded<'_> {
    /// Which assertions a well-formed request puts to the test.
    pub(super) fn about(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&Map<String, Value>>,
    ) -> Vec<(At, Stands)> {
        if !self.is_of_use(event, method) {
            return Vec::new();
        }
        let stateless = self.era() == Era::Stateless && !method.starts_with("notifications/");
        let describes = !stateless || head::describes_itself(params, &self.revision);
        let conduit = self.conduits.enter(event);
        let (request, transport) = (conduit.request.as_ref(), conduit.transport);
        let right = request.is_none_or(|head| {
            let asked = Asked {
                head,
                method,
                params,
            };
            asked.is_right(&self.revision, &self.issued)
        });
        let empty = Map::new();
        let params = params.unwrap_or(&empty);
        let mut about = Vec::new();
        for at in self.index.of(method, Named::of(params)) {
            let Some(assertion) = self.plan.assertion(at) else {
                continue;
            };
            let call = assertion.written.call.as_ref();
            let headers = call.map_or(&[][..], |call| call.headers.as_slice());
            let sent = if headers.is_empty() || transport == Some(Applies::Stdio) {
                right
            } else {
                request.is_some() && head::has(request, headers, &self.issued)
            };
            let here = assertion
                .transport()
                .is_none_or(|one| transport.is_none_or(|is| is == one));
            // Parameters that have a `_meta` of their own are compared with it.
            let meta = stateless && question::writes_meta(assertion);
            if !sent
                || !here
                || (!describes && !meta)
                || (meta && !question::same_meta(assertion, params))
            {
                continue;
            }
            match question::asks(assertion, params, &self.facts.known) {
                Stands::No => {}
                stands => about.push((at, stands)),
            }
        }
        about
    }

    /// Whether a request can tell anything: it is of the revision that is judged, and no bytes that no client sends
    /// came before it.
    fn is_of_use(&mut self, event: &Event, method: &str) -> bool {
        let session = self.sessions.get(&event.session);
        let spoken = session.and_then(|session| session.revision.as_deref());
        let other = spoken.is_some_and(|spoken| spoken != self.revision);
        let strange = self.conduits.enter(event).strange;
        (!other || OPENINGS.contains(&method)) && (!strange || method.starts_with("notifications/"))
    }

    /// A fault was injected: the message before decides nothing.
    pub(super) fn tampered(&mut self, event: &Event) {
        let conduit = self.conduits.enter(event);
        for held in &mut conduit.held {
            held.gap = true;
        }
        if let Some(round) = conduit.round.take() {
            self.rounds.tampered(event.session, &round);
        }
        let conduit = self.conduits.enter(event);
        let last = conduit.last.filter(|_| event.dir == Direction::ToServer);
        if let Some(exchange) = last.and_then(|last| self.open.get_mut(last)) {
            exchange.tampered = true;
        }
    }

    /// The conduit goes on: nothing will be told of what was over on it.
    pub(super) fn release(&mut self, event: &Event) {
        let conduit = self.conduits.enter(event);
        if conduit.held.is_empty() {
            return;
        }
        for finished in std::mem::take(&mut conduit.held) {
            self.finished(finished);
        }
    }

    /// An HTTP exchange is over.
    pub(super) fn closed(&mut self, event: &Event) {
        let conduit = self.conduits.enter(event);
        if event.dir != Direction::ToClient || conduit.transport != Some(Applies::Http) {
            return;
        }
        let Some(conduit) = self.conduits.leave(event.conduit) else {
            return;
        };
        let head = conduit.response;
        if let Some(sent) = conduit.raw {
            self.raw_over(&sent, Reply::None, head.clone(), None, conduit.in_place);
        }
        // A stream that ended may be taken up again; a refusal is the end.
        let refused = head.as_ref().is_some_and(|head| head.status >= 400);
        let last = conduit.last.filter(|_| refused);
        if let Some(exchange) = last.and_then(|last| self.open.remove(last)) {
            self.listening = self.listening.saturating_sub(usize::from(exchange.listens));
            self.over(exchange, head, conduit.in_place, false);
        }
    }

    /// A request that has no answer is over.
    pub(super) fn finish_exchange(
        &mut self,
        exchange: ObservedExchange,
        head: Option<HttpHead>,
        gap: bool,
    ) {
        self.listening = self.listening.saturating_sub(usize::from(exchange.listens));
        self.over(exchange, head, false, gap);
    }

    /// A request that nobody listens for any more is over without an answer.
    pub(super) fn over(
        &mut self,
        exchange: ObservedExchange,
        head: Option<HttpHead>,
        in_place: bool,
        gap: bool,
    ) {
        self.finished(Finished {
            exchange,
            reply: Reply::None,
            head,
            took_us: None,
            seq: None,
            gap,
            in_place,
        });
    }

    pub(super) fn finished(&mut self, finished: Finished) {
        let Finished { exchange, .. } = &finished;
        if exchange.about.is_empty() {
            return;
        }
        let about = exchange.about.clone();
        let answered = !matches!(finished.reply, Reply::None) || finished.head.is_some();
        let refused = match &finished.reply {
            Reply::Error(_) => true,
            Reply::Result(result) => result.get("isError") == Some(&Value::Bool(true)),
            Reply::None => finished
                .head
                .as_ref()
                .is_some_and(|head| head.status >= 400),
            Reply::Unreadable => false,
        };
        let waited = exchange.cancelled.map(|at| at.since(exchange.at).0);
        let gaps = exchange.gaps;
        let mut seen = self.observation(finished);
        for (at, stands) in about {
            if self.tally.has_failed(at) || (stands == Stands::IfRefused && !refused) {
                continue;
            }
            if !answered && !seen.gap && !self.was_awaited(at, waited, gaps) {
                let why = if self.gaps > gaps {
                    Untested::Gap
                } else {
                    Untested::NotAwaited
                };
                self.count(at, Verdict::Untested(why), Duration::ZERO);
                continue;
            }
            seen.chosen = self.chooses(at);
            self.decide(at, &seen);
        }
    }

    /// Whether a request without an answer was waited for as long as the assertion says, or its assertion does not
    /// ask for an answer.
    fn was_awaited(&self, at: At, waited: Option<u64>, gaps: u64) -> bool {
        let Some(assertion) = self.plan.assertion(at) else {
            return false;
        };
        let call = assertion.written.call.as_ref();
        let patience = call.and_then(|call| call.timeout_ms).unwrap_or(PATIENCE_MS);
        let long = patience.saturating_mul(1_000).saturating_sub(EARLY_US);
        (waited.is_some_and(|waited| waited >= long) && gaps == self.gaps)
            || (assertion.looks_between() && !assertion.wants_result())
    }

    pub(super) fn chooses(&self, at: At) -> bool {
        let assertion = self.plan.assertion(at);
        let call = assertion.and_then(|one| one.written.call.as_ref());
        let params = call.and_then(|call| call.params.as_ref());
        params.is_some_and(|params| params.values().any(chooses))
    }

    fn observation(&self, finished: Finished) -> Observation {
        let exchange = finished.exchange;
        let answered = !matches!(finished.reply, Reply::None) || finished.head.is_some();
        let took = finished.took_us.filter(|_| self.timed);
        let answer = Answer {
            reply: finished.reply,
            head: finished
                .head
                .filter(|_| exchange.transport == Some(Applies::Http)),
            took: took.map(Duration::from_micros),
            seq: finished.seq,
        };
        Observation {
            transport: exchange.transport,
            sent: Sent {
                method: Some(exchange.method),
                params: exchange.params,
            },
            answers: if answered || !exchange.listens {
                vec![answer]
            } else {
                Vec::new()
            },
            between: exchange.between,
            gap: finished.gap || exchange.tampered,
            in_place: finished.in_place,
            ..Observation::default()
        }
    }

    /// Judges an assertion, once there are as many answers as it needs.
    pub(super) fn decide(&mut self, at: At, seen: &Observation) {
        let Some(assertion) = self.plan.assertion(at) else {
            return;
        };
        let took = seen.answers.iter().filter_map(|answer| answer.took).sum();
        let wanted = assertion.wants();
        if let Some(why) = seen.untested(&assertion.written.expect) {
            return self.count(at, Verdict::Untested(why), took);
        }
        if wanted <= 1 {
            return self.count(at, judge(assertion, seen), took);
        }
        if let Some(whole) = self.groups.add(at, wanted, seen.clone()) {
            self.count(at, judge(assertion, &whole), took);
        }
    }

    /// Takes a verdict.
    pub(super) fn count(&mut self, at: At, mut verdict: Verdict, took: Duration) {
        if let Verdict::Fail(failure) = &mut verdict {
            failure.recording = self.recording;
        }
        self.tally.add(at, verdict, took);
    }
}
