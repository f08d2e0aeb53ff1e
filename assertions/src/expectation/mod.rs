//! The expectations of a test for one answer: its assertions, and other conditions.

mod headers;
mod tokens;
mod tool_error;

use std::fmt;
use std::sync::Arc;

pub use headers::HeaderRule;
pub use tokens::{TokenBudget, TokenMode};

use crate::assertion::Assertion;
use crate::error::EvalError;
use crate::failure::Failure;
use crate::json::Json;
use crate::verdict::{Evidence, Verdict};
use crate::world::World;

/// Everything that one test expects.
#[derive(Debug, Default)]
pub struct Expectation {
    /// The assertions in the order of the suite. Several tests may share one.
    pub assertions: Vec<Arc<Assertion>>,
    /// The longest time from request to answer, in milliseconds.
    pub max_duration_ms: Option<u64>,
    /// The maximum number of tokens of the answer's content.
    pub max_response_tokens: Option<TokenBudget>,
    /// Headers of the HTTP response, and their conditions.
    pub response_headers: Vec<Arc<HeaderRule>>,
    /// Headers that may not be there.
    pub response_headers_absent: Vec<String>,
}

/// An answer, with its headers and duration.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The value that targets refer to; see [`envelope`](Answer::of_result).
    pub envelope: &'a Json,
    /// The time from request to answer, in microseconds; `None` if no call was made.
    pub took_us: Option<u64>,
    /// The headers of the HTTP response.
    pub headers: Headers<'a>,
    /// It comes from a recording, where secrets are hidden: an assertion about a hidden value is
    /// inconclusive.
    pub redacted: bool,
}

/// The headers of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Headers<'a> {
    /// Names and values, in order.
    Known(&'a [(String, String)]),
    /// It did not come over HTTP.
    NotHttp,
    /// It came over HTTP, or may have, and its headers were not recorded.
    NotKept,
}

/// The result of judging an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The failures.
    pub failures: Vec<Failure>,
    /// The assertions that could not be judged, each because of an error in the suite.
    pub errors: Vec<Unjudged>,
    /// The assertions that could not be judged because the answer is incomplete.
    pub doubts: Vec<String>,
    /// The assertions that wait for a model that cannot be asked.
    pub deferred: Vec<String>,
    /// Warnings, which do not make the test fail.
    pub warnings: Vec<String>,
    /// The number of assertions that hold.
    pub passed: usize,
}

/// An assertion that could not be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// Its index among the assertions, from 0.
    pub index: usize,
    /// Its target.
    pub target: String,
    /// Its matcher.
    pub matcher: &'static str,
    /// Why.
    pub error: EvalError,
}

impl Answer<'_> {
    /// The envelope of a result: `{"result": …}`.
    #[must_use]
    pub fn of_result(result: Json) -> Json {
        Json::object([("result", result)])
    }

    /// The envelope of a JSON-RPC error, sent by a server or built from a fixture: `{"result":
    /// {"jsonrpc": "2.0", "error": …}}`.
    #[must_use]
    pub fn of_error(error: Json) -> Json {
        Self::of_result(Json::object([("jsonrpc", "2.0".into()), ("error", error)]))
    }

    fn error(&self) -> Option<&Json> {
        let result = self.envelope.get("result")?;
        let is_wrapper = result.as_object()?.len() == 2 && result.get("jsonrpc").is_some();
        result.get("error").filter(|_| is_wrapper)
    }
}

impl Expectation {
    /// Whether some assertion has an error as its target, so that one is not a failure by itself.
    #[must_use]
    pub fn expects_error(&self) -> bool {
        self.assertions.iter().any(|one| {
            let target = one.target();
            target.starts_with(&["result", "error"]) || target.starts_with(&["error"])
        })
    }

