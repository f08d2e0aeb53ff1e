//! From a cassette back to exchanges and events.
//!
//! Tolerant: a cassette may be hand-written or come from another tool. `version` must be the string
//! `"1"`, every exchange needs its request and its response, and other members are used if they are
//! understood and ignored if not.

use bytes::Bytes;

use super::ends::NoAnswer;
use super::exchange::{Http, Via};
use super::lines::on_one_line;
use crate::era::Era;
use crate::event::{
    ConduitId, Direction, Effect, EventBody, Faulted, Offset, ResponseHead, SessionEnd, SessionKey,
    SessionStart, SseNote,
};
use crate::json;
use crate::recording::{DocumentError, Element, each_element, elements, object};
use crate::tape::{GapTotal, Incomplete, old};

/// The contents of a cassette file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cassette {
    /// The string members of `meta`, in order.
    pub meta: Vec<(String, String)>,
    /// Requests with their responses, in the order of the file.
    pub exchanges: Vec<RecordedExchange>,
    /// Messages outside the exchanges, with the number of exchanges before each.
    pub messages: Vec<(usize, Entry)>,
    /// Requests without a response, with the number of exchanges before them.
    pub unanswered: Vec<(usize, Unanswered)>,
    /// HTTP exchanges that carried no request, with the number of exchanges before them.
    pub http: Vec<(usize, BareHttpExchange)>,
    /// How its sessions began and ended.
    pub sessions: Vec<RecordedSession>,
    /// Why it does not hold everything that crossed.
    pub incomplete: Option<Box<Incomplete>>,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedExchange {
    /// Source text of the request.
    pub request: Bytes,
    /// Source text of the response.
    pub response: Bytes,
    /// When the request was sent.
    pub sent: Option<Offset>,
    /// How long the response took.
    pub took: Option<Offset>,
    /// The number of messages of the client between the request and its response, if the file has
    /// it: see [`Course`](super::Course).
    pub seen: Option<u64>,
    /// Messages in between that belong to it.
    pub stream: Vec<Entry>,
    /// Its era.
    pub era: Option<Era>,
    /// Its session.
    pub session: SessionKey,
    /// It belongs to no session.
    pub sessionless: bool,
    /// The HTTP exchange that carried it.
    pub http: Option<Box<Http>>,
    /// The head of the HTTP response, if the answer was forwarded as a line.
    pub head: Option<Box<ResponseHead>>,
    /// The stream on which the response came, if recorded.
    pub via: Option<Box<Via>>,
    /// What a fault did to the request or its response; the messages here are the original ones.
    pub fault: Option<Box<Effect>>,
}

/// A request that was never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// Source text of the request.
    pub request: Bytes,
    /// When it was sent.
    pub sent: Option<Offset>,
    /// Why it was never answered.
    pub why: NoAnswer,
    /// Later messages that belong to it.
    pub stream: Vec<Entry>,
    /// Its era.
    pub era: Option<Era>,
    /// Its session.
    pub session: SessionKey,
    /// It belongs to no session.
    pub sessionless: bool,
    /// The HTTP exchange that carried it.
    pub http: Option<Box<Http>>,
}

/// One message of a stream, or outside all exchanges; or other content of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its direction.
    pub dir: Direction,
    /// When.
    pub at: Option<Offset>,
    /// The number of messages of the client before it, if the file has it: see
    /// [`Course`](super::Course).
    pub seen: Option<u64>,
    /// It came after the response of its exchange.
    pub late: bool,
    /// Outside the exchanges: it came before the response of an exchange, whose id it has in
    /// another type.
    pub early: bool,
    /// Outside the exchanges: the number of requests without a response before it, if the file has
    /// it.
    pub unanswered_before: Option<usize>,
    /// Its session.
    pub session: SessionKey,
    /// Its HTTP exchange, if it is not that of its place.
    pub conduit: Option<ConduitId>,
    /// The fields of the stream's event other than its data.
    pub sse: Option<SseNote>,
    /// Its content; `None` if the stream's event had no data.
    pub body: Option<EventBody>,
}

/// An HTTP exchange that carried no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareHttpExchange {
    /// The exchange.
    pub http: Http,
    /// Its content that is not a message.
    pub stream: Vec<Entry>,
    /// Its session.
    pub session: SessionKey,
}

/// How a session began and ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedSession {
    /// Its number.
    pub session: SessionKey,
    /// How it began, and when.
    pub began: Option<(Option<Offset>, SessionStart)>,
    /// Why it ended, and when.
    pub ended: Option<(Option<Offset>, SessionEnd)>,
}

