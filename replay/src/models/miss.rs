//! Responses to requests that were not recorded.

use serde::Serialize;
use tapewright_models::conversation::{ApiError, ErrorKind};
use tapewright_models::{Call, ReadError, Wire};
use tapewright_proxy::front::non_mcp::{OtherResponse, Reply, Request};

use super::ours;
use crate::json::Difference;

/// A model call that no recorded call answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelMiss {
    /// The wire.
    pub wire: &'static str,
    /// The requested model.
    pub model: String,
    /// Why.
    pub reason: ModelReason,
    /// The redacted message to the agent.
    pub message: String,
    /// How many calls were recorded on this wire.
    pub recorded: u64,
    /// The number of the event with the nearest recorded call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<u64>,
    /// The first differences, redacted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// Why a call is not answered from the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelReason {
    /// No such call was recorded.
    NeverRecorded,
    /// It was recorded, and all of its recordings were served.
    UsedUp,
    /// Its body cannot be read.
    Unreadable,
}

impl ModelMiss {
    pub(super) fn new(wire: Wire, model: &str, reason: ModelReason) -> Self {
        let model = model.chars().take(LONGEST_NAME).collect();
        Self {
            wire: wire.name(),
            model,
            reason,
            message: String::new(),
            recorded: 0,
            nearest: None,
            differences: Vec::new(),
        }
    }

    pub(super) fn unreadable(call: &Call, error: &ReadError) -> Self {
        let model = call.model.as_deref().unwrap_or_default();
        let mut miss = Self::new(call.wire, model, ModelReason::Unreadable);
        miss.message = format!("replay: the request cannot be read: {error}");
        miss
    }

    pub(super) fn nearest(&mut self, seq: u64, differences: Vec<Difference>) {
        self.nearest = Some(seq);
        self.differences = differences;
    }

    /// Adds the message to the agent.
    pub(super) fn said(mut self) -> Self {
        self.message = match self.reason {
            ModelReason::UsedUp => {
                "replay: all recordings of this model call are used up; `--exhausted last` repeats the last one".to_owned()
            }
            _ => self.never_recorded(),
        };
        self
    }

    fn never_recorded(&self) -> String {
        let mut text = "replay: no recorded model call matches".to_owned();
        let Some(nearest) = self.nearest else {
            text.push_str("; none is on the recording");
            return text;
        };
        if self.differences.is_empty() {
            return text;
        }
        let nearest = format!("; the nearest, event {nearest}, differs");
        text.push_str(&nearest);
        let shown = |value: Option<&String>| match value {
            Some(value) => format!("`{value}`"),
            None => "nothing".to_owned(),
        };
        for (at, one) in self.differences.iter().enumerate() {
            let join = if at == 0 { " at" } else { ", at" };
            let (recorded, live) = (shown(one.recorded.as_ref()), shown(one.live.as_ref()));
            let said = format!("{join} {}: recorded {recorded}, asked {live}", one.path);
            text.push_str(&said);
        }
        text
    }
}

/// The maximum length of a model's name in a message, in characters.
const LONGEST_NAME: usize = 200;

/// An error in the provider's format, with which no SDK retries.
pub(super) fn reply(wire: Wire, status: u16, message: &str) -> Reply {
    Reply::Response(given(wire, status, message))
}

/// Like `reply`, as a response.
pub(super) fn given(wire: Wire, status: u16, message: &str) -> OtherResponse {
    let kind = match status {
        404 => ErrorKind::NotFound,
        408 => ErrorKind::Timeout,
        413 => ErrorKind::TooLarge,
        503 => ErrorKind::Overloaded,
        _ => ErrorKind::Invalid,
    };
    let error = ApiError {
        wire,
        status: Some(status),
        kind,
        word: None,
        message: message.to_owned(),
        retry_after_ms: None,
    };
    ours(status, &wire.write_error(&error))
}

/// The wire that determines the format of an error if the address does not.
pub(super) fn wire_of(request: &Request) -> Wire {
    if request.fields.get("anthropic-version").is_some() || request.target.contains("anthropic") {
        Wire::Anthropic
    } else if request.target.contains("/v1beta") || request.fields.get("x-goog-api-key").is_some() {
        Wire::Gemini
    } else {
        Wire::OpenAiChat
    }
}