    /// Judges an answer by everything.
    pub fn judge(&self, answer: &Answer<'_>, world: &dyn World) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(error) = answer.error().filter(|_| !self.expects_error()) {
            outcome.failures.push(refused(error));
            return outcome;
        }
        self.judge_assertions(answer, world)
    }

    /// Judges an answer only by the assertions of the suite: an error is not a failure by itself.
    pub fn judge_assertions(&self, answer: &Answer<'_>, world: &dyn World) -> Outcome {
        let mut outcome = Outcome::default();
        let evidence = Evidence {
            envelope: answer.envelope,
            world,
        };
        for (index, assertion) in self.assertions.iter().enumerate() {
            if answer.redacted && assertion.sees_hidden(answer.envelope) {
                let target = assertion.target();
                let doubt = format!(
                    "assertion #{index} (`{target}`) looks at a secret, which the recording hides"
                );
                outcome.doubts.push(doubt);
                continue;
            }
            outcome.take(index, assertion, &evidence);
        }
        tool_error::note(self, answer, &mut outcome);
        self.duration(answer, &mut outcome);
        if let Some(budget) = &self.max_response_tokens {
            if answer.redacted && answer.envelope.hides() {
                let doubt = "the recording hides a secret, so its tokens cannot be counted";
                outcome.doubts.push(doubt.to_owned());
            } else {
                budget.judge(answer.envelope, &mut outcome);
            }
        }
        headers::judge(self, answer, &mut outcome);
        outcome
    }

    /// Notes that a recording has no times, if a duration is checked.
    pub fn note_untimed(&self, outcome: &mut Outcome) {
        if self.max_duration_ms.is_some() {
            let doubt = "the recording has no times to judge `max_duration_ms` by; its tape has, \
                         and a cassette that is recorded with `--cassette-times`";
            outcome.doubts.push(doubt.to_owned());
        }
    }

    fn duration(&self, answer: &Answer<'_>, outcome: &mut Outcome) {
        let (Some(budget), Some(took)) = (self.max_duration_ms, answer.took_us) else {
            return;
        };
        let over = took.saturating_sub(budget.saturating_mul(1_000));
        if over > 0 {
            outcome.failures.push(Failure {
                expected: Some(budget.into()),
                actual: Some(took.div_ceil(1_000).into()),
                ..Failure::note(
                    "max_duration_ms",
                    format!(
                        "max_duration_ms budget exceeded: {} ms ({} ms over budget)",
                        took.div_ceil(1_000),
                        over.div_ceil(1_000)
                    ),
                )
            });
        }
    }
}

impl Outcome {
    /// Judges an answer by an assertion, and adds the result.
    pub fn take(&mut self, index: usize, assertion: &Assertion, evidence: &Evidence<'_>) {
        match assertion.judge(evidence) {
            Verdict::Passed => {
                self.passed += 1;
                if let Some(stop) = assertion.absent(evidence.envelope) {
                    let why = format!("it only holds because nothing is at its target: {stop}");
                    self.warnings.push(told(index, assertion, &why));
                }
            }
            Verdict::Failed(failure) => self.failures.push(Failure {
                index: Some(index),
                ..*failure
            }),
            Verdict::Unjudged(error) => self.errors.push(Unjudged {
                index,
                target: assertion.target().to_string(),
                matcher: assertion.matcher(),
                error,
            }),
            Verdict::Undecided(why) => self.doubts.push(told(index, assertion, &why)),
            Verdict::Deferred(why) => self.deferred.push(told(index, assertion, &why)),
        }
    }

    /// Whether everything was judged and holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        let known = self.failures.is_empty() && self.errors.is_empty();
        known && self.doubts.is_empty() && self.deferred.is_empty()
    }

    /// Turns failures into doubts, for this reason.
    pub fn doubt_failures(&mut self, why: &str) {
        if !self.failures.is_empty() {
            self.failures.clear();
            self.doubts.push(why.to_owned());
        }
    }
}

impl fmt::Display for Unjudged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "assertion #{} (`{}`) could not be judged: {}",
            self.index, self.target, self.error
        )
    }
}

/// Why an assertion is undecided, with its name and target.
fn told(index: usize, assertion: &Assertion, why: &str) -> String {
    let (matcher, target) = (assertion.matcher(), assertion.target());
    format!("assertion #{index} (`{matcher}` on `{target}`): {why}")
}

/// The failure of a test that did not expect an error.
fn refused(error: &Json) -> Failure {
    let code = error.get("code").map(ToString::to_string);
    let message = error.get("message").and_then(Json::as_str);
    Failure {
        target: "result.error".to_owned(),
        actual: Some(error.clone()),
        ..Failure::note(
            "result",
            format!(
                "the server answered with the error {}: {}; a test that expects it has an assertion on `result.error`",
                code.as_deref().unwrap_or("without a code"),
                message.unwrap_or("(no message)")
            ),
        )
    }
}
