//! One request, and its state.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Outcome;
use crate::envelope::{Envelope, Kind, RequestId};
use crate::era::Era;
use crate::event::{
    Carrier, ConduitId, Direction, Event, EventBody, FaultRef, InItsPlace, MessageNumber, Offset,
    Scope, SessionKey,
};
use crate::json;
use crate::slices::Front as _;

/// A request and its state; with a user-defined `T`.
#[derive(Clone, Debug)]
pub struct Exchange<T> {
    /// Its number on the tape.
    pub seq: u64,
    /// When it was seen.
    pub at: Offset,
    /// Its session.
    pub session: SessionKey,
    /// The conduit on which it came.
    pub conduit: ConduitId,
    /// Its direction.
    pub dir: Direction,
    /// Its id as written, truncated if long.
    pub id: String,
    /// Its method, truncated if long.
    pub method: String,
    /// The tool, resource or prompt that it refers to.
    pub name: Option<String>,
    /// Its length, in bytes.
    pub bytes: u64,
    /// The fault that affects it.
    pub fault: Option<FaultRef>,
    /// Its original answer, even if a fault holds it back.
    pub answer: Option<Answered>,
    /// The status of the HTTP response for it; 0 without one.
    pub status: u16,
    /// How long the recorder held its HTTP exchange, in microseconds.
    pub ours_us: Option<u64>,
    /// The places of notifications about it: its progress, its cancellation.
    pub notifications: Vec<u64>,
    /// The codes of a judge's findings about it.
    pub findings: Vec<String>,
    /// The value that the user attached to it.
    pub value: T,
    pub(super) scope: Scope,
    pub(super) era: Option<Era>,
    pub(super) state: State,
    /// A fault holds the request or its answer back.
    pub(super) kept: bool,
    /// What a fault gave its sender in place of the answer.
    pub(super) instead: Option<InItsPlace>,
    /// The body of an HTTP error counts as its answer.
    pub(super) refused: bool,
    is_owed: bool,
    /// The message that a fault holds, which is its answer.
    pub(super) held: Option<MessageNumber>,
    /// The number of gaps before it.
    pub(super) gaps: u64,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Its number on the tape.
    pub seq: u64,
    /// When it was seen.
    pub at: Offset,
    /// Its length, in bytes.
    pub bytes: u64,
    /// It is an error; with its code, if that is an integer.
    pub error: Option<Option<i64>>,
    /// It is the result of a tool that reports a failure.
    pub tool_error: bool,
    /// What carried it.
    pub carrier: Carrier,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// For its answer.
    Open,
    /// The last message of its stream was its answer: only a fault may still hold it back.
    Fresh,
    /// For the end of a fault that holds back the answer, which came on this conduit.
    Kept(ConduitId),
    /// For a time; its answer came on this conduit.
    Until(Offset, ConduitId),
    /// For nothing any more, although it had no answer.
    GivenUp,
}

/// The longest text of a peer that is shown, in bytes.
const SHOWN_BYTES: usize = 200;
/// How many notifications, and how many findings, are kept for one exchange.
const LINKS: usize = 64;
/// Requests that last by their nature (2026-07-28, server/subscriptions).
const LASTING: &str = "subscriptions/listen";

impl<T: Default> Exchange<T> {
    pub(super) fn new(event: &Event, text: &[u8], request: &Envelope<'_>, gaps: u64) -> Self {
        let is_owed = match &request.kind {
            Kind::Request { id, method, .. } => *id != RequestId::Null && method != LASTING,
            _ => false,
        };
        Self {
            seq: event.seq,
            at: event.at,
            session: event.session,
            conduit: event.conduit,
            dir: event.dir,
            id: String::new(),
            method: String::new(),
            name: None,
            bytes: text.len() as u64,
            fault: None,
            answer: None,
            status: 0,
            ours_us: None,
            notifications: Vec::new(),
            findings: Vec::new(),
            value: T::default(),
            scope: event.scope(),
            era: event.era,
            state: State::Open,
            kept: false,
            instead: None,
            refused: false,
            is_owed,
            held: None,
            gaps,
        }
    }
}

impl<T> Exchange<T> {
    /// Records the tool, resource or prompt that it refers to.
    pub(super) fn describe(
        &mut self,
        text: &[u8],
        id: &RequestId<'_>,
        method: &str,
        params: Option<&[u8]>,
    ) {
        self.id = match id {
            RequestId::Number(text) | RequestId::Other(text) => shown(text),
            _ => shown(&String::from_utf8_lossy(id.source_in(text))),
        };
        self.method = shown(method);
        self.name = name_of(method, params);
    }

