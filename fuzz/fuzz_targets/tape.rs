//! The tape: any bytes can be read without harm, and what was written comes back.
#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, LineEnd, Offset, Payload, SessionKey,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Header, Reader, VERSION};

const HEADER: &[u8] = b"{\"tape\":\"1.0\"}\n";

fuzz_target!(|data: &[u8]| {
    // Any bytes after a header.
    let text = [HEADER, data].concat();
    let mut reader = Reader::open(text.as_slice()).expect("the header is good");
    while let Ok(Some(_)) = reader.next_event() {}
    drop(Reader::open(data));

    // Messages of any bytes, written and read back.
    let settings = Settings {
        off: true,
        ..Settings::default()
    };
    let rules = Rules::new(&settings).expect("no patterns");
    let mut encoder = Encoder::new(Redactor::new(Arc::new(rules)));
    let mut tape = Vec::new();
    Header {
        tape: VERSION.to_owned(),
        ..Header::default()
    }
    .write(&mut tape);
    let events: Vec<Event> = data
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(at, line)| event(at as u64, line))
        .collect();
    for event in &events {
        encoder.encode(event, &mut tape);
    }
    let mut reader = Reader::open(tape.as_slice()).expect("our own header");
    for event in &events {
        let read = reader
            .next_event()
            .expect("our own line")
            .expect("as many as written");
        assert_eq!(
            (&read.body, read.dir, read.at),
            (&event.body, event.dir, event.at)
        );
    }
    assert!(matches!(reader.next_event(), Ok(None)));
});

fn event(at: u64, line: &[u8]) -> Event {
    let line = Bytes::copy_from_slice(line);
    let (dir, body) = match at % 3 {
        0 => (
            Direction::ToServer,
            EventBody::message(Payload::Whole(line), LineEnd::Lf),
        ),
        1 => (
            Direction::ToClient,
            EventBody::message(Payload::Whole(line), LineEnd::CrLf),
        ),
        _ => (
            Direction::ToClient,
            EventBody::Stderr {
                line,
                end: LineEnd::None,
            },
        ),
    };
    Event {
        conduit: ConduitId(0),
        seq: 0,
        at: Offset(at),
        session: SessionKey(0),
        dir,
        era: None,
        body,
    }
}
