//! Scoring what was recorded: nothing is sent, and every exchange that asks what a test
//! asks is judged as its answer.
//!
//! A [`Scorer`] folds over events, live and from disk. A test that no exchange asked is not
//! exercised, which is never the same as passed. An exchange that we tampered with, or of
//! which a part was not kept, decides nothing.

mod calls;
mod coverage;
mod index;
mod shown;

use std::sync::Arc;

use tapewright_schemas::event::{Event, EventBody, SessionKey, Sink};

use self::calls::{Calls, Exchange, Reply};
pub use self::coverage::{Coverage, ToolUse};
use self::index::Index;
use crate::expectation::{Answer, Headers, Outcome};
use crate::failure::Failure;
use crate::json::Json;
use crate::test::{Ask, Test};
use crate::world::{Phase, World};

/// Judges the exchanges of recordings by the tests of a suite.
#[derive(Debug)]
pub struct Scorer<W> {
    questions: Vec<Question<W>>,
    scored: Vec<Scored>,
    index: Index,
    calls: Calls,
    coverage: Coverage,
    label: Option<String>,
    // Everything that may hide an exchange.
    gaps: u64,
    timed: bool,
    // The bytes of the answers whose values are kept for the report.
    evidence_bytes: usize,
}

/// A test, and the question that it is judged for.
#[derive(Clone, Debug)]
pub struct Question<W> {
    /// The test.
    pub test: Arc<Test>,
    /// What a transform makes of its question.
    pub rewritten: Option<Ask>,
    /// What a recording shows of its question, where that is not all: what is redacted in
    /// a recording is redacted here.
    pub shown: Option<Ask>,
    /// The world as the test sees it.
    pub world: W,
}

/// How a test came out over all exchanges that asked what it asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// How many exchanges there were.
    pub exercised: usize,
    /// Of those, how many held.
    pub passed: usize,
    /// How many did not hold.
    pub failed: usize,
    /// How many could not be judged: a mistake of the suite.
    pub unjudged: usize,
    /// How many decide nothing, because the evidence has gaps.
    pub doubtful: usize,
    /// Those that did not hold, could not be judged or decide nothing, in order, as many
    /// of each as are told.
    pub others: Vec<Instance>,
    /// How many more there were.
    pub more: usize,
    /// The longest time from request to answer, in microseconds, where times are known.
    pub took_us: Option<u64>,
}

/// One exchange that a test was judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The session in which it was; 0 where there is but one, or none.
    pub session: SessionKey,
    /// Its request, by its number in the recording.
    pub request: u64,
    /// Its response, likewise.
    pub response: Option<u64>,
    /// How it came out.
    pub outcome: Outcome,
}

/// How many exchanges of one test are told: as many that did not hold or could not be
/// judged, and as many that decide nothing.
const INSTANCES: usize = 16;
/// Of how many bytes of answers the values are kept for the report; of later ones only the
/// words are.
const EVIDENCE_BYTES: usize = 64 << 20;

impl<W> Question<W> {
    /// The question; that of the test, unless a transform rewrites it.
    #[must_use]
    pub fn ask(&self) -> &Ask {
        self.rewritten.as_ref().unwrap_or(&self.test.ask)
    }
}

impl<W: World> Scorer<W> {
    /// A scorer before the first recording.
    #[must_use]
    pub fn new(questions: Vec<Question<W>>) -> Self {
        Self {
            scored: vec![Scored::default(); questions.len()],
            index: Index::new(&questions),
            questions,
            calls: Calls::default(),
            coverage: Coverage::default(),
            label: None,
            gaps: 0,
            timed: true,
            evidence_bytes: 0,
        }
    }

    /// What follows is a session with this server, by its name in the suite. `timed` says
    /// whether its events have times.
    pub fn enter(&mut self, server: Option<&str>, timed: bool) {
        self.leave();
        self.label = server.map(str::to_owned);
        self.timed = timed;
    }

    /// Something is missing here.
    pub fn gap(&mut self) {
        self.gaps += 1;
    }

    /// The session is over: what was never answered will not be.
    pub fn leave(&mut self) {
        self.calls.finish();
        self.judge_all();
        self.gaps += std::mem::take(&mut self.calls.clipped);
    }

