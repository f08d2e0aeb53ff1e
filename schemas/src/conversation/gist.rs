//! The part of an event that a conversation needs.

use bytes::Bytes;

use crate::envelope::{Envelope, Outline};
use crate::era::Era;
use crate::event::{Event, EventBody, Head, LineEnd, Origin, Payload, Peer, ResponseHead};

/// An event reduced to what decides how exchanges end, so that it can be kept until it is known to
/// be on the tape: the text of a message is shared, and everything else is small. A
/// [`Conversation`](super::Conversation) treats it like the event, except for a judge's findings.
#[derive(Clone, Debug)]
pub struct Gist {
    event: Event,
    // Apart, since few events are messages.
    outline: Option<Box<Outline>>,
}

impl Gist {
    /// For an event that is not a message; `None` if it only reports that time has passed.
    #[must_use]
    pub fn of(event: &Event, seq: u64) -> Option<Self> {
        let body = match &event.body {
            EventBody::Opened(Peer::Client { connection, .. }) => client(*connection),
            // For a conversation, both begin an exchange.
            EventBody::Head(head) => match &**head {
                Head::Request(_) => client(0),
                Head::Response(head) => {
                    let status = head.status;
                    EventBody::Head(Box::new(Head::Response(ResponseHead {
                        status,
                        ..ResponseHead::default()
                    })))
                }
                Head::Interim(_) => return None,
            },
            EventBody::Added(_)
            | EventBody::Closed(_)
            | EventBody::Exited(_)
            | EventBody::Faulted(_)
            | EventBody::Gap(_)
            | EventBody::Message { .. }
            | EventBody::Session(_) => event.body.clone(),
            EventBody::Body { .. }
            | EventBody::Edited(_)
            | EventBody::Finding(_)
            | EventBody::Opened(_)
            | EventBody::Part { .. }
            | EventBody::Signal(_)
            | EventBody::Sse(_)
            | EventBody::Stderr { .. }
            | EventBody::Trailers(_) => return None,
        };
        Some(Self::with_body(event, seq, body))
    }

    /// For an event with this body on the tape.
    #[must_use]
    pub fn with_body(event: &Event, seq: u64, body: EventBody) -> Self {
        Self {
            event: Event {
                seq,
                body,
                ..bare(event)
            },
            outline: None,
        }
    }

    /// For a message with this text, which is on the tape in place of the original; `outline` has
    /// the positions of its members, if known.
    #[must_use]
    pub fn of_message(
        event: &Event,
        seq: u64,
        era: Option<Era>,
        text: Bytes,
        outline: Option<Outline>,
    ) -> Self {
        let origin = match &event.body {
            EventBody::Message { origin, .. } => *origin,
            _ => Origin::default(),
        };
        let body = EventBody::Message {
            payload: Payload::Whole(text),
            end: LineEnd::Lf,
            origin,
        };
        Self {
            event: Event {
                seq,
                era,
                body,
                ..bare(event)
            },
            outline: outline.map(Box::new),
        }
    }

    /// The number of the event on its tape.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.event.seq
    }

    /// The event, and its parsed message, if known.
    pub fn told(&self, mut each: impl FnMut(&Event, Option<&Envelope<'_>>)) {
        match (&self.event.body, &self.outline) {
            (
                EventBody::Message {
                    payload: Payload::Whole(text),
                    ..
                },
                Some(outline),
            ) => each(&self.event, Some(&outline.envelope(text))),
            _ => each(&self.event, None),
        }
    }
}

/// A stand-in for a body that is set later.
const NOTHING: EventBody = EventBody::Part { bytes: 0 };

fn client(connection: u64) -> EventBody {
    let address = String::new();
    EventBody::Opened(Peer::Client {
        address,
        connection,
    })
}

/// The event's place and time.
fn bare(event: &Event) -> Event {
    Event {
        conduit: event.conduit,
        seq: event.seq,
        at: event.at,
        session: event.session,
        dir: event.dir,
        era: event.era,
        body: NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conversation::Conversation;
    use crate::event::Offset;
    use crate::redact::{Redactor, Rules, Settings};
    use crate::tape::{Encoder, Reader};

    const WIRE: &[&[u8]] = &[
        include_bytes!("../../../tests/wire/handshake-http.tape.jsonl"),
        include_bytes!("../../../tests/wire/handshake-sse.tape.jsonl"),
        include_bytes!("../../../tests/wire/handshake-stdio.tape.jsonl"),
        include_bytes!("../../../tests/wire/stateless-http.tape.jsonl"),
        include_bytes!("../../../tests/wire/stateless-stdio.tape.jsonl"),
    ];

    /// How the exchanges of events end.
    fn ends(each: impl FnOnce(&mut Conversation<()>)) -> Vec<String> {
        let mut conversation = Conversation::default();
        each(&mut conversation);
        conversation.finish();
        let mut ends = Vec::new();
        while let Some(over) = conversation.poll() {
            let one = over.exchange;
            let what = (over.outcome, over.at, one.at, one.ours_us, one.status);
            ends.push(format!(
                "{what:?} {:?} {} {:?} {:?}",
                one.answer, one.method, one.name, one.fault
            ));
        }
        ends
    }

    #[test]
    fn exchanges_end_by_the_gist_of_events_as_they_end_by_the_events() {
        let mut all = 0;
        for text in WIRE {
            let mut reader = Reader::open(*text).unwrap();
            let mut events = Vec::new();
            while let Some(event) = reader.next_event().unwrap() {
                events.push(event);
            }
            let last = events.last().unwrap().at;
            let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
            let mut encoder = Encoder::new(Redactor::new(rules)).with_gists();
            let mut out = Vec::new();
            let gists = ends(|conversation| {
                for event in &events {
                    encoder.encode(event, &mut out);
                    for gist in encoder.gists().drain(..) {
                        assert_eq!(gist.seq(), event.seq);
                        gist.told(|event, message| conversation.observe(event, message, |_| ()));
                    }
                }
                conversation.tick(last);
            });
            let whole = ends(|conversation| {
                for event in &events {
                    conversation.observe(event, None, |_| ());
                }
                conversation.tick(last);
            });
            assert_eq!(gists, whole);
            all += whole.len();
        }
        assert!(all > 100, "{all}");
    }

    #[test]
    fn a_gist_has_no_secret_and_keeps_neither_fields_nor_addresses() {
        let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
        let mut encoder = Encoder::new(Redactor::new(rules)).with_gists();
        let text =
            br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"blue-42-heron"}}"#;
        let message = EventBody::message(Payload::Whole(text.to_vec().into()), LineEnd::Lf);
        let mut head = ResponseHead {
            status: 404,
            ..ResponseHead::default()
        };
        head.fields = [("x-place", "blue-42-heron")].into_iter().collect();
        for body in [message, EventBody::Head(Box::new(Head::Response(head))), {
            let address = "blue-42-heron".to_owned();
            let connection = 1;
            EventBody::Opened(Peer::Client {
                address,
                connection,
            })
        }] {
            let event = Event::new(Offset(1), crate::event::Direction::ToServer, body);
            encoder.encode(&event, &mut Vec::new());
            let told = format!("{:?}", encoder.gists());
            assert!(told.contains("Event"), "{told}");
            assert!(!told.contains("heron"), "{told}");
        }
    }
}
