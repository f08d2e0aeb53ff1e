//! The contents of a corpus and of the registry.

use serde_json::{Map, Value};

use crate::source::SourceSpot;

/// One file of a corpus: `compliance/<version>/<name>.yml`.
#[derive(Clone, Debug)]
pub struct CorpusFile {
    /// The category of its rules: `PROTO`, `TOOL`, …
    pub category: String,
    /// The version in the file.
    pub spec_version: Option<String>,
    /// The sources of its rules.
    pub tickets: Vec<String>,
    /// The rules, at least one.
    pub rules: Vec<Rule>,
}

/// One rule in one version of the specification.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `PROTO-002`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// Its requirement.
    pub description: Option<String>,
    /// The requests and their expectations. A rule without any is reported, but never tested.
    pub assertions: Vec<RuleAssertion>,
    /// The transports on which it is tested; all if empty.
    pub applies_to: Vec<Applies>,
    /// Notes for readers of the corpus.
    pub notes: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// One request, or none, and its expectation.
#[derive(Clone, Debug)]
pub struct RuleAssertion {
    /// The request. Without one, the expectation is about the handshake.
    pub call: Option<Call>,
    /// The expectation. Without one, only an answer must come.
    pub expect: RuleExpect,
    /// Its description.
    pub description: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The method of a well-formed request.
    pub method: Option<String>,
    /// Its parameters.
    pub params: Option<Map<String, Value>>,
    /// Raw bytes to send in place of a request.
    pub raw: Option<String>,
    /// Only on this transport.
    pub transport: Option<Applies>,
    /// Header fields in addition to those that the transport requires.
    pub headers: Vec<(String, String)>,
    /// The number of concurrent calls, at least 2.
    pub repeat: Option<u32>,
    /// How long to wait for an answer.
    pub timeout_ms: Option<u64>,
}

/// An expectation. Every member that is present is checked.
#[derive(Clone, Debug, Default)]
pub struct RuleExpect {
    /// The result, or a part of it.
    pub result: Option<Value>,
    /// The comparison of `result`.
    pub match_mode: MatchMode,
    /// An error must come.
    pub error: Option<ErrorExpect>,
    /// A JSON Schema of the result.
    pub schema: Option<Value>,
    /// Header fields of the response: the value must contain this text; names are case-insensitive.
    pub headers: Vec<(String, String)>,
    /// Header fields that the response must not have.
    pub headers_absent: Vec<String>,
    /// How messages are framed, or that the exchange can be cancelled.
    pub transport_observation: Option<TransportObservation>,
    /// The longest time to the answer, in milliseconds.
    pub max_duration_ms: Option<u64>,
    /// Members of the result that must be equal in all answers to repeated calls, as names or JSON
    /// pointers.
    pub stable_keys: Vec<String>,
    /// Notifications that come, or do not come, between the call and its answer.
    pub notification_stream: Option<NotificationStream>,
    /// A request that the server sends during the call.
    pub server_request: Option<ServerRequest>,
    /// The whole block as it was written. Versions are compared by it.
    pub written: Value,
}

/// How a result is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// The result must contain the expectation.
    #[default]
    Subset,
    /// The result must equal the expectation.
    Exact,
}

/// The expected error.
#[derive(Clone, Debug, Default)]
pub struct ErrorExpect {
    /// Its code.
    pub code: Option<i64>,
    /// Its whole message.
    pub message: Option<String>,
    /// A part of its message.
    pub message_contains: Option<String>,
    /// A part of its `data`.
    pub data: Option<Value>,
    /// A JSON Schema of the whole error: an object with `code`, `message` and optionally `data`.
    pub schema: Option<Value>,
}

/// The expected behaviour of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportObservation {
    /// One message a line.
    LineDelimited,
    /// `Content-Length` before each message, as in LSP.
    ContentLengthFramed,
    /// Pending requests can be cancelled.
    Cancellable,
}

/// Notifications between a call and its answer.
#[derive(Clone, Debug)]
pub struct NotificationStream {
    /// Their method.
    pub method: String,
    /// Their `progressToken` is the one of the call.
    pub correlate_token: bool,
    /// Their `progress` never decreases.
    pub progress_non_decreasing: bool,
    /// None may come.
    pub absent: bool,
}

/// A request of the server during a call.
#[derive(Clone, Debug)]
pub struct ServerRequest {
    /// Its method.
    pub method: String,
    /// The client's answer matches the schema in the request.
    pub content_matches_requested_schema: bool,
    /// A JSON Schema of its parameters.
    pub schema: Option<Value>,
}

/// A transport that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applies {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// The registry: every rule of every version.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The version of the format; 1.
    pub version: u64,
    /// The rules in the order of the file. Ids are unique.
    pub rules: Vec<RegisteredRule>,
}

/// A rule in the registry.
#[derive(Clone, Debug)]
pub struct RegisteredRule {
    /// `PROTO-002`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// The prefix of its id.
    pub category: String,
    /// Its level.
    pub severity: Severity,
    /// The transports, at least one.
    pub applies_to: Vec<Applies>,
    /// The versions that have it, by the names of their folders.
    pub spec_versions: Vec<String>,
    /// Its requirement.
    pub description: String,
    /// URLs of the specification, and tickets.
    pub references: Vec<String>,
    /// The section of the score that it counts in.
    pub section: Section,
    /// The capability that it requires; if `None`, it always applies.
    pub applicability: Option<String>,
    /// File and section of the specification.
    pub spec_citation: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// The level of a rule, as in RFC 2119.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Absolutely required.
    Must,
    /// Recommended.
    Should,
    /// Optional.
    May,
}

/// A section of the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Opening, negotiation, closing, and requests of servers to clients.
    Lifecycle,
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Prompts and completion.
    Prompts,
    /// Transports, headers, authorization.
    TransportAuth,
}
