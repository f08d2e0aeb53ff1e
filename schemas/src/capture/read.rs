//! From a capture back to exchanges and events.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::event::{
    Carrier, ConduitId, Direction, Event, EventBody, LineEnd, Offset, Origin, Payload, SessionKey,
};
use crate::order::Order as _;
use crate::recording::{DocumentError, Element, Recording, each_element, elements, object};
use crate::tape::{Ending, Footer, Header, Incomplete, VERSION};

/// The contents of a capture file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Its sessions, in order.
    pub sessions: Vec<CapturedSession>,
    /// Whether the file was an array of sessions.
    pub array: bool,
}

/// One session of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedSession {
    /// `server_label`.
    pub label: String,
    /// Source text of `server_capabilities`; `None` when it is absent or `null`.
    pub capabilities: Option<Bytes>,
    /// The number of the session in its recording, if the file has it.
    pub session: Option<u32>,
    /// For exchanges without a session: ids are only valid within one exchange.
    pub sessionless: bool,
    /// The recorder. If set, the capture contains everything that the client sent.
    pub recorded_by: Option<String>,
    /// What is missing from the recording, if anything.
    pub incomplete: Option<Incomplete>,
    /// Its exchanges, in order.
    pub exchanges: Vec<CapturedExchange>,
}

/// One entry of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedExchange {
    /// Source text of the request or notification.
    pub request: Bytes,
    /// Source text of the response; `None` if it is absent or `null`.
    pub response: Option<Bytes>,
    /// The number of entries of the session that were sent before the response, unless it came at
    /// once.
    pub answered_after: Option<u64>,
    /// It was given up and its id reused, and its response came after the answer to the request
    /// that reused it.
    pub is_late: bool,
}

impl Capture {
    /// Reads a capture from text that was proven to be JSON.
    pub(crate) fn read(text: &Bytes, root: Element<'_>) -> Result<Self, DocumentError> {
        if text.first() != Some(&b'[') {
            return Ok(Self {
                sessions: vec![CapturedSession::read(text, root)?],
                array: false,
            });
        }
        let sessions = elements(&root)?
            .into_iter()
            .map(|one| CapturedSession::read(text, one));
        Ok(Self {
            sessions: sessions.collect::<Result<_, _>>()?,
            array: true,
        })
    }

    /// Converts the capture to events without times.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut events = Vec::new();
        let mut sessionless = 0;
        for (place, session) in (0..).zip(&self.sessions) {
            let key = session.key(place);
            for (index, dir, text) in session.messages() {
                let conduit = if session.sessionless {
                    sessionless + u32::try_from(index).unwrap_or(u32::MAX) + 1
                } else {
                    key
                };
                events.push(Event {
                    conduit: ConduitId(conduit),
                    seq: events.len() as u64 + 1,
                    at: Offset(0),
                    session: SessionKey(key),
                    dir,
                    era: None,
                    body: EventBody::Message {
                        payload: Payload::Whole(text.clone()),
                        end: LineEnd::Lf,
                        origin: Origin {
                            carrier: Carrier::Document,
                            ..Origin::default()
                        },
                    },
                });
            }
            if session.sessionless {
                sessionless += u32::try_from(session.exchanges.len()).unwrap_or(u32::MAX);
            }
        }
        let first = self.sessions.first();
        let label = first.map(|session| session.label.clone());
        let by = first.and_then(|session| session.recorded_by.clone());
        let incomplete = self.sessions.iter().find_map(|one| one.incomplete.clone());
        Recording {
            header: Header {
                tape: VERSION.to_owned(),
                label: label.unwrap_or_default(),
                by: by.unwrap_or_default(),
                ..Header::default()
            },
            ending: Ending::Footer(Footer {
                events: events.len() as u64,
                ..Incomplete::footer(incomplete.as_ref())
            }),
            events,
            timed: false,
        }
    }
}

impl CapturedSession {
    /// The number of its session, if it is at index `place` of the file.
    #[must_use]
    pub fn key(&self, place: u32) -> u32 {
        if self.sessionless {
            return 0;
        }
        self.session.unwrap_or(place)
    }

    /// Every message with the number of its entry, in the order on the wire as far as the file has
    /// it.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Direction, &Bytes)> {
        let mut late: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut order = Vec::new();
        let count = self.exchanges.len() as u64;
        for (sent, (index, exchange)) in (1..).zip(self.exchanges.iter().enumerate()) {
            order.push((index, Direction::ToServer));
            if exchange.response.is_some() {
                let due = exchange.answered_after.unwrap_or(sent).clamp(sent, count);
                late.entry(due).or_default().push(index);
            }
            let mut due = late.remove(&sent).unwrap_or_default();
            due.order_by_key(|index| self.exchanges.get(*index).map(|one| one.is_late));
            for index in due {
                order.push((index, Direction::ToClient));
            }
        }
        order.into_iter().filter_map(|(index, dir)| {
            let exchange = self.exchanges.get(index)?;
            let text = match dir {
                Direction::ToServer => &exchange.request,
                Direction::ToClient => exchange.response.as_ref()?,
            };
            Some((index, dir, text))
        })
    }

    fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let session = object(element)?;
        let recorded = session.member("recorded");
        let text = |name| recorded.as_ref().and_then(|one| one.member(name)?.string());
        let label = session.required("server_label")?;
        let capabilities = session.member("server_capabilities");
        let mut exchanges = Vec::new();
        let read = |element: Element<'_>| -> Result<(), DocumentError> {
            let exchange = object(element)?;
            let response = exchange.member("response");
            exchanges.push(CapturedExchange {
                request: document.slice_ref(exchange.required("request")?.text),
                response: response.map(|response| document.slice_ref(response.text)),
                is_late: exchange
                    .member("late")
                    .is_some_and(|word| word.text == b"true"),
                answered_after: exchange
                    .member("answered_after")
                    .and_then(|count| count.number()),
            });
            Ok(())
        };
        each_element(&session.required("exchanges")?, read)?;
        Ok(Self {
            label: label
                .string()
                .ok_or_else(|| label.error("must be a string"))?,
            capabilities: capabilities.map(|one| document.slice_ref(one.text)),
            session: session.member("session").and_then(|key| key.number()),
            sessionless: session
                .member("sessionless")
                .is_some_and(|word| word.text == b"true"),
            recorded_by: text("by"),
            incomplete: text("incomplete")
                .map(|why| Incomplete::read(why, text("incomplete_detail"))),
            exchanges,
        })
    }
}
