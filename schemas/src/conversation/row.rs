//! One exchange as shown to others: the published row.

use serde::Serialize;

use super::{AskedBy, Exchange, Outcome, Over, shown};
use crate::event::{FaultRef, Offset};

/// The summary of one exchange, without message contents. Its JSON Schema is `tapewright schema
/// exchange`.
#[derive(Clone, Debug, Serialize)]
pub struct ExchangeRow {
    /// The request's number on the tape.
    pub request_seq: u64,
    /// The answer's number on the tape, even if a fault held it back.
    pub answer_seq: Option<u64>,
    /// The session; 0 for exchanges without a session.
    pub session: u32,
    /// The conduit: over HTTP the exchange that carried the request.
    pub conduit: u32,
    /// The sender of the request: `client` or `server`.
    pub from: &'static str,
    /// When it was requested, in milliseconds since the tape began; `None` if the file has no
    /// times.
    pub at_ms: Option<f64>,
    /// The request's id, as it was written.
    pub id: String,
    /// The method.
    pub method: String,
    /// The called tool.
    pub tool: Option<String>,
    /// Which resource it is about.
    pub resource: Option<String>,
    /// Which prompt it gets.
    pub prompt: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The code of an error.
    pub error_code: Option<i64>,
    /// The tool reports a failure.
    pub tool_error: bool,
    /// The status of the HTTP response for it.
    pub http_status: Option<u16>,
    /// The time from the request until its sender stopped waiting, in milliseconds; `None` if the
    /// file has no times.
    pub waited_ms: Option<f64>,
    /// The time from the request to its original answer, in milliseconds.
    pub answered_ms: Option<f64>,
    /// The part of that time during which the recorder held it, if measured.
    pub ours_ms: Option<f64>,
    /// The rest of the time to its answer, in milliseconds.
    pub theirs_ms: Option<f64>,
    /// Length of the request in bytes.
    pub request_bytes: u64,
    /// Length of the answer in bytes.
    pub answer_bytes: Option<u64>,
    /// The fault that affects it.
    pub fault: Option<FaultRef>,
    /// The codes of a judge's findings about it.
    pub findings: Vec<String>,
    /// Places of notifications about it: its progress, its cancellation.
    pub notifications: Vec<u64>,
    /// The tool use of a model that it carried out, if it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<AskedBy>,
}

impl ExchangeRow {
    /// The row of an exchange that is over.
    #[must_use]
    pub fn of<T>(over: &Over<T>) -> Self {
        Self::at(&over.exchange, over.outcome, over.at)
    }

    /// The row of an exchange that is not over, as far as it is known: with its answer, unless a
    /// fault holds it back.
    #[must_use]
    pub fn so_far<T>(exchange: &Exchange<T>) -> Self {
        let reached = exchange.answer.as_ref().filter(|_| !exchange.is_kept());
        let outcome = reached.map_or(Outcome::StillPending, |answer| exchange.outcome_of(answer));
        let at = reached.map_or(exchange.at, |answer| answer.at);
        let row = Self::at(exchange, outcome, at);
        Self {
            waited_ms: row.waited_ms.filter(|_| reached.is_some()),
            ..row
        }
    }

    /// The row of an exchange with this outcome at this time.
    fn at<T>(one: &Exchange<T>, outcome: Outcome, at: Offset) -> Self {
        let answer = one.answer.as_ref();
        let took = answer.map(|answer| answer.at.since(one.at));
        let name = |method: &str| one.name.clone().filter(|_| one.method.starts_with(method));
        Self {
            request_seq: one.seq,
            answer_seq: answer.map(|answer| answer.seq),
            session: one.session.0,
            conduit: one.conduit.0,
            from: one.dir.sender(),
            at_ms: Some(one.at.millis()),
            id: one.id.clone(),
            method: one.method.clone(),
            tool: name("tools/"),
            resource: name("resources/"),
            prompt: name("prompts/"),
            outcome,
            error_code: one.error_code(),
            tool_error: one.is_tool_error(),
            http_status: one.http_status(),
            waited_ms: Some(at.since(one.at).millis()),
            answered_ms: took.map(Offset::millis),
            ours_ms: one.ours_us.map(|ours| Offset(ours).millis()),
            theirs_ms: one
                .ours_us
                .zip(took)
                .map(|(ours, took)| took.since(Offset(ours)).millis()),
            request_bytes: one.bytes,
            answer_bytes: answer.map(|answer| answer.bytes),
            fault: one.fault.as_ref().map(|fault| FaultRef {
                name: shown(&fault.name),
                kind: fault.kind.clone(),
            }),
            findings: one.findings.clone(),
            notifications: one.notifications.clone(),
            asked_by: None,
        }
    }

    /// The row of a recording whose events have no times.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        (self.at_ms, self.waited_ms, self.answered_ms) = (None, None, None);
        (self.ours_ms, self.theirs_ms) = (None, None);
        self
    }
}
