//! Sessions written by hand.

use std::io::{Cursor, Read, Seek, SeekFrom, Write};

use bytes::Bytes;
use serde_json::Value;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, LineEnd, Offset, Origins, Payload,
    SessionKey,
};
use tapewright_schemas::tape::{Ending, Footer, Header, VERSION};
use tapewright_schemas::{capture, cassette};

/// A session under construction; a millisecond passes with every event.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) events: Vec<Event>,
    pub(crate) session: u32,
    pub(crate) origins: Origins,
}

impl Script {
    pub(crate) fn push(mut self, dir: Direction, body: EventBody) -> Self {
        let seq = self.events.len() as u64 + 1;
        let mut event = Event {
            conduit: ConduitId(self.session),
            seq,
            at: Offset(seq * 1_000),
            session: SessionKey(self.session),
            dir,
            era: None,
            body,
        };
        self.origins.complete(&mut event);
        self.events.push(event);
        self
    }

    /// A line of the client.
    pub(crate) fn c(self, line: impl Into<Bytes>) -> Self {
        self.push(Direction::ToServer, message(line))
    }

    /// A line of the server.
    pub(crate) fn s(self, line: impl Into<Bytes>) -> Self {
        self.push(Direction::ToClient, message(line))
    }

    pub(crate) fn closed(self, dir: Direction, reason: CloseReason) -> Self {
        self.push(dir, EventBody::Closed(reason))
    }

    pub(crate) fn exited(self) -> Self {
        self.push(Direction::ToClient, EventBody::Exited(Exit::Code(0).into()))
    }

    pub(crate) fn session(mut self, session: u32) -> Self {
        self.session = session;
        self
    }

    /// The cassette, as text and parsed.
    pub(crate) fn cassette(&self) -> (String, Value) {
        let (text, _) = project(&self.events, &complete());
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        (text, value)
    }

    pub(crate) fn capture(&self) -> Value {
        let out = capture(&header(), &self.events, &complete());
        assert!(out.ends_with('\n'));
        serde_json::from_str(&out).unwrap()
    }
}

/// The capture of a session, the same whether it is assembled from scratch or in place.
pub(crate) fn capture(header: &Header, events: &[Event], ending: &Ending) -> String {
    let projector = || {
        let mut projector = capture::Projector::new(header, spool(), spool());
        for event in events {
            projector.observe(event).unwrap();
        }
        projector
    };
    let mut out = Vec::new();
    let summary = projector().finish(ending, &mut out).unwrap();
    let (same, there) = projector().finish_in_place(ending, || Ok(spool())).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!((summary, text.as_str()), (same, there.text()));
    text
}

pub(crate) fn message(line: impl Into<Bytes>) -> EventBody {
    EventBody::message(Payload::Whole(line.into()), LineEnd::Lf)
}

pub(crate) fn project(events: &[Event], ending: &Ending) -> (String, cassette::Summary) {
    cassette(&header(), events, ending)
}

/// The cassette of a session, the same whether it is assembled from scratch or in place.
pub(crate) fn cassette(
    header: &Header,
    events: &[Event],
    ending: &Ending,
) -> (String, cassette::Summary) {
    let projector = || {
        let mut projector = cassette::Projector::new(header, spool(), spool());
        for event in events {
            projector.observe(event).unwrap();
        }
        projector
    };
    let mut out = Vec::new();
    let summary = projector().finish(ending, &mut out).unwrap();
    let (same, there) = projector().finish_in_place(ending, || Ok(spool())).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!((summary, text.as_str()), (same, there.text()));
    (text, summary)
}

pub(crate) fn header() -> Header {
    Header {
        tape: VERSION.to_owned(),
        label: "stdio://my-server".to_owned(),
        command: vec!["node".to_owned(), "my server.js".to_owned()],
        ..Header::default()
    }
}

pub(crate) fn complete() -> Ending {
    Ending::Footer(Footer {
        complete: true,
        ..Footer::default()
    })
}

/// A spool that may be read only after it was written, as a file may.
pub(crate) fn spool() -> Spool {
    Spool(Cursor::new(Vec::new()))
}

#[derive(Debug)]
pub(crate) struct Spool(Cursor<Vec<u8>>);

impl Spool {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(self.0.get_ref()).unwrap()
    }
}

impl Read for Spool {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        // Short reads, as files and pipes have them.
        let length = out.len().min(1_000);
        self.0.read(&mut out[..length])
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Spool {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// The methods of the requests in `exchanges`, in order.
pub(crate) fn ids(value: &Value) -> Vec<String> {
    let exchanges = value["exchanges"].as_array().unwrap();
    exchanges
        .iter()
        .map(|one| one["request"]["id"].to_string())
        .collect()
}