impl Cassette {
    /// Reads a cassette from text that was proven to be JSON.
    pub(crate) fn read(text: &Bytes, root: Element<'_>) -> Result<Self, DocumentError> {
        let root = object(root)?;
        let version = root.required("version")?;
        if version.text != b"\"1\"" {
            let found = String::from_utf8_lossy(version.text)
                .chars()
                .take(40)
                .collect();
            return Err(DocumentError::Version { found });
        }
        let mut cassette = Self::default();
        cassette.members(&root);
        each_element(&root.required("exchanges")?, |element| {
            let exchange = RecordedExchange::read(text, element)?;
            cassette.exchanges.push(exchange);
            Ok(())
        })?;
        for element in list(&root, "messages")? {
            let after = element.member("after").and_then(|after| after.number());
            let entry = Entry::read(text, element)?;
            cassette.messages.push((after.unwrap_or(usize::MAX), entry));
        }
        for element in list(&root, "unanswered")? {
            let after = element.member("after").and_then(|after| after.number());
            let request = Unanswered::read(text, element)?;
            cassette
                .unanswered
                .push((after.unwrap_or(usize::MAX), request));
        }
        for element in list(&root, "http")? {
            let after = element.member("after").and_then(|after| after.number());
            if let Some(aside) = BareHttpExchange::read(text, element)? {
                cassette.http.push((after.unwrap_or(usize::MAX), aside));
            }
        }
        for element in list(&root, "sessions")? {
            cassette.sessions.push(RecordedSession::read(&element));
        }
        Ok(cassette)
    }

    /// Reads the members that are not lists, if present.
    pub(super) fn members(&mut self, root: &Element<'_>) {
        if let Some(meta) = root.member("meta") {
            json::members(meta.text, |name, text| {
                let value = Element::root(text.trim_ascii());
                if let Some(value) = value.string() {
                    self.meta
                        .push((String::from_utf8_lossy(name).into_owned(), value));
                }
            });
        }
        if let Some(lacks) = lacks(root) {
            self.incomplete = Some(Box::new(lacks));
        }
    }

    /// Whether any part of it has a time.
    pub(super) fn tells_times(&self) -> bool {
        let mut unanswered = self.unanswered.iter().map(|(_, one)| one);
        let mut asides = self.http.iter().map(|(_, one)| one);
        self.exchanges.iter().any(RecordedExchange::tells_times)
            || self.messages.iter().any(|(_, entry)| entry.at.is_some())
            || unanswered
                .any(|one| one.sent.is_some() || tell_times(&one.stream, one.http.as_deref()))
            || asides.any(|one| tell_times(&one.stream, Some(&one.http)))
            || self.sessions.iter().any(|one| {
                let began = one.began.and_then(|(at, _)| at);
                began.is_some() || one.ended.is_some_and(|(at, _)| at.is_some())
            })
    }

