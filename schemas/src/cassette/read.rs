//! From a cassette back to exchanges and events.
//!
//! Tolerant: a cassette may be hand-written or come from another tool. `version` must be
//! the string `"1"`, every exchange needs its request and its response, and whatever else
//! is there counts where it is understood and is passed over where it is not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::ends::PEER_GONE;
use crate::era::Era;
use crate::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, LineEnd, Offset, Payload, SessionKey,
};
use crate::json;
use crate::recording::{DocumentError, Element, Recording, elements, object};
use crate::tape::{Ending, Footer, Header, VERSION};

/// A cassette as it stands in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cassette {
    /// The string members of `meta`, in order.
    pub meta: Vec<(String, String)>,
    /// Requests with their responses, in the order of the file.
    pub exchanges: Vec<Exchange>,
    /// What belongs to no exchange, with the number of exchanges before it.
    pub messages: Vec<(usize, Entry)>,
    /// Requests without a response, with the number of exchanges before them.
    pub unanswered: Vec<(usize, Unanswered)>,
    /// Why it does not hold everything that crossed.
    pub incomplete: Option<String>,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Source text of the request.
    pub request: Bytes,
    /// Source text of the response.
    pub response: Bytes,
    /// When the request was sent.
    pub sent: Option<Offset>,
    /// How long the response took.
    pub took: Option<Offset>,
    /// What crossed in between and belongs to it.
    pub stream: Vec<Entry>,
    /// Its era.
    pub era: Option<Era>,
    /// Its session.
    pub session: SessionKey,
}

/// A request that was never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// Source text of the request.
    pub request: Bytes,
    /// When it was sent.
    pub sent: Option<Offset>,
    /// Why it was never answered.
    pub why: String,
    /// What crossed afterwards and belongs to it.
    pub stream: Vec<Entry>,
    /// Its era.
    pub era: Option<Era>,
    /// Its session.
    pub session: SessionKey,
}

/// One message of a stream, or beside all exchanges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which way it went.
    pub dir: Direction,
    /// When.
    pub at: Option<Offset>,
    /// In which session.
    pub session: SessionKey,
    /// What it was.
    pub body: EventBody,
}

impl Cassette {
    /// Reads a cassette from text that was proven to be JSON.
    pub(crate) fn read(text: &Bytes) -> Result<Self, DocumentError> {
        let root = object(Element::root(text))?;
        let version = root.required("version")?;
        if version.text != b"\"1\"" {
            let found = String::from_utf8_lossy(version.text)
                .chars()
                .take(40)
                .collect();
            return Err(DocumentError::Version { found });
        }
        let mut cassette = Self::default();
        if let Some(meta) = root.member("meta") {
            json::members(meta.text, |name, text| {
                let value = Element {
                    text: text.trim_ascii(),
                    pointer: String::new(),
                };
                if let Some(value) = value.string() {
                    cassette
                        .meta
                        .push((String::from_utf8_lossy(name).into_owned(), value));
                }
            });
        }
        for element in elements(&root.required("exchanges")?)? {
            cassette.exchanges.push(Exchange::read(text, element)?);
        }
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
        cassette.incomplete = root.member("incomplete").and_then(|why| why.string());
        Ok(cassette)
    }

    /// A member of `meta`.
    #[must_use]
    pub fn meta(&self, name: &str) -> Option<&str> {
        self.meta
            .iter()
            .rfind(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// What the cassette tells, as events in the order of their times; what has no time
    /// stands behind what comes before it in the file.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut timeline = Timeline::default();
        let mut messages = self.messages.iter().peekable();
        let mut unanswered = self.unanswered.iter().peekable();
        for place in 0..=self.exchanges.len() {
            let last = place == self.exchanges.len();
            while let Some((_, one)) = unanswered.next_if(|(after, _)| last || *after <= place) {
                timeline.request(&one.request, one.sent, &one.stream, one.session, one.era);
            }
            while let Some((_, one)) = messages.next_if(|(after, _)| last || *after <= place) {
                timeline.entry(one, None);
            }
            if let Some(one) = self.exchanges.get(place) {
                let sent =
                    timeline.request(&one.request, one.sent, &one.stream, one.session, one.era);
                let at = one.took.map(|took| Offset(sent.0.saturating_add(took.0)));
                timeline.message(Direction::ToClient, at, &one.response, one.session, one.era);
            }
        }
        if self.unanswered.iter().any(|(_, one)| one.why == PEER_GONE) {
            let closed = EventBody::Closed(CloseReason::EndOfInput);
            timeline.push(Direction::ToClient, None, SessionKey(0), None, closed);
        }
        let at_us = timeline.now.0;
        let events = timeline.into_events();
        let meta = |name| self.meta(name).unwrap_or_default().to_owned();
        Recording {
            header: Header {
                tape: VERSION.to_owned(),
                created: meta("recorded_at"),
                by: meta("tapewright_version"),
                label: meta("label"),
                redacted: true,
                ..Header::default()
            },
            ending: Ending::Footer(Footer {
                at_us,
                events: events.len() as u64,
                complete: self.incomplete.is_none(),
                why: self.incomplete.clone(),
                ..Footer::default()
            }),
            events,
            timed: self.exchanges.iter().any(|one| one.sent.is_some()),
        }
    }
}

impl Exchange {
    fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let exchange = object(element)?;
        let request = object(exchange.required("request")?)?;
        let response = object(exchange.required("response")?)?;
        let timing = exchange.member("timing");
        let time = |name| timing.as_ref().and_then(|timing| millis(timing, name));
        Ok(Self {
            request: document.slice_ref(request.text),
            response: document.slice_ref(response.text),
            sent: time("sent_ms"),
            took: time("took_ms"),
            stream: stream(document, &exchange)?,
            era: era(&exchange),
            session: session(&exchange),
        })
    }
}

