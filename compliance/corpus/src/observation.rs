//! Requests and their responses: everything that a rule is judged by.
//!
//! Observations come from a driver that asks a live server, and from a fold over a recording. Data
//! that one of them cannot see is absent, never guessed.

use std::time::Duration;

use serde_json::{Map, Value};
use tapewright_schemas::event::{Direction, ResponseHead};

use crate::rule::{Applies, RuleExpect};
use crate::verdict::Untested;

/// One question, and everything that resulted from it.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// The transport; `None` if unknown.
    pub transport: Option<Applies>,
    /// The message that was sent, with placeholders filled in.
    pub sent: Sent,
    /// The answers: one, or as many as the question was asked.
    pub answers: Vec<Answer>,
    /// Messages between the question and its answer, in both directions, in order.
    pub between: Vec<SideMessage>,
    /// How the server framed its messages, since the beginning of the conversation.
    pub framing: Option<Framing>,
    /// The result of a cancellation, if one was sent.
    pub cancelled: Option<Cancelled>,
    /// A possible answer is missing, or it was tampered with.
    pub gap: bool,
    /// The answer comes from an intermediate recorder, not from the server.
    pub in_place: bool,
    /// The request was for an item from the server's own lists: an error may be caused by that
    /// choice.
    pub chosen: bool,
}

/// A message that was sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// The method of a request.
    pub method: Option<String>,
    /// Its parameters.
    pub params: Option<Map<String, Value>>,
}

/// The response to one question.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The message.
    pub reply: Reply,
    /// The recorded head of the HTTP response that carried it, if any.
    pub head: Option<HttpHead>,
    /// How long it took, if known.
    pub took: Option<Duration>,
    /// The number of the message in the recording.
    pub seq: Option<u64>,
}

/// An answer as a message.
#[derive(Clone, Debug, Default)]
pub enum Reply {
    /// There was none.
    #[default]
    None,
    /// A result.
    Result(Value),
    /// An error, as in the envelope.
    Error(Value),
    /// JSON that is nested too deeply to be parsed.
    Unreadable,
}

/// The head of an HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpHead {
    /// `200`, …
    pub status: u16,
    /// Its fields, in order.
    pub fields: Vec<(String, String)>,
}

/// A message other than a question and its answer.
#[derive(Clone, Debug)]
pub struct SideMessage {
    /// Its direction.
    pub dir: Direction,
    /// The message.
    pub message: Value,
}

/// How a server framed its messages, on stdio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Lines that were one message each.
    pub messages: u64,
    /// Lines that were not messages.
    pub noise: u64,
    /// Lines with a length before a message, as in LSP.
    pub lengths: u64,
    /// The beginning of the first line that was not a message.
    pub first: Option<String>,
}

/// The result of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// The request was answered all the same, which is a race that the specification allows.
    pub answered: bool,
    /// Whether the server answered the next request; `None` if there was none.
    pub goes_on: Option<bool>,
}

/// The header field of a recorder's answers in a server's place.
pub(crate) const IN_PLACE: &str = "x-tapewright";

impl From<&ResponseHead> for HttpHead {
    fn from(head: &ResponseHead) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            status: head.status,
            fields: head.fields.iter().map(owned).collect(),
        }
    }
}

impl HttpHead {
    /// Whether an intermediate recorder answered in the server's place.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.all(IN_PLACE).next().is_some()
    }

    /// All values under a name, in any case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let same = move |(one, value): &'a (String, String)| {
            one.eq_ignore_ascii_case(name).then_some(value.as_str())
        };
        self.fields.iter().filter_map(same)
    }
}

impl Observation {
    /// Whether the server sent its client such a request before it answered.
    #[must_use]
    pub fn asks_for(&self, method: &str) -> bool {
        let came = self
            .between
            .iter()
            .filter(|one| one.dir == Direction::ToClient);
        came.map(|one| &one.message).any(|message| {
            message.get("method").and_then(Value::as_str) == Some(method)
                && message.get("id").is_some_and(|id| !id.is_null())
        })
    }

    /// Why the observation cannot be judged, whatever it contains.
    #[must_use]
    pub fn untested(&self, expect: &RuleExpect) -> Option<Untested> {
        if self.in_place {
            return Some(Untested::InPlace);
        }
        let wanted = expect.server_request.as_ref()?;
        let asks = self.asks_for(&wanted.method);
        (!asks && !self.gap).then(|| Untested::NoneCame(wanted.method.clone()))
    }
}

impl Framing {
    /// The maximum length of a line that is shown, in characters.
    const SHOWN: usize = 80;

    /// Counts a line of the server that is one message.
    pub fn message(&mut self) {
        self.messages += 1;
    }

    /// Handles a line of the server that is not a message.
    pub fn noise(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text
            .get(..15)
            .is_some_and(|start| start.eq_ignore_ascii_case("content-length:"))
        {
            self.lengths += 1;
        }
        self.noise += 1;
        self.first
            .get_or_insert_with(|| text.chars().take(Self::SHOWN).collect());
    }

    /// The two together.
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.noise += other.noise;
        self.lengths += other.lengths;
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }
}

impl Reply {
    /// The reply in the source text of a result or an error.
    #[must_use]
    pub fn read(result: Option<&[u8]>, error: Option<&[u8]>) -> Self {
        let value = |text| serde_json::from_slice(text).ok();
        match (result, error) {
            (_, Some(error)) => value(error).map_or(Self::Unreadable, Self::Error),
            (Some(result), None) => value(result).map_or(Self::Unreadable, Self::Result),
            (None, None) => Self::None,
        }
    }
}
