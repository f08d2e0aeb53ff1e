//! From a capture back to exchanges and events.

use bytes::Bytes;

use crate::event::{ConduitId, Direction, Event, EventBody, LineEnd, Offset, Payload, SessionKey};
use crate::recording::{DocumentError, Element, Recording, elements, object};
use crate::tape::{Ending, Footer, Header, VERSION};

/// A capture as it stands in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Its sessions, in order.
    pub sessions: Vec<Session>,
    /// Whether the file was an array of sessions.
    pub array: bool,
}

/// One session of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// `server_label`.
    pub label: String,
    /// Source text of `server_capabilities`; `None` when it is absent or `null`.
    pub capabilities: Option<Bytes>,
    /// Its number among the sessions of its recording, where the file gives one.
    pub session: Option<u32>,
    /// What belongs to no session: ids mean nothing beyond one exchange.
    pub sessionless: bool,
    /// Its exchanges, in order.
    pub exchanges: Vec<Exchange>,
}

/// One entry of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Source text of the request or notification.
    pub request: Bytes,
    /// Source text of the response; `None` when it is absent or `null`.
    pub response: Option<Bytes>,
}

impl Capture {
    /// Reads a capture from text that was proven to be JSON.
    pub(crate) fn read(text: &Bytes) -> Result<Self, DocumentError> {
        let root = Element::root(text);
        if text.first() != Some(&b'[') {
            return Ok(Self {
                sessions: vec![Session::read(text, root)?],
                array: false,
            });
        }
        let sessions = elements(&root)?
            .into_iter()
            .map(|one| Session::read(text, one));
        Ok(Self {
            sessions: sessions.collect::<Result<_, _>>()?,
            array: true,
        })
    }

    /// What the capture tells, as events without times.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut events = Vec::new();
        let mut lane = 0;
        for (place, session) in (0..).zip(&self.sessions) {
            let key = session.key(place);
            for exchange in &session.exchanges {
                lane += u32::from(session.sessionless);
                let conduit = ConduitId(if session.sessionless { lane } else { key });
                let mut push = |dir, text: &Bytes| {
                    events.push(Event {
                        conduit,
                        seq: events.len() as u64 + 1,
                        at: Offset(0),
                        session: SessionKey(key),
                        dir,
                        era: None,
                        body: EventBody::Message {
                            payload: Payload::Whole(text.clone()),
                            end: LineEnd::Lf,
                        },
                    });
                };
                push(Direction::ToServer, &exchange.request);
                if let Some(response) = &exchange.response {
                    push(Direction::ToClient, response);
                }
            }
        }
        let label = self.sessions.first().map(|session| session.label.clone());
        Recording {
            header: Header {
                tape: VERSION.to_owned(),
                label: label.unwrap_or_default(),
                ..Header::default()
            },
            ending: Ending::Footer(Footer {
                events: events.len() as u64,
                complete: true,
                ..Footer::default()
            }),
            events,
            timed: false,
        }
    }
}

impl Session {
    /// The number of its session, when it is the one at `place` of the file.
    #[must_use]
    pub fn key(&self, place: u32) -> u32 {
        if self.sessionless {
            return 0;
        }
        self.session.unwrap_or(place)
    }

    fn read(document: &Bytes, element: Element<'_>) -> Result<Self, DocumentError> {
        let session = object(element)?;
        let label = session.required("server_label")?;
        let capabilities = session.member("server_capabilities");
        let exchanges = elements(&session.required("exchanges")?)?;
        let read = |element: Element<'_>| {
            let exchange = object(element)?;
            let response = exchange.member("response");
            Ok(Exchange {
                request: document.slice_ref(exchange.required("request")?.text),
                response: response.map(|response| document.slice_ref(response.text)),
            })
        };
        Ok(Self {
            label: label
                .string()
                .ok_or_else(|| label.error("must be a string"))?,
            capabilities: capabilities.map(|one| document.slice_ref(one.text)),
            session: session.member("session").and_then(|key| key.number()),
            sessionless: session
                .member("sessionless")
                .is_some_and(|word| word.text == b"true"),
            exchanges: exchanges.into_iter().map(read).collect::<Result<_, _>>()?,
        })
    }
}