    /// Whether its sender is still waiting for it, and may expect an answer soon: a request without
    /// an id can hardly be answered, and some requests are long-lived by design.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.is_owed() && self.state != State::Fresh
    }

    /// Whether an answer to it is due.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// How it ends for its sender with this answer, and with what a fault gave in its place.
    pub(super) fn outcome_of(&self, answer: &Answered) -> Outcome {
        match self.instead {
            Some(InItsPlace::Error(_)) => Outcome::Error,
            Some(InItsPlace::Status(_)) => Outcome::HttpError,
            // A line or an event is whole without what follows it, and a body is not.
            Some(InItsPlace::Cut { all }) if !all || answer.carrier == Carrier::PostAnswer => {
                if answer.carrier.is_http() {
                    Outcome::Failed
                } else {
                    Outcome::PeerGone
                }
            }
            Some(InItsPlace::Cut { .. }) | None if answer.error.is_some() => Outcome::Error,
            Some(InItsPlace::Cut { .. }) | None => Outcome::Answered,
        }
    }

    /// The code of the error that its sender got.
    pub(super) fn error_code(&self) -> Option<i64> {
        match self.instead {
            Some(InItsPlace::Error(code)) => code,
            Some(InItsPlace::Cut { all: false } | InItsPlace::Status(_)) => None,
            Some(InItsPlace::Cut { all: true }) | None => self.answer.as_ref()?.error.flatten(),
        }
    }

    /// The status of the HTTP response that its sender got.
    pub(super) fn http_status(&self) -> Option<u16> {
        match self.instead {
            Some(InItsPlace::Status(status)) => Some(status),
            _ => Some(self.status).filter(|status| *status > 0),
        }
    }

    /// Whether its sender got the result of a tool that reports a failure.
    pub(super) fn is_tool_error(&self) -> bool {
        let answer = self.answer.as_ref().filter(|answer| answer.tool_error);
        answer.is_some_and(|answer| self.outcome_of(answer) == Outcome::Answered)
    }

    /// Whether a fault holds the request or its answer back.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// What is remembered of an exchange that is over but may still be answered.
    pub(super) fn given_up(&self) -> Self
    where
        T: Default,
    {
        Self {
            id: self.id.clone(),
            method: self.method.clone(),
            name: self.name.clone(),
            fault: self.fault.clone(),
            answer: None,
            notifications: Vec::new(),
            findings: Vec::new(),
            value: T::default(),
            state: State::GivenUp,
            ..*self
        }
    }

    pub(super) fn link(&mut self, seq: u64) {
        if self.notifications.len() < LINKS {
            self.notifications.push(seq);
        }
    }

    pub(super) fn found(&mut self, code: &str) {
        if self.findings.len() < LINKS && !self.findings.iter().any(|known| known == code) {
            self.findings.push(shown(code));
        }
    }
}

impl Answered {
    /// An answer; `describes` is whether its outcome matters.
    pub(super) fn new(
        event: &Event,
        text: &[u8],
        envelope: &Envelope<'_>,
        describes: bool,
    ) -> Self {
        let (result, error) = match &envelope.kind {
            Kind::Response { result, error, .. } if describes => (*result, *error),
            _ => (None, None),
        };
        let code = |error| {
            let code = std::str::from_utf8(json::find(error, &["code"])?).ok()?;
            code.parse().ok()
        };
        Self {
            seq: event.seq,
            at: event.at,
            bytes: text.len() as u64,
            error: error.map(code),
            tool_error: result.is_some_and(is_failure),
            carrier: match &event.body {
                EventBody::Message { origin, .. } => origin.carrier,
                _ => Carrier::default(),
            },
        }
    }
}

/// Built once: building it costs more than using it on a small message.
static FAILURE_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("isError"));

/// Whether the result of a tool reports a failure.
fn is_failure(result: &[u8]) -> bool {
    // Spares most results a second scan; a name may be written with escapes.
    let may_say = FAILURE_FINDER.find(result).is_some() || memchr::memchr(b'\\', result).is_some();
    may_say && json::valid_member(result, "isError") == Some(b"true")
}

/// The called tool, the read resource or the requested prompt, from parameters that are JSON.
#[must_use]
pub fn name_of(method: &str, params: Option<&[u8]>) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" => "uri",
        _ => return None,
    };
    let params = params?;
    if member == "name"
        && let Some(name) = plain_call(params)
        && let Ok(name) = std::str::from_utf8(name)
    {
        return Some(shown(name));
    }
    match RequestId::of_source(json::valid_member(params, member)?) {
        RequestId::Text(name) => Some(shown(&name)),
        _ => None,
    }
}

/// How the parameters of a plain call begin, and the text after the name.
const NAME: &[u8] = b"{\"name\":\"";
const ARGUMENTS: &[u8] = b"\",\"arguments\":{";

/// The name in parameters that are JSON, if they consist of a `name` without escapes and an object
/// `arguments`, as in most calls, and if this can be seen without parsing them. `None` if only a
/// closer look can tell.
#[must_use]
pub fn plain_call(params: &[u8]) -> Option<&[u8]> {
    let behind = params.strip_prefix(NAME)?;
    let (name, rest) = behind.split_at(memchr::memchr2(b'"', b'\\', behind)?);
    let inside = rest.strip_prefix(ARGUMENTS)?;
    // If exactly one brace follows this brace, it closes `arguments`: within a string a quote would
    // follow. Since it is the first closing brace, nothing was closed before it.
    let is_last = memchr::memchr(b'}', inside)? + 2 == inside.len();
    is_last.then_some(name)
}

/// The part of a peer's text that is shown.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut shown = text.front(SHOWN_BYTES).to_owned();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_plain_call_is_its_member() {
        for (text, is_plain) in [
            (r#"{"name":"a","arguments":{}}"#, true),
            (r#"{"name":"","arguments":{"b":[1,"]"],"c":"\""}}"#, true),
            (r#"{"name":"a","arguments":{"b":{}}}"#, false),
            (r#"{"name":"a","arguments":{"b":"}}"}}"#, false),
            (r#"{"name":"a","arguments":{},"name":"b"}"#, false),
            (r#"{"name":"a\"","arguments":{}}"#, false),
            (r#"{"name":"a\u0062","arguments":{}}"#, false),
            (r#"{"name":1,"arguments":{}}"#, false),
        ] {
            assert_eq!(plain_call(text.as_bytes()).is_some(), is_plain, "{text}");
            let value = json::valid_member(text.as_bytes(), "name").unwrap();
            let wanted = match RequestId::of_source(value) {
                RequestId::Text(name) => Some(name.into_owned()),
                _ => None,
            };
            assert_eq!(
                name_of("tools/call", Some(text.as_bytes())),
                wanted,
                "{text}"
            );
        }
    }
}
