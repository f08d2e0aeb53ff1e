//! A tape that is written and read is the same, and so is every prefix of it.

use std::sync::Arc;

use tapewright_schemas::event::{
    CloseReason, Direction, Event, EventBody, Exit, Gap, LineEnd, Payload, Peer,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending, Reader};

use crate::support::{Script, header};

fn every_body() -> Vec<Event> {
    let bytes = EventBody::Message {
        payload: Payload::Whole(b"\xff\x00"[..].into()),
        end: LineEnd::CrLf,
    };
    let clipped = EventBody::Message {
        payload: Payload::Clipped {
            len: 9_000_000_000,
            head: "{\"a\"".into(),
        },
        end: LineEnd::None,
    };
    let (client, server) = (Direction::ToServer, Direction::ToClient);
    Script::default()
        .push(server, EventBody::Opened(Peer::Process { pid: 7 }))
        .c(r#"{"id":1,"method":"a","params":{"s":"\ud83d","n":1e400}}"#)
        .s("Listening\u{1b} \"here\"")
        .s("  {\"id\":1,\"result\":{}} ")
        .push(server, bytes)
        .push(server, clipped)
        .push(
            server,
            EventBody::Stderr {
                line: "starting\t".into(),
                end: LineEnd::Lf,
            },
        )
        .push(
            server,
            EventBody::Stderr {
                line: b"\xfe"[..].into(),
                end: LineEnd::None,
            },
        )
        .push(client, EventBody::Part { bytes: 65_536 })
        .push(
            client,
            EventBody::Faulted {
                effect: "delay 5 ms".to_owned(),
            },
        )
        .push(
            server,
            EventBody::Gap(Gap {
                events: 1,
                bytes: 2,
                why: "full".to_owned(),
            }),
        )
        .push(server, EventBody::Signal("TERM".to_owned()))
        .push(client, EventBody::Closed(CloseReason::ReceiverGone))
        .push(server, EventBody::Exited(Exit::Code(-1)))
        .push(server, EventBody::Exited(Exit::Signal(9)))
        .events
}

fn tape(events: &[Event]) -> Vec<u8> {
    let rules = Rules::new(&Settings {
        off: true,
        ..Settings::default()
    })
    .unwrap();
    let mut encoder = Encoder::new(Redactor::new(Arc::new(rules)));
    let mut out = Vec::new();
    header().write(&mut out);
    for event in events {
        encoder.encode(event, &mut out);
    }
    encoder.footer(99, None).write(&mut out);
    out
}

#[test]
fn what_is_written_is_read() {
    let events = every_body();
    let tape = tape(&events);
    let mut reader = Reader::open(tape.as_slice()).unwrap();
    for event in &events {
        let mut read = reader.next_event().unwrap().unwrap();
        read.era = None;
        // What belongs to the conduit has no direction on the tape.
        let has_dir = !matches!(event.body, EventBody::Gap(_) | EventBody::Signal(_));
        assert_eq!(
            (&read.body, read.seq, read.at),
            (&event.body, event.seq, event.at)
        );
        assert!(!has_dir || read.dir == event.dir);
    }
    assert_eq!(reader.next_event().unwrap(), None);
    let Some(Ending::Footer(footer)) = reader.ending() else {
        panic!()
    };
    assert_eq!(
        (footer.events, footer.gaps.count, footer.complete),
        (15, 1, false)
    );
}

#[test]
fn every_prefix_is_readable() {
    let events = every_body();
    let tape = tape(&events);
    let header = tape.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in header..tape.len() {
        let mut reader = Reader::open(&tape[..cut]).unwrap();
        let mut read = 0;
        while reader.next_event().unwrap().is_some() {
            read += 1;
        }
        let whole = tape[header..cut].split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(read, whole, "cut at {cut}");
        let Some(Ending::CutShort { last_seq, torn }) = reader.ending() else {
            panic!()
        };
        assert_eq!((*last_seq, *torn), (whole as u64, tape[cut - 1] != b'\n'));
    }
}
