//! Lines of a tape, as the encoder writes them.

use std::sync::Arc;

use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Fields, Head, Offset, Payload, RequestHead,
    ResponseHead, SessionKey, SseNote,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::Encoder;

pub(super) struct Tape {
    encoder: Encoder,
    pub(super) text: Vec<u8>,
    conduit: u32,
}

impl Tape {
    pub(super) fn new(settings: &Settings) -> Self {
        let rules = Rules::new(settings).unwrap();
        Self {
            encoder: Encoder::new(Redactor::new(Arc::new(rules))),
            text: Vec::new(),
            conduit: 1,
        }
    }

    /// The line of one event.
    pub(super) fn line(&mut self, dir: Direction, body: EventBody) -> String {
        let start = self.text.len();
        let event = Event {
            conduit: ConduitId(self.conduit),
            session: SessionKey(1),
            ..Event::new(Offset(1), dir, body)
        };
        self.encoder.encode(&event, &mut self.text);
        let line = String::from_utf8(self.text[start..].to_vec()).unwrap();
        assert!(
            serde_json::from_str::<serde_json::Value>(&line).is_ok(),
            "{line}"
        );
        line
    }

    pub(super) fn request(&mut self, target: &str, fields: &[(&str, &str)]) -> String {
        let head = RequestHead {
            method: "POST".into(),
            target: target.to_owned(),
            version: "HTTP/1.1".into(),
            fields: own(fields),
        };
        self.line(
            Direction::ToServer,
            EventBody::Head(Box::new(Head::Request(head))),
        )
    }

    pub(super) fn response(&mut self, fields: &[(&str, &str)]) -> String {
        let head = ResponseHead {
            status: 200,
            version: "HTTP/2".into(),
            fields: own(fields),
            ours: None,
            ours_cause: None,
            ours_about: None,
        };
        self.line(
            Direction::ToClient,
            EventBody::Head(Box::new(Head::Response(head))),
        )
    }

    pub(super) fn body(&mut self, text: &str) -> String {
        let payload = Payload::Whole(text.to_owned().into());
        self.line(Direction::ToClient, EventBody::Body { payload })
    }

    pub(super) fn sse(&mut self, note: SseNote) -> String {
        self.line(Direction::ToClient, EventBody::Sse(Box::new(note)))
    }
}

pub(super) fn own(fields: &[(&str, &str)]) -> Fields {
    fields.iter().copied().collect()
}
