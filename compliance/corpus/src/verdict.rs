//! Whether a rule holds: three answers, with reasons.

use std::fmt;

use serde_json::Value;

use crate::rule::Applies;

/// The verdict on an assertion, or on a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was tested, and holds.
    Pass,
    /// It does not.
    Fail(Box<Failure>),
    /// It is unknown.
    Untested(Untested),
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The expectation.
    pub expectation: Expectation,
    /// The position in the answer, as a JSON pointer; empty for all of it.
    pub pointer: String,
    /// Why.
    pub why: FailureReason,
    /// The number of the answer in the recording.
    pub seq: Option<u64>,
    /// The index of the recording.
    pub recording: usize,
}

/// The members of `expect`, and the presence of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// An answer comes.
    Answer,
    /// `result`
    Result,
    /// `error`
    Error,
    /// `schema`
    Schema,
    /// `headers`
    Headers,
    /// `headers_absent`
    HeadersAbsent,
    /// `transport_observation`
    TransportObservation,
    /// `max_duration_ms`
    MaxDuration,
    /// `stable_keys`
    StableKeys,
    /// `notification_stream`
    NotificationStream,
    /// `server_request`
    ServerRequest,
}

/// Why an expectation does not hold. Values of the server are truncated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureReason {
    /// There was no response.
    #[error("no answer came")]
    NoAnswer,
    /// There was only a status.
    #[error("the HTTP response with status {0} has no answer")]
    NoMessage(u16),
    /// There was a response although none is allowed.
    #[error("a notification was answered: {0}")]
    Answered(ShortValue),
    /// A notification was not taken over HTTP.
    #[error("the HTTP response to a notification has status {0}, not 202")]
    NotAccepted(u16),
    /// An error instead of a result.
    #[error("an error came instead of a result: {0}")]
    ErrorCame(ShortValue),
    /// A result instead of an error.
    #[error("a result came instead of an error: {0}")]
    ResultCame(ShortValue),
    /// One value where another should be.
    #[error("expected {expected}, found {found}")]
    Differs {
        /// The expected value.
        expected: ShortValue,
        /// The actual value.
        found: ShortValue,
    },
    /// A member is not there.
    #[error("missing")]
    Missing,
    /// A member is there that should not be.
    #[error("unexpected")]
    Extra,
    /// The code of an error.
    #[error("the error has code {found}, not {expected}")]
    Code {
        /// The code that it should have.
        expected: i64,
        /// The actual value.
        found: ShortValue,
    },
    /// The message of an error.
    #[error("the message of the error does not contain {expected}: {found}")]
    Message {
        /// The expected part.
        expected: ShortValue,
        /// The actual text.
        found: ShortValue,
    },
    /// A JSON Schema does not hold.
    #[error("{0}")]
    Schema(ShortValue),
    /// A header field has another value.
    #[error("the header `{name}` should have {expected}, and has {found}")]
    Header {
        /// Its name.
        name: String,
        /// The expected value.
        expected: ShortValue,
        /// The actual value.
        found: ShortValue,
    },
    /// A header field is missing.
    #[error("the header `{0}` is missing")]
    NoHeader(String),
    /// A header field is there.
    #[error("the header `{0}` is unexpected")]
    HeaderThere(String),
    /// Messages are framed in another way.
    #[error("{}", noise(*.count, .first))]
    Noise {
        /// The number of such lines.
        count: u64,
        /// The first.
        first: ShortValue,
    },
    /// The messages are not preceded by their length.
    #[error("messages must be separated by newlines, without `Content-Length`")]
    NoLength,
    /// A cancellation was taken badly.
    #[error("the server answers no other request after a cancellation")]
    Stuck,
    /// It took too long.
    #[error("the answer took {took_ms} ms, {limit_ms} are allowed")]
    Slow {
        /// The limit, in milliseconds.
        limit_ms: u64,
        /// How long it took, in milliseconds.
        took_ms: u64,
    },
    /// Answers to the same question differ.
    #[error("the answers to the same call differ: {one} and {other}")]
    Unstable {
        /// The value in one answer.
        one: ShortValue,
        /// The value in another answer.
        other: ShortValue,
    },
    /// A notification that must come did not.
    #[error("`{0}` never came")]
    NeverCame(String),
    /// A notification that must not come did.
    #[error("`{0}` came")]
    Came(String),
    /// A notification names another token.
    #[error("`{method}` names the token {found}, the call has {expected}")]
    Token {
        /// Its method.
        method: String,
        /// The token of the call.
        expected: ShortValue,
        /// The token that it names.
        found: ShortValue,
    },
    /// Progress falls.
    #[error("progress falls from {before} to {after}")]
    Falls {
        /// The earlier value.
        before: ShortValue,
        /// The later value.
        after: ShortValue,
    },
}

/// A value on one line: the beginning of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortValue(pub String);

