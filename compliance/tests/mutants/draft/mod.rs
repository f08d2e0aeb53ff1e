//! A recorded session that can be changed, step by step, and written again.

mod find;
mod steps;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tapewright_schemas::event::{Event, EventBody, Origin, Origins, Payload};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Header, Reader, VERSION};

/// A recorded session that can be changed.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    header: Header,
    events: Vec<Event>,
    /// Events that are on the tape by number and nothing else.
    lost: Vec<usize>,
    /// The tape lacks its last line.
    endless: bool,
}

impl Draft {
    /// The session of this name among the real ones in `tests/wire`.
    pub(crate) fn recorded(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wire");
        let text = std::fs::read(folder.join(format!("{name}.tape.jsonl")))
            .unwrap_or_else(|why| panic!("`{name}` in tests/wire: {why}"));
        let mut reader = Reader::open(text.as_slice()).expect("a tape");
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().expect("an event") {
            events.push(event);
        }
        Self {
            header: reader.header().clone(),
            events,
            lost: Vec::new(),
            endless: false,
        }
    }

    /// The tape, as the recorder would have written it.
    pub(crate) fn tape(&self) -> Vec<u8> {
        // Recorded events are already redacted.
        let off = Settings {
            off: true,
            ..Settings::default()
        };
        let rules = Rules::new(&off).expect("no rules");
        let mut encoder = Encoder::new(Redactor::new(Arc::new(rules)));
        let header = Header {
            tape: VERSION.to_owned(),
            ..self.header.clone()
        };
        let mut text = Vec::new();
        header.write(&mut text);
        let (mut last, mut line) = (0, Vec::new());
        let mut origins = Origins::default();
        for (place, event) in self.events.iter().enumerate() {
            last = event.at.0;
            line.clear();
            let mut event = event.clone();
            if let EventBody::Message { origin, .. } = &mut event.body {
                // A step may have moved it, or changed the head that it came with.
                *origin = Origin::default();
            }
            origins.complete(&mut event);
            encoder.encode(&event, &mut line);
            if !self.lost.contains(&place) {
                text.extend_from_slice(&line);
            }
        }
        if !self.endless {
            encoder.footer(last, None).write(&mut text);
        }
        text
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Removes the line of an event, whose number remains used.
    pub(crate) fn lose(&mut self, place: usize) {
        self.lost.push(place);
    }

    /// Keeps only this many events, without the last line.
    pub(crate) fn cut_short(&mut self, length: usize) {
        self.events.truncate(length);
        self.endless = true;
    }

    /// The message of an event.
    fn message(&self, place: usize) -> Value {
        let EventBody::Message { payload, .. } = &self.events[place].body else {
            panic!("{:?} is no message", self.events[place]);
        };
        serde_json::from_slice(payload.kept()).expect("a message")
    }

    fn write(&mut self, place: usize, message: &str) {
        let EventBody::Message { payload, .. } = &mut self.events[place].body else {
            panic!("{:?} is no message", self.events[place]);
        };
        *payload = Payload::Whole(bytes::Bytes::from(message.to_owned()));
    }
}
