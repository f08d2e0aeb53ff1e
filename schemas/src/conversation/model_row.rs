//! One model call as shown to others: the published row.

use serde::Serialize;

use super::Outcome;

/// The summary of one model call, without its content. Its JSON Schema is `tapewright schema
/// model-call`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ModelRow {
    /// `model`: the type of the line.
    pub kind: ModelKind,
    /// The number of the head of its request on the tape.
    pub request_seq: u64,
    /// The session; 0 for calls without a session.
    pub session: u32,
    /// The HTTP exchange.
    pub conduit: u32,
    /// When it was requested, in milliseconds since the recording began; `None` if the file has no
    /// times.
    pub at_ms: Option<f64>,
    /// The name under which the recorder exposes the provider, if it was used.
    pub provider: Option<String>,
    /// The wire that it travelled on.
    pub wire: &'static str,
    /// The model according to the answer, or else according to the request.
    pub model: Option<String>,
    /// The id that the provider gave the answer.
    pub id: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// How its content ended: `answered`, `cut_short`, `failed` or `unreadable`.
    pub end: &'static str,
    /// What went wrong, in the provider's words if it gave any.
    pub error: Option<String>,
    /// The HTTP status; `None` if there was no response.
    pub http_status: Option<u16>,
    /// Whether the response was a stream.
    pub stream: bool,
    /// Tokens that were read, those from a cache included.
    pub input_tokens: Option<u64>,
    /// Tokens that were made, thoughts included.
    pub output_tokens: Option<u64>,
    /// Tokens from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens that were written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens of thoughts.
    pub reasoning_tokens: Option<u64>,
    /// The cost, in millionths of a US cent; `None` if the price is unknown.
    pub cost_usd_microcents: Option<u64>,
    /// Why it ended, in one word for all wires.
    pub finish: Option<&'static str>,
    /// Why it ended, in the provider's word.
    pub finish_word: Option<String>,
    /// The tool uses, in order.
    pub tool_uses: Vec<ToolUseRow>,
    /// The time from the request to the first content of the model, in milliseconds.
    pub first_token_ms: Option<f64>,
    /// The time from the request to the end of the response, in milliseconds.
    pub waited_ms: Option<f64>,
}

/// The value of `kind` in a [`ModelRow`].
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub enum ModelKind {
    /// A model call.
    #[default]
    #[serde(rename = "model")]
    Model,
}

/// One tool use of a model, and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolUseRow {
    /// Its id, if the wire has one.
    pub id: Option<String>,
    /// The name that the model used.
    pub name: String,
    /// `called`, `elsewhere` or `never`; `None` if it was not searched for.
    pub fate: Option<&'static str>,
    /// How the request that carried it out was identified.
    pub how: Option<&'static str>,
    /// Whether it could be another request.
    pub guess: bool,
    /// The request that carried it out.
    pub by: Option<CarriedOut>,
}

/// The `tools/call` that carried out a tool use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CarriedOut {
    /// The name of its tape.
    pub file: String,
    /// Its place on that tape.
    pub seq: u64,
    /// The label of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
}

/// The tool use of a model that a `tools/call` carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AskedBy {
    /// The name of the tape with the model call.
    pub file: String,
    /// Place of that call on it.
    pub model_call: u64,
    /// The id of the use, if the wire has one.
    pub id: Option<String>,
    /// How it was identified.
    pub how: &'static str,
    /// Whether it could be another one.
    pub guess: bool,
}

impl ModelRow {
    /// The row of a recording whose events have no times.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        (self.at_ms, self.first_token_ms, self.waited_ms) = (None, None, None);
        self
    }
}