    /// Everything that was found out, in the order of the tests.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Scored>, Coverage) {
        self.leave();
        self.coverage.gaps = self.gaps;
        (self.scored, self.coverage)
    }

    fn judge_all(&mut self) {
        while let Some(exchange) = self.calls.poll() {
            self.exchange(&exchange);
        }
    }

    fn exchange(&mut self, exchange: &Exchange) {
        let Some(label) = self.label.clone() else {
            return;
        };
        let params = exchange.params.as_deref().map(Json::read);
        let params = match params {
            None => Json::object::<String>([]),
            Some(Ok(params)) => params,
            Some(Err(_)) => return,
        };
        let mut met = Vec::new();
        for number in self.index.candidates(&label, &exchange.method, &params) {
            let Some(question) = self.questions.get(number) else {
                continue;
            };
            let ask = question.ask();
            let is_handshake = matches!(ask, Ask::Check { method } if method == "initialize");
            if is_handshake || ask.is_asked_by(&params) {
                met.push(number);
                let outcome = judge(&question.test, exchange, self.timed, &question.world);
                self.note(number, exchange, outcome);
            }
        }
        if params.hides() {
            self.hidden(&label, exchange, &params, &mut met);
        }
        self.coverage.note(&label, exchange, &params, &met);
    }

    /// Judges by an exchange whose question holds something hidden: it counts for the one
    /// question that it can be, and decides nothing where there are several.
    fn hidden(&mut self, label: &str, exchange: &Exchange, params: &Json, met: &mut Vec<usize>) {
        let mut numbers = self.index.hidden(label, &exchange.method, params);
        numbers.retain(|number| {
            let question = self.questions.get(*number);
            !met.contains(number)
                && question.is_some_and(|one| shown::may_be(one.ask(), one.shown.as_ref(), params))
        });
        let mut asks = numbers.iter().filter_map(|one| self.questions.get(*one));
        let first = asks.next().map(Question::ask);
        let ambiguous = asks.any(|other| Some(other.ask()) != first);
        for number in numbers {
            let Some(question) = self.questions.get(number) else {
                continue;
            };
            let outcome = if ambiguous {
                doubt("what the recording hides is all that tells this test from others")
            } else {
                judge(&question.test, exchange, self.timed, &question.world)
            };
            met.push(number);
            self.note(number, exchange, outcome);
        }
        met.sort_unstable();
    }

    fn note(&mut self, number: usize, exchange: &Exchange, mut outcome: Outcome) {
        let Some(scored) = self.scored.get_mut(number) else {
            return;
        };
        scored.exercised += 1;
        if self.timed {
            scored.took_us = scored.took_us.max(exchange.took_us);
        }
        if outcome.holds() {
            scored.passed += 1;
            return;
        }
        let told = if !outcome.errors.is_empty() {
            scored.unjudged += 1;
            scored.unjudged + scored.failed
        } else if !outcome.failures.is_empty() {
            scored.failed += 1;
            scored.unjudged + scored.failed
        } else {
            scored.doubtful += 1;
            scored.doubtful
        };
        if told > INSTANCES {
            scored.more += 1;
            return;
        }
        let values = exchange.reply.len() * outcome.failures.len();
        if self.evidence_bytes.saturating_add(values) > EVIDENCE_BYTES {
            outcome.failures.iter_mut().for_each(Failure::drop_values);
        } else {
            self.evidence_bytes += values;
        }
        scored.others.push(Instance {
            session: exchange.session,
            request: exchange.request,
            response: exchange.response,
            outcome,
        });
    }
}

impl<W: World> Sink for Scorer<W> {
    fn record(&mut self, event: &Event) {
        if let EventBody::Gap(_) = event.body {
            self.gap();
        }
        self.calls.observe(event);
        self.judge_all();
    }
}

fn doubt(why: impl Into<String>) -> Outcome {
    Outcome {
        doubts: vec![why.into()],
        ..Outcome::default()
    }
}

/// Judges one exchange by one test.
fn judge(test: &Test, exchange: &Exchange, timed: bool, world: &dyn World) -> Outcome {
    if let Some(why) = exchange.doubt {
        return doubt(why);
    }
    let read = |text: &[u8]| Json::read(text);
    let envelope = match &exchange.reply {
        Reply::None => return doubt("the recording has no answer to it"),
        Reply::Error(error) => read(error).map(Answer::of_error),
        Reply::Result(result) => read(result).map(Answer::of_result),
    };
    let mut envelope = match envelope {
        Ok(envelope) => envelope,
        Err(error) => return doubt(format!("the answer cannot be read: {error}")),
    };
    if let Some(command) = &test.response_transform {
        if envelope.hides() {
            return doubt("the recording hides a secret, and what the transform makes of it");
        }
        match world.transform(Phase::Response, command, &envelope) {
            Ok(other) => envelope = other,
            Err(why) => {
                return Outcome {
                    failures: vec![Failure::note("transform", why)],
                    ..Outcome::default()
                };
            }
        }
    }
    let answer = Answer {
        envelope: &envelope,
        took_us: exchange.took_us.filter(|_| timed),
        headers: match &exchange.headers {
            Some(headers) => Headers::Known(headers),
            None if exchange.is_stdio => Headers::NotHttp,
            None => Headers::NotKept,
        },
        redacted: true,
    };
    let mut outcome = test.expectation.judge(&answer, world);
    if !timed {
        test.expectation.note_untimed(&mut outcome);
    }
    outcome
}