impl Unanswered {
    fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let unanswered = object(element)?;
        let request = object(unanswered.required("request")?)?;
        Ok(Self {
            request: document.slice_ref(request.text),
            sent: millis(&unanswered, "sent_ms"),
            why: unanswered
                .member("why")
                .and_then(|why| why.string())
                .unwrap_or_default(),
            stream: stream(document, &unanswered)?,
            era: era(&unanswered),
            session: session(&unanswered),
        })
    }
}

impl Entry {
    fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let entry = object(element)?;
        let from = entry.required("from")?;
        let dir = [Direction::ToServer, Direction::ToClient]
            .into_iter()
            .find(|dir| from.string().as_deref() == Some(dir.sender()))
            .ok_or_else(|| from.error("must be \"client\" or \"server\""))?;
        let body = if let Some(payload) = Self::payload(document, &entry)? {
            EventBody::Message {
                payload,
                end: LineEnd::Lf,
            }
        } else {
            let effect = entry.member("why").and_then(|why| why.string());
            EventBody::Faulted {
                effect: effect.unwrap_or_default(),
            }
        };
        Ok(Self {
            dir,
            at: millis(&entry, "at_ms"),
            session: session(&entry),
            body,
        })
    }

    fn payload(document: &Bytes, entry: &Element<'_>) -> Result<Option<Payload>, DocumentError> {
        // `null` is a message that a peer can send.
        if let Some(message) = json::find(entry.text, &["message"]) {
            return Ok(Some(Payload::Whole(document.slice_ref(message))));
        }
        if let Some(text) = entry.member("text") {
            let text = text
                .string()
                .ok_or_else(|| text.error("must be a string"))?;
            return Ok(Some(Payload::Whole(text.into())));
        }
        if let Some(base64) = entry.member("base64") {
            let bytes = base64.string().and_then(|text| STANDARD.decode(text).ok());
            let bytes = bytes.ok_or_else(|| base64.error("must be base64"))?;
            return Ok(Some(Payload::Whole(bytes.into())));
        }
        let Some(clipped) = entry.member("clipped") else {
            return Ok(None);
        };
        let len = clipped.required("len")?;
        let head = clipped.required("head")?;
        Ok(Some(Payload::Clipped {
            len: len.number().ok_or_else(|| len.error("must be a number"))?,
            head: head
                .string()
                .ok_or_else(|| head.error("must be a string"))?
                .into(),
        }))
    }
}

/// Events with their times, before they are put in order.
#[derive(Default)]
struct Timeline {
    events: Vec<Event>,
    // The latest time so far.
    now: Offset,
}

impl Timeline {
    /// Adds a request with its stream; when it was sent.
    fn request(
        &mut self,
        text: &Bytes,
        sent: Option<Offset>,
        stream: &[Entry],
        session: SessionKey,
        era: Option<Era>,
    ) -> Offset {
        let sent = sent.unwrap_or(self.now);
        self.message(Direction::ToServer, Some(sent), text, session, era);
        for entry in stream {
            self.entry(entry, era);
        }
        sent
    }

    fn entry(&mut self, entry: &Entry, era: Option<Era>) {
        self.push(entry.dir, entry.at, entry.session, era, entry.body.clone());
    }

    fn message(
        &mut self,
        dir: Direction,
        at: Option<Offset>,
        text: &Bytes,
        session: SessionKey,
        era: Option<Era>,
    ) {
        let payload = Payload::Whole(text.clone());
        self.push(
            dir,
            at,
            session,
            era,
            EventBody::Message {
                payload,
                end: LineEnd::Lf,
            },
        );
    }

    fn push(
        &mut self,
        dir: Direction,
        at: Option<Offset>,
        session: SessionKey,
        era: Option<Era>,
        body: EventBody,
    ) {
        let at = at.unwrap_or(self.now);
        self.now = self.now.max(at);
        self.events.push(Event {
            conduit: ConduitId(0),
            seq: 0,
            at,
            session,
            dir,
            era,
            body,
        });
    }

    fn into_events(mut self) -> Vec<Event> {
        // Stable: what shares a time keeps the order of the file.
        self.events.sort_by_key(|event| event.at);
        for (seq, event) in (1..).zip(&mut self.events) {
            event.seq = seq;
        }
        self.events
    }
}

/// The elements of an array that may be absent.
fn list<'a>(object: &Element<'a>, name: &str) -> Result<Vec<Element<'a>>, DocumentError> {
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

fn session(object: &Element<'_>) -> SessionKey {
    SessionKey(
        object
            .member("session")
            .and_then(|key| key.number())
            .unwrap_or_default(),
    )
}

/// A time in milliseconds; `None` when it is absent or no time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and what is negative is ruled out"
)]
fn millis(object: &Element<'_>, name: &str) -> Option<Offset> {
    let millis: f64 = object.member(name)?.number()?;
    (millis >= 0.0).then(|| Offset((millis * 1_000.0).round() as u64))
}
