//! A tape that is written and read is the same, and so is every prefix of it.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    CloseReason, Direction, Effect, Event, EventBody, Exit, Exited, Gap, GapReason, LineEnd,
    Offset, Payload, Peer, What,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending, Reader};

use crate::support::{Script, header};

fn every_body() -> Vec<Event> {
    let payload = Payload::Whole(b"\xff\x00"[..].into());
    let bytes = EventBody::message(payload, LineEnd::CrLf);
    let clipped = EventBody::message(
        Payload::Clipped {
            len: 9_000_000_000,
            head: "{\"a\"".into(),
        },
        LineEnd::None,
    );
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
            EventBody::Faulted(Effect::plain(What::Delayed { by: Offset(5_000) }).about(None)),
        )
        .push(
            server,
            EventBody::Gap(Gap {
                events: 1,
                bytes: 2,
                why: GapReason::QueueFull,
                detail: None,
            }),
        )
        .push(server, EventBody::Signal("TERM".to_owned()))
        .push(client, EventBody::Closed(CloseReason::ReceiverGone))
        .push(server, EventBody::Exited(Exit::Code(-1).into()))
        .push(
            server,
            EventBody::Exited(Exited {
                how: Exit::Signal(9),
                ours: Offset(1_500),
            }),
        )
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
        // Events of the conduit itself have no direction on the tape.
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
fn lines_are_the_same_wherever_a_buffer_ends_and_however_long_they_are() {
    let long = |letters: usize| {
        let text = "y\u{e9}".repeat(letters / 2);
        format!(r#"{{"id":1,"method":"a","params":{{"s":"{text}"}}}}"#)
    };
    let script = [100, 16_300, 16_400, 50_000, 20].map(long);
    let script = script.iter().fold(Script::default(), |script, text| {
        script.c(text.clone()).s(text.clone())
    });
    let tape = tape(&script.events);
    let read = |input: &mut dyn BufRead| {
        let mut reader = Reader::open(input).unwrap();
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            assert!(reader.envelope(&event).is_some());
            events.push(event);
        }
        assert!(matches!(reader.ending(), Some(Ending::Footer(_))));
        events
    };
    let whole = read(&mut tape.as_slice());
    assert_eq!(whole.len(), script.events.len());
    for (read, sent) in whole.iter().zip(&script.events) {
        assert_eq!(read.body, sent.body);
    }
    for capacity in [1, 7, 4_096, 1 << 16] {
        let mut input = BufReader::with_capacity(capacity, tape.as_slice());
        assert_eq!(read(&mut input), whole, "{capacity}");
    }
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

#[test]
fn a_message_that_stands_as_json_is_taken_apart_as_ever() {
    let events = Script::default()
        .c(r#"{"id":1,"method":"a","params":{"s":"\ud83d","n":1e400}}"#)
        .c(r#"[{"id":1,"method":"a"},{"method":"b"}]"#)
        .s(r#"{"id":1,"id":2,"result":null}"#)
        .s("7")
        .s("Listening")
        .s("  {\"id\":1,\"result\":{}} ")
        .events;
    let mut tape = tape(&events);
    let footer = tape[..tape.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n');
    tape.truncate(footer.unwrap() + 1);
    // Lines that no recorder writes.
    let odd = [
        &br#"{"seq":7,"at_us":1,"dir":"to_client","message":{"a":1},"text":"no JSON"}"#[..],
        b"{\"seq\":8,\"at_us\":1,\"dir\":\"to_client\",\"message\":{\"method\":\"\xff\"}}",
    ];
    let odd = odd.map(|line| [line, b"\n"].concat()).concat();
    let lines = [tape, odd].concat();
    let mut reader = Reader::open(lines.as_slice()).unwrap();
    let mut shown = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        let EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } = &event.body
        else {
            panic!("{event:?}");
        };
        let envelope = reader.envelope(&event);
        if let Some(envelope) = &envelope {
            assert_eq!(envelope, &Envelope::parse(bytes));
        }
        shown.push(envelope.is_some());
    }
    // Lines that are not JSON, or that cannot be written as JSON because of white space, are
    // recorded as text.
    assert_eq!(shown, [true, true, true, true, false, false, false, false]);
}
