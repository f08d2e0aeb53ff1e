//! Scoring a recording: nothing is sent, and every exchange that matches a test's question is
//! judged as its answer.
//!
//! A [`Scorer`] folds over events, live and from disk. A test that no exchange matches is not
//! exercised, which is never the same as passed. An exchange that a fault changed, or that was not
//! recorded whole, is inconclusive.

mod calls;
mod coverage;
mod index;
mod near;
mod scored;
mod shown;

use std::collections::HashMap;
use std::sync::Arc;

use tapewright_schemas::event::{Event, EventBody, Sink};

use self::calls::{Calls, Reply, ScoredExchange};
pub use self::coverage::{Coverage, ToolUse};
use self::index::Index;
use self::scored::Evidence;
pub use self::scored::{Instance, Scored};
use crate::error::EvalError;
use crate::expectation::{Answer, Headers, Outcome, Unjudged};
use crate::failure::Failure;
use crate::json::Json;
use crate::test::{Ask, Test};
use crate::world::{Phase, TransformError, World};

/// Judges the exchanges of recordings by the tests of a suite.
#[derive(Debug)]
pub struct Scorer<W> {
    questions: Vec<Question<W>>,
    scored: Vec<Scored>,
    // Results from exchanges that only count if a test has no others: they have other UUIDs or
    // times, or arguments where the test has none.
    asides: Vec<Scored>,
    // Tests whose question is shared with other tests.
    shared: Vec<bool>,
    index: Index,
    calls: Calls,
    coverage: Coverage,
    label: Option<String>,
    // Everything that may hide an exchange.
    gaps: u64,
    timed: bool,
    evidence: Evidence,
}

/// A test, and the question that it is judged for.
#[derive(Clone, Debug)]
pub struct Question<W> {
    /// The test.
    pub test: Arc<Test>,
    /// The question after the transform.
    pub rewritten: Option<Ask>,
    /// The form of its question in a recording, if that differs: the question is redacted like the
    /// recording.
    pub shown: Option<Ask>,
    /// The world as the test sees it.
    pub world: W,
}

/// The message of a replay and a scored recording about a failure, if the recording only has the
/// question with other values that are new in every session.
pub const ASKED_OTHERWISE: &str =
    "recorded only with other UUIDs or times, and those answers do not match";
const SHARED: &str = "several tests send this request, and not every answer matches";

