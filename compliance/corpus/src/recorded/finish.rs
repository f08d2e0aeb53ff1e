//! From requests to observations, and from observations to verdicts.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tapewright_schemas::event::{Direction, Event, ResponseHead};

use super::Recorded;
use super::exchange::{Finished, ObservedExchange, ReplySource};
use super::groups::{self, ReceivedAnswer};
use crate::judge::{Assertion, judge};
use crate::observation::{Answer, HttpHead, Observation, Reply, Sent};
use crate::placeholder::{PlaceholderFit, chooses};
use crate::plan::AssertionIndex;
use crate::rule::Applies;
use crate::verdict::{Untested, Verdict};

/// How long to wait for an answer if an assertion does not set it, in milliseconds.
pub const PATIENCE_MS: u64 = 10_000;
/// How much earlier than intended a client may give up, in microseconds.
const EARLY_US: u64 = 100_000;

impl Recorded<'_> {
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

    /// The conduit continues: no further event will be about its finished exchanges.
    pub(super) fn release(&mut self, event: &Event) {
        let conduit = self.conduits.enter(event);
        if conduit.held.is_empty() {
            return;
        }
        for finished in std::mem::take(&mut conduit.held) {
            self.finished(&finished);
        }
    }

    /// Handles the end of an HTTP exchange.
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

    /// Ends a request that has no answer.
    pub(super) fn finish_exchange(
        &mut self,
        exchange: ObservedExchange,
        head: Option<Rc<ResponseHead>>,
        gap: bool,
    ) {
        self.listening = self.listening.saturating_sub(usize::from(exchange.listens));
        self.over(exchange, head, false, gap);
    }

    /// Ends a request without a reader that has no answer.
    pub(super) fn over(
        &mut self,
        exchange: ObservedExchange,
        head: Option<Rc<ResponseHead>>,
        in_place: bool,
        gap: bool,
    ) {
        self.finished(&Finished {
            exchange,
            said: ReplySource::Nothing,
            head,
            took_us: None,
            seq: None,
            gap,
            in_place,
        });
    }

    /// Judges an exchange by all assertions that it tests.
    pub(super) fn finished(&mut self, finished: &Finished) {
        let about = Rc::clone(&finished.exchange.about);
        if about.is_empty() {
            return;
        }
        let took = finished.took_us.filter(|_| self.timed);
        let took = took.map(Duration::from_micros);
        let mut seen = std::mem::take(&mut self.scratch);
        seen.clear();
        let can_tell = about.see(finished, took, &mut seen);
        let known = self.memory.answer(&seen).filter(|_| can_tell).cloned();
        if let Some(tested) = known {
            let took = took.unwrap_or_default();
            for at in tested.iter() {
                self.tally.take(*at, took);
            }
            if about.compares {
                self.compare(finished, took);
            }
        } else {
            let tested = self.judge(finished);
            if let Some(tested) = tested.filter(|_| can_tell) {
                self.memory.keep_answer(&seen, tested);
            }
        }
        self.scratch = seen;
    }

    /// Judges an exchange by parsed values. Returns the assertions with a verdict that the same
    /// answer cannot change; `None` if it could.
    fn judge(&mut self, finished: &Finished) -> Option<Vec<AssertionIndex>> {
        let Finished { exchange, said, .. } = finished;
        let reply = said.reply();
        let answered = !matches!(reply, Reply::None) || finished.head.is_some();
        let refused = is_refused(&reply, finished.head.as_deref());
        let waited = exchange.cancelled.map(|at| at.since(exchange.at).0);
        let gaps = exchange.gaps;
        let mut seen = self.observation(finished, reply);
        let mut settled = Some(Vec::new());
        for (at, stands) in &exchange.about.tested {
            let at = *at;
            if self.tally.has_failed(at) || (*stands == PlaceholderFit::IfRefused && !refused) {
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
            if self.wants(at) > 1 {
                self.decide_of(at, &seen, said);
            } else if self.decide(at, &seen) || matches!(said, ReplySource::Error(_)) {
                if let Some(all) = &mut settled {
                    all.push(at);
                }
            } else {
                settled = None;
            }
        }
        settled
    }

    /// Compares an answer, which has nothing new for any single assertion, with others to the same
    /// question.
    fn compare(&mut self, finished: &Finished, took: Duration) {
        let about = Rc::clone(&finished.exchange.about);
        let tested = about.tested.iter().map(|(at, _)| *at);
        let compared: Vec<AssertionIndex> = tested
            .filter(|at| self.wants(*at) > 1 && !self.tally.has_failed(*at))
            .collect();
        if compared.is_empty() {
            return;
        }
        let question = groups::question(finished.exchange.parameters().as_ref());
        for at in compared {
            let heard = ReceivedAnswer {
                said: &finished.said,
                head: finished
                    .head
                    .as_deref()
                    .filter(|_| finished.exchange.transport == Some(Applies::Http)),
                took: finished
                    .took_us
                    .filter(|_| self.timed)
                    .map(Duration::from_micros),
                seq: finished.seq,
            };
            match self.groups.hear(at, self.wants(at), &question, &heard) {
                Some(true) => self.tally.take(at, took),
                Some(false) => {}
                None => {
                    let mut seen = self.observation(finished, finished.said.reply());
                    seen.chosen = self.chooses(at);
                    self.decide_of(at, &seen, &finished.said);
                }
            }
        }
    }

    fn wants(&self, at: AssertionIndex) -> usize {
        self.plan.assertion(at).map_or(1, Assertion::wants)
    }

    /// Whether the recording waited for an answer as long as the assertion requires, or the
    /// assertion does not require an answer.
    fn was_awaited(&self, at: AssertionIndex, waited: Option<u64>, gaps: u64) -> bool {
        let Some(assertion) = self.plan.assertion(at) else {
            return false;
        };
        let call = assertion.written.call.as_ref();
        let patience = call.and_then(|call| call.timeout_ms).unwrap_or(PATIENCE_MS);
        let long = patience.saturating_mul(1_000).saturating_sub(EARLY_US);
        (waited.is_some_and(|waited| waited >= long) && gaps == self.gaps)
            || (assertion.looks_between() && !assertion.wants_result())
    }

    pub(super) fn chooses(&self, at: AssertionIndex) -> bool {
        let assertion = self.plan.assertion(at);
        let call = assertion.and_then(|one| one.written.call.as_ref());
        let params = call.and_then(|call| call.params.as_ref());
        params.is_some_and(|params| params.values().any(chooses))
    }

    fn observation(&self, finished: &Finished, reply: Reply) -> Observation {
        let exchange = &finished.exchange;
        let answered = !matches!(reply, Reply::None) || finished.head.is_some();
        let took = finished.took_us.filter(|_| self.timed);
        let head = finished.head.as_deref();
        let answer = Answer {
            reply,
            head: head
                .filter(|_| exchange.transport == Some(Applies::Http))
                .map(HttpHead::from),
            took: took.map(Duration::from_micros),
            seq: finished.seq,
        };
        Observation {
            transport: exchange.transport,
            sent: Sent {
                method: Some(exchange.method.to_string()),
                params: exchange.parameters(),
            },
            answers: if answered || !exchange.listens {
                vec![answer]
            } else {
                Vec::new()
            },
            between: exchange.between.clone(),
            gap: finished.gap || exchange.tampered,
            in_place: finished.in_place,
            ..Observation::default()
        }
    }

    /// Judges an assertion once there are enough answers. Returns whether judging the same again
    /// has no effect.
    pub(super) fn decide(&mut self, at: AssertionIndex, seen: &Observation) -> bool {
        self.decide_of(at, seen, &ReplySource::Nothing)
    }

    /// Like [`decide`](Self::decide), with the source text of the answer if it is known.
    pub(super) fn decide_of(
        &mut self,
        at: AssertionIndex,
        seen: &Observation,
        said: &ReplySource,
    ) -> bool {
        let Some(assertion) = self.plan.assertion(at) else {
            return true;
        };
        let took = seen.answers.iter().filter_map(|answer| answer.took).sum();
        let wanted = assertion.wants();
        if let Some(why) = seen.untested(&assertion.written.expect) {
            let settled = matches!(why, Untested::NoneCame(_));
            self.count(at, Verdict::Untested(why), took);
            return settled;
        }
        let verdict = if wanted <= 1 {
            judge(assertion, seen)
        } else {
            match self.groups.add(at, wanted, seen.clone(), said) {
                Some(whole) => judge(assertion, &whole),
                None => return false,
            }
        };
        let settled = !matches!(verdict, Verdict::Untested(_));
        self.count(at, verdict, took);
        settled
    }

    /// Takes a verdict.
    pub(super) fn count(&mut self, at: AssertionIndex, mut verdict: Verdict, took: Duration) {
        if let Verdict::Fail(failure) = &mut verdict {
            failure.recording = self.recording;
        }
        self.tally.add(at, verdict, took);
    }
}

/// Whether the server refused the request.
fn is_refused(reply: &Reply, head: Option<&ResponseHead>) -> bool {
    match reply {
        Reply::Error(_) => true,
        Reply::Result(result) => result.get("isError") == Some(&Value::Bool(true)),
        Reply::None => head.is_some_and(|head| head.status >= 400),
        Reply::Unreadable => false,
    }
}