    /// A member of `meta`.
    #[must_use]
    pub fn meta(&self, name: &str) -> Option<&str> {
        self.meta
            .iter()
            .rfind(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Why it does not hold everything.
fn lacks(root: &Element<'_>) -> Option<Incomplete> {
    let text = |name| root.member(name).and_then(|text| text.string());
    let gaps = root.member("gaps");
    let count = |name| gaps.as_ref()?.member(name)?.number();
    Some(Incomplete {
        last_seq: root.member("last_seq").and_then(|last| last.number()),
        gaps: GapTotal {
            count: count("count").unwrap_or_default(),
            events: count("events").unwrap_or_default(),
            bytes: count("bytes").unwrap_or_default(),
        },
        ..Incomplete::read(text("incomplete")?, text("incomplete_detail"))
    })
}

impl RecordedExchange {
    /// Whether any part of it has a time.
    pub(super) fn tells_times(&self) -> bool {
        self.sent.is_some() || self.took.is_some() || tell_times(&self.stream, self.http.as_deref())
    }

    pub(super) fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let exchange = object(element)?;
        let request = object(exchange.required("request")?)?;
        let response = object(exchange.required("response")?)?;
        let timing = exchange.member("timing");
        let time = |name| timing.as_ref().and_then(|timing| millis(timing, name));
        Ok(Self {
            request: document.slice_ref(request.text),
            response: match on_one_line(response.text) {
                Some(line) => line.into(),
                None => document.slice_ref(response.text),
            },
            sent: time("sent_ms"),
            took: time("took_ms"),
            seen: seen(&exchange),
            stream: stream(document, &exchange)?,
            era: era(&exchange),
            session: session(&exchange),
            sessionless: sessionless(&exchange),
            http: exchange
                .member("http")
                .and_then(|http| Http::read(&http))
                .map(Box::new),
            head: exchange
                .member("head")
                .and_then(|head| serde_json::from_slice(head.text).ok()),
            via: exchange.member("via").map(|via| Box::new(Via::read(&via))),
            fault: exchange
                .member("fault")
                .and_then(|fault| fault_of(&fault))
                .map(Box::new),
        })
    }
}

/// What a fault did: an object, or a sentence by an older recorder.
fn fault_of(fault: &Element<'_>) -> Option<Effect> {
    match fault.string() {
        Some(words) => Some(old::effect(&words)),
        None => serde_json::from_slice(fault.text)
            .ok()
            .map(|faulted: Faulted| faulted.effect),
    }
}

impl Unanswered {
    pub(super) fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let unanswered = object(element)?;
        let request = object(unanswered.required("request")?)?;
        Ok(Self {
            request: document.slice_ref(request.text),
            sent: millis(&unanswered, "sent_ms"),
            why: unanswered
                .member("why")
                .and_then(|why| NoAnswer::from_name(&why.string()?))
                .unwrap_or(NoAnswer::StillPending),
            stream: stream(document, &unanswered)?,
            era: era(&unanswered),
            session: session(&unanswered),
            sessionless: sessionless(&unanswered),
            http: unanswered
                .member("http")
                .and_then(|http| Http::read(&http))
                .map(Box::new),
        })
    }
}

impl BareHttpExchange {
    pub(super) fn read(
        document: &Bytes,
        element: Element<'_>,
    ) -> Result<Option<Self>, DocumentError> {
        let aside = object(element)?;
        let Some(http) = aside.member("http").and_then(|http| Http::read(&http)) else {
            return Ok(None);
        };
        Ok(Some(Self {
            http,
            stream: stream(document, &aside)?,
            session: session(&aside),
        }))
    }
}

impl RecordedSession {
    pub(super) fn read(element: &Element<'_>) -> Self {
        let told = |name, time| {
            let text = element.member(name)?.string()?;
            Some((millis(element, time), text))
        };
        Self {
            session: session(element),
            began: told("began", "began_ms").map(|(at, how)| (at, old::session_start(&how))),
            ended: told("ended", "ended_ms").map(|(at, why)| (at, old::session_end(&why))),
        }
    }
}

/// Whether a stream, or the HTTP exchange that carried it, has any times.
fn tell_times(stream: &[Entry], http: Option<&Http>) -> bool {
    let moments = http.map(|http| [http.at, http.response_at, http.ended_at]);
    stream.iter().any(|entry| entry.at.is_some())
        || moments.is_some_and(|moments| moments.iter().any(Option::is_some))
}

/// The number of messages of the client before it.
pub(super) fn seen(object: &Element<'_>) -> Option<u64> {
    object.member("seen").and_then(|seen| seen.number())
}

/// The elements of an array that may be absent.
pub(super) fn list<'a>(
    object: &Element<'a>,
    name: &'static str,
) -> Result<Vec<Element<'a>>, DocumentError> {
    object
        .member(name)
        .map_or_else(|| Ok(Vec::new()), |array| elements(&array))
}

fn stream(document: &Bytes, object: &Element<'_>) -> Result<Vec<Entry>, DocumentError> {
    list(object, "stream")?
        .into_iter()
        .map(|entry| Entry::read(document, entry))
        .collect()
}

fn era(object: &Element<'_>) -> Option<Era> {
    Era::from_name(&object.member("era")?.string()?)
}

pub(super) fn session(object: &Element<'_>) -> SessionKey {
    SessionKey(
        object
            .member("session")
            .and_then(|key| key.number())
            .unwrap_or_default(),
    )
}

fn sessionless(object: &Element<'_>) -> bool {
    object.source("sessionless") == Some(b"true")
}

/// A time in milliseconds; `None` when it is absent or no time.
pub(super) fn millis(object: &Element<'_>, name: &'static str) -> Option<Offset> {
    micros(object.member(name)?.text)
}

/// The time for a number of milliseconds; `None` if it is not a valid time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and what is negative is ruled out"
)]
pub(super) fn micros(text: &[u8]) -> Option<Offset> {
    let millis: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (millis >= 0.0).then(|| Offset((millis * 1_000.0).round() as u64))
}