impl<W> Question<W> {
    /// The question: the test's own, unless a transform rewrites it.
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
            asides: vec![Scored::default(); questions.len()],
            shared: shared(&questions),
            index: Index::new(&questions),
            questions,
            calls: Calls::default(),
            coverage: Coverage::default(),
            label: None,
            gaps: 0,
            timed: true,
            evidence: Evidence::default(),
        }
    }

    /// Begins a session with this server, by its name in the suite. `timed` is whether its events
    /// have times.
    pub fn enter(&mut self, server: Option<&str>, timed: bool) {
        self.leave();
        self.label = server.map(str::to_owned);
        self.timed = timed;
    }

    /// Something is missing here.
    pub fn gap(&mut self) {
        self.gaps += 1;
    }

    /// Ends the session: pending requests remain unanswered.
    pub fn leave(&mut self) {
        self.calls.finish();
        self.judge_all();
        self.gaps += self.calls.take_clipped();
    }

    /// All results, in the order of the tests.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Scored>, Coverage) {
        self.leave();
        self.coverage.gaps = self.gaps;
        let asides = self.asides.into_iter().zip(&self.shared);
        for (scored, (aside, shared)) in self.scored.iter_mut().zip(asides) {
            if scored.exercised == 0 {
                *scored = aside;
            }
            if *shared && scored.passed > 0 {
                scored.doubt_failures(SHARED);
            }
        }
        (self.scored, self.coverage)
    }

    fn judge_all(&mut self) {
        while let Some(exchange) = self.calls.poll() {
            self.exchange(&exchange);
        }
    }

    fn exchange(&mut self, exchange: &ScoredExchange) {
        let Some(label) = self.label.clone() else {
            return;
        };
        let params = exchange.params.as_deref().map(Json::read);
        let params = match params {
            None => Json::object::<String>([]),
            Some(Ok(params)) => params,
            Some(Err(_)) => return,
        };
        let mut met = self.index.candidates(&label, &exchange.method, &params);
        met.retain(|number| self.ask(*number).is_some_and(|ask| asks(ask, &params)));
        for number in met.clone() {
            let has_own = self.ask(number).is_none_or(|ask| is_own(ask, &params));
            self.decide(number, exchange, has_own);
        }
        if params.hides() {
            self.hidden(&label, exchange, &params, &mut met);
        }
        if met.is_empty() {
            met = self.index.near(&label, &exchange.method, &params);
            for number in met.clone() {
                self.near(number, exchange);
            }
        }
        self.coverage.note(&label, exchange, &params, &met);
    }

    /// The question of a test.
    fn ask(&self, number: usize) -> Option<&Ask> {
        self.questions.get(number).map(Question::ask)
    }

    /// Judges a test by an exchange; one that only matches loosely counts if the test has no exact
    /// match.
    fn decide(&mut self, number: usize, exchange: &ScoredExchange, is_own: bool) {
        if let Some(question) = self.questions.get(number) {
            let outcome = judge(&question.test, exchange, self.timed, &question.world);
            self.note(number, exchange, outcome, is_own);
        }
    }

    /// Judges a test by an exchange with other UUIDs and times, which cannot fail it.
    fn near(&mut self, number: usize, exchange: &ScoredExchange) {
        if let Some(question) = self.questions.get(number) {
            let mut outcome = judge(&question.test, exchange, self.timed, &question.world);
            outcome.doubt_failures(ASKED_OTHERWISE);
            self.note(number, exchange, outcome, false);
        }
    }

    /// Judges by an exchange whose question contains hidden values: it counts if a single question
    /// matches, and is inconclusive if several do.
    fn hidden(
        &mut self,
        label: &str,
        exchange: &ScoredExchange,
        params: &Json,
        met: &mut Vec<usize>,
    ) {
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
                doubt("only redacted values distinguish this test from others")
            } else {
                judge(&question.test, exchange, self.timed, &question.world)
            };
            met.push(number);
            self.note(number, exchange, outcome, true);
        }
        met.sort_unstable();
    }

    fn note(&mut self, number: usize, exchange: &ScoredExchange, outcome: Outcome, is_own: bool) {
        let all = if is_own {
            &mut self.scored
        } else {
            &mut self.asides
        };
        if let Some(scored) = all.get_mut(number) {
            scored.time(exchange, self.timed);
            scored.note(exchange, outcome, &mut self.evidence);
        }
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

/// Whether a recorded request matches this question.
fn asks(ask: &Ask, params: &Json) -> bool {
    let is_handshake = matches!(ask, Ask::Check { method } if method == "initialize");
    is_handshake || ask.is_asked_by(params)
}

/// Whether a matching request has the same form as a suite's, which sends no arguments if a test
/// has none.
fn is_own(ask: &Ask, params: &Json) -> bool {
    let given = params.get("arguments").and_then(Json::as_object);
    let open = matches!(
        ask,
        Ask::Tool {
            arguments: None,
            ..
        } | Ask::Prompt {
            arguments: None,
            ..
        }
    );
    !open || given.is_none_or(indexmap::IndexMap::is_empty)
}

/// For each question, whether another one is equal.
fn shared<W>(questions: &[Question<W>]) -> Vec<bool> {
    let key = |one: &Question<W>| {
        let (server, ask) = (one.test.server.clone(), one.ask());
        (server, ask.method().to_owned(), ask.params().canonical())
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for question in questions {
        *counts.entry(key(question)).or_default() += 1;
    }
    let count = |one| counts.get(&key(one)).copied().unwrap_or_default();
    questions.iter().map(|one| count(one) > 1).collect()
}

fn doubt(why: impl Into<String>) -> Outcome {
    Outcome {
        doubts: vec![why.into()],
        ..Outcome::default()
    }
}

/// Judges one exchange by one test.
fn judge(test: &Test, exchange: &ScoredExchange, timed: bool, world: &dyn World) -> Outcome {
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
        Err(error) => return doubt(format!("cannot parse the answer: {error}")),
    };
    if let Some(command) = &test.response_transform {
        if envelope.hides() {
            return doubt("the recording hides a secret that the transform needs");
        }
        match world.transform(Phase::Response, command, &envelope) {
            Ok(other) => envelope = other,
            Err(TransformError::NotStarted(why)) => {
                return Outcome {
                    errors: vec![Unjudged {
                        index: 0,
                        target: String::new(),
                        matcher: "transform",
                        error: EvalError(why),
                    }],
                    ..Outcome::default()
                };
            }
            Err(TransformError::Failed(why)) => {
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