/// Why it is unknown whether an assertion holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untested {
    /// The corpus of this version has no test for it.
    #[error("the corpus has no test for it")]
    NoTest,
    /// No matching question was asked.
    #[error("not exercised")]
    NotAsked,
    /// The server does not have it.
    #[error("the server does not declare `{0}`")]
    Capability(String),
    /// The server has nothing that could replace a placeholder.
    #[error("the server has nothing for `{0}`")]
    Placeholder(String),
    /// It is about another transport.
    #[error("it is about {}", transport_name(*.0))]
    Transport(Applies),
    /// It is about one transport, and the evidence does not show which one was used.
    #[error("the recording does not show whether it was over stdio or HTTP")]
    UnknownTransport,
    /// The evidence has no headers.
    #[error("the headers of the response are not known")]
    NoHead,
    /// The evidence has no times.
    #[error("the recording has no times")]
    NoTimes,
    /// There was no such message, and the server need not send it.
    #[error("no `{0}` came, which the server may leave out")]
    NoneCame(String),
    /// The server refused the chosen item.
    #[error("the server refused what was chosen for the test: {0}")]
    Refused(ShortValue),
    /// The question was asked less often than required.
    #[error("it was sent {asked} times; {wanted} times are required")]
    TooFew {
        /// How often it was asked.
        asked: usize,
        /// How often it must be asked.
        wanted: usize,
    },
    /// Events that could decide it are missing.
    #[error("the evidence has a gap")]
    Gap,
    /// The answer could not be examined: it is nested too deeply, or its schema would take too
    /// long.
    #[error("checking the answer took too long")]
    TooMuch,
    /// The server had exited.
    #[error("the server had ended: {0}")]
    Ended(String),
    /// The time for the run was over.
    #[error("the time limit of the run was reached")]
    OutOfTime,
    /// The recording has no answer, and it is unknown whether there would have been one.
    #[error("the request was sent without waiting for the answer")]
    NotAwaited,
    /// The answer is not the server's.
    #[error("tapewright answered instead of the server")]
    InPlace,
    /// The client answered in a way that decides nothing.
    #[error("the client did not accept the request of the server")]
    Declined,
    /// The answer is inconclusive.
    #[error("{0}")]
    Inconclusive(String),
    /// The server refuses requests.
    #[error("the server demands authorization (HTTP status {0})")]
    Unauthorized(u16),
}

/// The name of a transport.
#[must_use]
pub fn transport_name(transport: Applies) -> &'static str {
    match transport {
        Applies::Stdio => "stdio",
        Applies::Http => "HTTP",
    }
}

fn noise(count: u64, first: &ShortValue) -> String {
    match count {
        1 => format!("a line on stdout is not a message: {first}"),
        _ => format!("{count} lines on stdout are not messages; the first is {first}"),
    }
}

impl Untested {
    /// Whether the evidence lacks something that it should have.
    #[must_use]
    pub fn is_gap(&self) -> bool {
        matches!(
            self,
            Self::Gap | Self::TooMuch | Self::Ended(_) | Self::OutOfTime
        )
    }
}

impl Expectation {
    /// Its key in a corpus.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Result => "result",
            Self::Error => "error",
            Self::Schema => "schema",
            Self::Headers => "headers",
            Self::HeadersAbsent => "headers_absent",
            Self::TransportObservation => "transport_observation",
            Self::MaxDuration => "max_duration_ms",
            Self::StableKeys => "stable_keys",
            Self::NotificationStream => "notification_stream",
            Self::ServerRequest => "server_request",
        }
    }
}

impl ShortValue {
    /// The maximum length of a shown value, in characters.
    const CHARS: usize = 120;

    /// The beginning of the text of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        Self::text(&value.to_string())
    }

    /// The beginning of a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut short: String = text.chars().take(Self::CHARS).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        Self(short)
    }
}

impl fmt::Display for ShortValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.expectation.key(), self.why)?;
        if !self.pointer.is_empty() {
            write!(out, " (at {})", self.pointer)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// A failure of the whole answer.
    pub(crate) fn fail(expectation: Expectation, why: FailureReason) -> Self {
        Self::fail_at(expectation, String::new(), why)
    }

    /// A failure within the answer.
    pub(crate) fn fail_at(expectation: Expectation, pointer: String, why: FailureReason) -> Self {
        Self::Fail(Box::new(Failure {
            expectation,
            pointer,
            why,
            seq: None,
            recording: 0,
        }))
    }

    /// Whether it is a failure.
    #[must_use]
    pub fn is_fail(&self) -> bool {
        matches!(self, Self::Fail(_))
    }

    /// Combines two expectations of one assertion: both must hold. A failure outweighs an
    /// inconclusive result.
    #[must_use]
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Fail(_) => self,
            Self::Pass => other(),
            Self::Untested(_) => match other() {
                Self::Fail(failure) => Self::Fail(failure),
                _ => self,
            },
        }
    }

    /// Combines two tests of the same thing: one failure is enough, and one success outweighs an
    /// inconclusive result. Of two inconclusive reasons, one for which evidence is missing is
    /// kept.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fail(one), _) | (_, Self::Fail(one)) => Self::Fail(one),
            (Self::Pass, _) | (_, Self::Pass) => Self::Pass,
            (Self::Untested(one), Self::Untested(other)) => {
                let better = one == Untested::NotAsked || (!one.is_gap() && other.is_gap());
                Self::Untested(if better { other } else { one })
            }
        }
    }
}
