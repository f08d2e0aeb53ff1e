//! The result of the fold, as data.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::http::Http;
use super::sessions::SessionSummary;
use crate::cassette::NoAnswer;
use crate::conversation::Outcome;
use crate::envelope::Malformed;
use crate::event::{Direction, FaultRef, Faulted, Finding};
use crate::tape::TapeFailure;

/// The summary of a recording.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `tape`, `cassette` or `capture`.
    pub kind: &'static str,
    /// The recorded label of the server.
    pub label: Option<String>,
    /// When the recording began, RFC 3339.
    pub recorded_at: Option<String>,
    /// Program and arguments of the server.
    pub command: Vec<String>,
    /// The client, as it named itself.
    pub client: Option<Peer>,
    /// The server, as it named itself.
    pub server: Option<Peer>,
    /// The revision of MCP that was settled on.
    pub protocol_version: Option<String>,
    /// The eras that were seen, in order.
    pub eras: Vec<&'static str>,
    /// The number of sessions.
    pub sessions: usize,
    /// The first of them, by their numbers; empty for a single one over stdio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_session: Vec<SessionSummary>,
    /// The time from the first to the last event; `None` if the file has no times.
    pub duration_ms: Option<f64>,
    /// Traffic to the server.
    pub to_server: Totals,
    /// Traffic to the client.
    pub to_client: Totals,
    /// Requests by method, the client's first, each in the order of their first use.
    pub methods: Vec<Method>,
    /// The tools that the client called, in the order of their first calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Notifications by method, in the same order.
    pub notifications: Vec<Notification>,
    /// The HTTP traffic other than messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
    /// The number of requests that were never answered.
    pub unanswered_count: u64,
    /// The first of them.
    pub unanswered: Vec<Unanswered>,
    /// The number of requests that hung: they waited for long, a fault held their answer back, or
    /// nothing could answer them any more.
    pub hangs_count: u64,
    /// The first of them, in the order of their requests.
    pub hangs: Vec<Hang>,
    /// Responses that answer no open request.
    pub stray_responses: u64,
    /// The number of messages that were not a JSON-RPC envelope.
    pub noise_count: u64,
    /// The first of them.
    pub noise: Vec<Noise>,
    /// Messages over the recorder's limit, of which only the head was recorded.
    pub clipped: u64,
    /// The number of events that are earlier than a preceding one. This recorder writes no such
    /// tape; if there are any, durations are unreliable.
    #[serde(skip_serializing_if = "is_zero")]
    pub backwards: u64,
    /// Lines on the server's standard error.
    pub stderr_lines: u64,
    /// The number of effects of policies on messages.
    pub faults: u64,
    /// The faults that the recording began with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub injected: Vec<InjectedFault>,
    /// The first effects of faults, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectRow>,
    /// The number of findings that judges wrote to the tape.
    #[serde(skip_serializing_if = "is_zero")]
    pub findings: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Finding>,
    /// Secrets that were replaced, by kind.
    pub redactions: BTreeMap<String, u64>,
    /// What was not recorded.
    pub gaps: Gaps,
    /// How the recording ends.
    pub ended: Ended,
}

/// A side of the conversation, by its own name and version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The traffic in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Messages; a batch counts once.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The requests of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Method {
    /// Its name.
    pub method: String,
    /// `client` or `server`.
    pub from: &'static str,
    /// Their counts.
    #[serde(flatten)]
    pub counters: Counters,
}

/// The calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    /// Its name.
    pub tool: String,
    /// Their counts.
    #[serde(flatten)]
    pub counters: Counters,
}

impl Method {
    pub(super) fn new(dir: Direction, method: String, counters: Counters) -> Self {
        Self {
            method,
            from: dir.sender(),
            counters,
        }
    }
}

impl Tool {
    /// Only clients call tools, so the sender is not recorded.
    pub(super) fn new(_: Direction, tool: String, counters: Counters) -> Self {
        Self { tool, counters }
    }
}

/// Counts of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counters {
    /// Requests.
    pub count: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that were answered with an error of JSON-RPC.
    pub errors: u64,
    /// Those with `isError` in their result.
    pub tool_errors: u64,
    /// How long the answers took; `None` if the file has no times.
    pub delays: Option<Delays>,
    /// Bytes of the requests.
    pub request_bytes: u64,
    /// Bytes of the responses.
    pub response_bytes: u64,
}

/// How long answers took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delays {
    /// The median.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// The notifications of one method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// Its name.
    pub method: String,
    /// `client` or `server`.
    pub from: &'static str,
    /// The number of notifications.
    pub count: u64,
}

/// A request that never got its answer.
#[derive(Clone, Debug, Serialize)]
pub struct Unanswered {
    /// The method.
    pub method: String,
    /// `client` or `server`.
    pub from: &'static str,
    /// The id, as it was written.
    pub id: Box<RawValue>,
    /// When it was sent; `None` when the file has no times.
    pub sent_ms: Option<f64>,
    /// How long it had been waiting when the recording ended.
    pub waited_ms: Option<f64>,
    /// `cancelled`, `peer gone` or `still pending`, and over HTTP `client gone`, `failed`,
    /// `http error` or `no response`.
    pub why: NoAnswer,
}

/// A configured fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InjectedFault {
    /// The fault, as `--fault` takes it.
    pub spec: String,
    /// How often it acted; 0 if it never fired.
    pub acted: u64,
}

/// One effect of a fault, with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectRow {
    /// Its number in the recording.
    pub seq: u64,
    /// When it happened, from the start of the recording, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<f64>,
    /// The effect, its message, and its fault.
    #[serde(flatten)]
    pub effect: Faulted,
}

/// A request that hung.
#[derive(Clone, Debug, Serialize)]
pub struct Hang {
    /// The method.
    pub method: String,
    /// The tool, resource or prompt that it refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `client` or `server`.
    pub from: &'static str,
    /// The id, as it was written.
    pub id: String,
    /// Its number on the tape; 0 for a file without numbers.
    pub seq: u64,
    /// Its session.
    pub session: u32,
    /// Since when it was pending; `None` when the file has no times.
    pub since_ms: Option<f64>,
    /// How long its sender waited.
    pub waited_ms: Option<f64>,
    /// `answered`, `cancelled`, `peer gone`, `still pending`, and over HTTP `client gone`,
    /// `failed`, `http error` or `no response`.
    #[serde(serialize_with = "Outcome::write_word")]
    pub closed: Outcome,
    /// The fault that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultRef>,
}

/// A message that is not a JSON-RPC envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Noise {
    /// `client` or `server`.
    pub from: &'static str,
    /// Why it is not an envelope.
    #[serde(serialize_with = "Malformed::write")]
    pub why: Malformed,
    /// Its beginning.
    pub text: String,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// What was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gaps {
    /// The number of gaps.
    pub count: u64,
    /// The number of events in them.
    pub events: u64,
    /// The number of bytes of payload in them.
    pub bytes: u64,
}

/// How a recording ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Whether it contains everything that crossed.
    pub complete: bool,
    /// Why not.
    pub why: Option<TapeFailure>,
    /// The system's error, or the sentence of an older document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The last event, if the recording breaks off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// The process that is still writing it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<u32>,
    /// The server's exit status.
    pub exit_code: Option<i32>,
    /// The signal that ended the server.
    pub exit_signal: Option<i32>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
