//! What an encoder knows about a line that it wrote, for a reader that need not parse the line.
//!
//! A recorder projects its tape while it writes it. Most lines are messages that are recorded
//! unchanged, whose members are known from redaction, and parts of an HTTP exchange.

use std::ops::Range;

use bytes::Bytes;

use super::known::KnownHeads;
use crate::envelope::Outline;
use crate::era::Era;
use crate::event::{
    Added, CloseReason, ConduitId, Direction, Event, EventBody, LineEnd, Offset, Origin, Payload,
    Peer, SessionKey,
};
use crate::slices::Part as _;

/// What is on one line, but for texts, which the reader takes from the line: they are redacted
/// there.
#[derive(Clone, Debug)]
pub struct LineFacts {
    seq: u64,
    at: Offset,
    session: SessionKey,
    conduit: ConduitId,
    dir: Direction,
    // Of the line, with its line feed.
    length: usize,
    // Where its text is.
    text: Range<usize>,
    content: Content,
}

/// The contents of a line whose facts are known, and what its text is.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Added(Added),
    /// The address.
    Client {
        connection: u64,
    },
    Closed(CloseReason),
    /// The head, the value of a member of this name.
    Head(&'static str),
    /// The message: an object that is recorded unchanged.
    Message {
        end: LineEnd,
        origin: Origin,
        era: Option<Era>,
        outline: Outline,
    },
}

/// The contents of the line that is being written, and the range of their text in the output.
pub(super) type Told = (Range<usize>, Content);

impl LineFacts {
    /// The facts about the line of this event, with this number, in this range of the output.
    pub(super) fn of(event: &Event, seq: u64, line: &Range<usize>, told: Told) -> Self {
        let (text, content) = told;
        let dir = match content {
            // These lines have no direction.
            Content::Added(_) | Content::Client { .. } => Direction::ToClient,
            _ => event.dir,
        };
        Self {
            seq,
            at: event.at,
            session: event.session,
            conduit: event.conduit,
            dir,
            length: line.len(),
            text: text.start.saturating_sub(line.start)..text.end.saturating_sub(line.start),
            content,
        }
    }

    /// The length of the line with its line feed, in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The event of the line at the start of `input`, and the outline of its message; `None` if the
    /// line does not end where it should, or has a head that is not known.
    pub(super) fn read(self, input: &[u8], heads: &KnownHeads) -> Option<(Event, Option<Outline>)> {
        let line = input.get(..self.length)?;
        if line.last() != Some(&b'\n') {
            return None;
        }
        let text = line.part(self.text);
        let (mut known, mut era_of) = (None, None);
        let body = match self.content {
            Content::Added(added) => EventBody::Added(added),
            Content::Client { connection } => EventBody::Opened(Peer::Client {
                address: std::str::from_utf8(text).ok()?.to_owned(),
                connection,
            }),
            Content::Closed(reason) => EventBody::Closed(reason),
            Content::Head(name) => EventBody::Head(Box::new(heads.get(name.as_bytes(), text)?)),
            Content::Message {
                end,
                origin,
                era,
                outline,
            } => {
                (known, era_of) = (Some(outline), era);
                let payload = Payload::Whole(Bytes::copy_from_slice(text));
                EventBody::Message {
                    payload,
                    end,
                    origin,
                }
            }
        };
        let event = Event {
            conduit: self.conduit,
            seq: self.seq,
            at: self.at,
            session: self.session,
            dir: self.dir,
            era: era_of,
            body,
        };
        Some((event, known))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::envelope::Envelope;
    use crate::event::Offset;
    use crate::redact::{Redactor, Rules, Settings};
    use crate::tape::{Encoder, Header, Reader, VERSION};

    const WIRE: &[&[u8]] = &[
        include_bytes!("../../../tests/wire/handshake-http.tape.jsonl"),
        include_bytes!("../../../tests/wire/handshake-sse.tape.jsonl"),
        include_bytes!("../../../tests/wire/handshake-stdio.tape.jsonl"),
        include_bytes!("../../../tests/wire/stateless-http.tape.jsonl"),
        include_bytes!("../../../tests/wire/stateless-stdio.tape.jsonl"),
    ];

    /// A tape of these events, and the facts about its lines.
    fn written(events: &[Event]) -> (Vec<u8>, Vec<Option<LineFacts>>) {
        let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
        let mut encoder = Encoder::new(Redactor::new(rules));
        encoder.tell_facts();
        let header = Header {
            tape: VERSION.to_owned(),
            ..Header::default()
        };
        let mut tape = Vec::new();
        header.write(&mut tape);
        let facts = events.iter().map(|event| encoder.encode(event, &mut tape));
        let facts = facts.collect();
        (tape, facts)
    }

    fn read(reader: &mut Reader<&[u8]>, facts: Option<LineFacts>) -> (Event, String, u64) {
        let event = match facts {
            Some(facts) => reader.next_known(facts),
            None => reader.next_event(),
        };
        let event = event.unwrap().unwrap();
        let message: Option<Envelope<'_>> = reader.envelope(&event);
        let message = format!("{message:?}");
        (event, message, reader.offset())
    }

    /// Reads a tape with and without facts; returns how many lines have some.
    fn compared(events: &[Event]) -> usize {
        let (tape, facts) = written(events);
        let mut known = Reader::open(tape.as_slice()).unwrap();
        let mut parsed = Reader::open(tape.as_slice()).unwrap();
        for facts in &facts {
            assert_eq!(read(&mut known, facts.clone()), read(&mut parsed, None));
        }
        facts.iter().flatten().count()
    }

    fn message(text: &[u8]) -> Event {
        let payload = Payload::Whole(text.to_vec().into());
        let body = EventBody::message(payload, LineEnd::CrLf);
        Event::new(Offset(1), Direction::ToClient, body)
    }

    #[test]
    fn a_line_is_the_same_with_and_without_facts() {
        let mut known = 0;
        for tape in WIRE {
            let mut reader = Reader::open(*tape).unwrap();
            let mut events = Vec::new();
            while let Some(event) = reader.next_event().unwrap() {
                events.push(event);
            }
            known += compared(&events);
        }
        assert!(known > 500, "{known}");
    }

    #[test]
    fn only_what_is_recorded_unchanged_has_facts() {
        let deep = format!(
            "{}{}",
            "{\"a\":".repeat(40),
            "1".to_owned() + &"}".repeat(40)
        );
        for text in [r#"{"id":1}"#, r#"{ "\u0069d" : "\ud800" , "id":2 }"#, &deep] {
            assert_eq!(compared(&[message(text.as_bytes())]), 1, "{text}");
        }
        for text in [
            "noise",
            "{}",
            "[]",
            r#"[{"id":1}]"#,
            "7",
            " {}",
            "{}\r",
            "{\n}",
            "{\"id\":",
            r#"{"password":"blue-42-heron"}"#,
        ] {
            assert_eq!(compared(&[message(text.as_bytes())]), 0, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_not_whole_or_long_is_parsed() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(20_000));
        let events = [message(b"{\"id\":1}"), message(long.as_bytes())];
        assert_eq!(compared(&events), 2);
        let (mut tape, facts) = written(&events[..1]);
        let facts = facts[0].clone().unwrap();
        // The line has another length by now.
        let end = tape.len() - 2;
        tape.splice(end..end, *b",\"more\":1");
        let mut reader = Reader::open(tape.as_slice()).unwrap();
        let event = reader.next_known(facts).unwrap().unwrap();
        let wanted = Reader::open(tape.as_slice()).unwrap().next_event();
        assert_eq!(Some(event), wanted.unwrap());
    }
}
