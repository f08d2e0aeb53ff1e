//! A cassette without times has the same order, and nothing that differs between recordings of the
//! same session.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use tapewright_schemas::cassette::{Projector, Reader};
use tapewright_schemas::envelope::for_each_message;
use tapewright_schemas::event::{Direction, Event, EventBody, Offset, Payload};
use tapewright_schemas::recording::Document;
use tapewright_schemas::tape::{self, Ending, Header};

use crate::law::line;
use crate::support::{Script, complete, header, spool};

fn project(header: &Header, events: &[Event], ending: &Ending) -> String {
    let projector = || {
        let mut projector = Projector::new(header, spool(), spool()).without_times();
        for event in events {
            projector.observe(event).unwrap();
        }
        projector
    };
    let mut out = Vec::new();
    projector().finish(ending, &mut out).unwrap();
    let (_, there) = projector().finish_in_place(ending, || Ok(spool())).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text, there.text());
    text
}

/// The messages of events in order, and whether the client sent them.
fn messages(events: &[Event]) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for event in events {
        if let EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } = &event.body
        {
            let client = event.dir == Direction::ToServer;
            for_each_message(bytes, |text| {
                found.push((client, String::from_utf8(text.to_vec()).unwrap()));
            });
        }
    }
    found
}

/// For each message the number of messages of the client before it, and the client's messages in
/// order.
fn course(messages: &[(bool, String)]) -> (HashMap<&str, usize>, Vec<&str>) {
    let mut before = HashMap::new();
    let mut said = Vec::new();
    for (client, text) in messages {
        before.insert(text.as_str(), said.len());
        if *client {
            said.push(text.as_str());
        }
    }
    (before, said)
}

/// The messages of each exchange, in the order of its object.
fn exchanges(cassette: &Value) -> Vec<Vec<String>> {
    let lists = ["exchanges", "unanswered"];
    let all = lists.iter().filter_map(|list| cassette[list].as_array());
    let own = |one: &Value| {
        let stream = one["stream"].as_array().cloned().unwrap_or_default();
        let own = stream.iter().map(|entry| entry["message"].clone());
        let own: Vec<_> = own
            .chain([one["request"].clone(), one["response"].clone()])
            .collect();
        own.iter().map(Value::to_string).collect()
    };
    all.flatten().map(own).collect()
}

/// The events of a cassette, read at once and from its file.
fn told(text: &str) -> Vec<Event> {
    let recording = Document::read(text.to_owned()).unwrap().recording();
    assert!(!recording.timed);
    assert!(
        recording.events.iter().all(|event| event.at == Offset(0)),
        "{text}"
    );
    if let Some(mut reader) = Reader::open(Cursor::new(text)).unwrap() {
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            events.push(event);
        }
        assert_eq!(events, recording.events, "{text}");
        assert_eq!(reader.ending(), &recording.ending);
    }
    recording.events
}

/// The events of a cassette without times are in the order in which they came.
#[track_caller]
fn holds(header: &Header, events: &[Event], ending: &Ending) -> String {
    let text = project(header, events, ending);
    let there = told(&text);
    let (came, tells) = (messages(events), messages(&there));
    let (expected, found) = (course(&came), course(&tells));
    assert_eq!(found.1, expected.1, "{text}");
    assert_eq!(found.0, expected.0, "{text}");
    let place = |messages: &[(bool, String)]| -> HashMap<String, usize> {
        let places = messages.iter().enumerate();
        places
            .filter_map(|(at, (_, text))| {
                let value: Value = serde_json::from_str(text).ok()?;
                Some((value.to_string(), at))
            })
            .collect()
    };
    let (came, tells) = (place(&came), place(&tells));
    for mut own in exchanges(&serde_json::from_str(&text).unwrap()) {
        own.retain(|text| came.contains_key(text));
        let mut other = own.clone();
        own.sort_by_key(|text| came[text]);
        other.sort_by_key(|text| tells[text]);
        assert_eq!(other, own, "{text}");
    }
    for member in ["_ms", "_us", "recorded_at", "tapewright_version"] {
        assert!(!text.contains(member), "{member}: {text}");
    }
    let recording = Document::read(text.clone()).unwrap().recording();
    let again = project(&recording.header, &recording.events, &recording.ending);
    // A batch comes back as its members. With two concurrent requests of the same id nothing shows
    // which was answered first, so pairing them again may swap their answers.
    if !text.contains("\"batch\"") && !text.contains("id reused") {
        let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        let (mut again, mut text) = (value(&again), value(&text));
        // For HTTP it is not recorded on which stream a line of the client came.
        for one in [&mut again, &mut text] {
            one["meta"] = Value::Null;
        }
        assert_eq!(again, text);
    }
    text
}

/// Distinct lines.
fn script(lines: Vec<(bool, u32, String)>) -> Script {
    let mut script = Script::default();
    let mut number = 0;
    for (client, session, line) in lines {
        let mut parts = line.split("\"tag\":");
        let mut text = parts.next().unwrap_or_default().to_owned();
        if text.starts_with("noise") {
            text = format!("noise {number}");
        }
        for part in parts {
            number += 1;
            write!(text, "\"n\":{number},\"tag\":{part}").unwrap();
        }
        number += 1;
        script = script.session(session);
        script = if client {
            script.c(text)
        } else {
            script.s(text)
        };
    }
    script
}

proptest! {
    #[test]
    fn without_times_the_order_is_the_same(
        lines in prop::collection::vec((any::<bool>(), 0..3_u32, line()), 0..60),
        one_session in any::<bool>(),
    ) {
        let one = |(client, session, line)| (client, if one_session { 0 } else { session }, line);
        let script = script(lines.into_iter().map(one).collect());
        holds(&header(), &script.events, &complete());
    }

    #[test]
    fn clocks_make_no_difference(
        lines in prop::collection::vec((any::<bool>(), 0..3_u32, line()), 0..40),
        pauses in prop::collection::vec(0..90_000_u64, 40),
    ) {
        let mut script = script(lines);
        let first = project(&header(), &script.events, &complete());
        let mut now = 0;
        for (event, pause) in script.events.iter_mut().zip(pauses) {
            now += pause;
            event.at = Offset(now);
        }
        let header = Header {
            created: "2026-11-25T18:00:00Z".to_owned(),
            by: "tapewright 9.9.9".to_owned(),
            ..header()
        };
        let other = Header { created: String::new(), ..header.clone() };
        let second = project(&header, &script.events, &complete());
        prop_assert_eq!(&second, &project(&other, &script.events, &complete()));
        let exchanges = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        prop_assert_eq!(&exchanges(&second)["exchanges"], &exchanges(&first)["exchanges"]);
        prop_assert_eq!(&exchanges(&second)["messages"], &exchanges(&first)["messages"]);
    }
}

#[test]
fn what_crossed_amid_says_what_came_before() {
    let script = Script::default()
        .c(r#"{"id":1,"method":"a"}"#)
        .c(r#"{"id":2,"method":"b"}"#)
        .s(r#"{"id":7,"method":"elicitation/create"}"#)
        .c(r#"{"id":7,"result":{}}"#)
        .s(r#"{"id":1,"result":{}}"#)
        .s(r#"{"id":2,"result":{}}"#);
    let value: Value =
        serde_json::from_str(&holds(&header(), &script.events, &complete())).unwrap();
    // The request of `b`, and the reply.
    assert_eq!(value["exchanges"][0]["seen"], 2);
    // In its own stream the reply precedes it.
    assert_eq!(value["exchanges"][1].get("seen"), None);
    assert_eq!(value["exchanges"][1]["stream"][0].get("seen"), None);
}

#[test]
fn who_asks_one_thing_after_the_other_needs_nothing() {
    let script = Script::default()
        .c(r#"{"id":1,"method":"initialize"}"#)
        .s(r#"{"id":1,"result":{}}"#)
        .c(r#"{"method":"notifications/initialized"}"#)
        .c(r#"{"id":2,"method":"a"}"#)
        .s(r#"{"method":"notifications/message"}"#)
        .s(r#"{"id":2,"result":{}}"#)
        .s(r#"{"method":"notifications/message","n":2}"#)
        .c(r#"{"id":3,"method":"b"}"#)
        .s(r#"{"id":3,"result":{}}"#);
    let text = holds(&header(), &script.events, &complete());
    assert!(!text.contains("seen") && !text.contains("before"), "{text}");
}

#[test]
fn what_came_before_a_request_without_an_answer_says_so() {
    let script = Script::default()
        .c(r#"{"id":1,"method":"a"}"#)
        .s(r#"{"id":1,"result":{}}"#)
        .c(r#"{"method":"n","n":1}"#)
        .c(r#"{"id":2,"method":"b"}"#)
        .c(r#"{"method":"n","n":2}"#)
        .c(r#"{"id":3,"method":"c"}"#)
        .c(r#"{"method":"n","n":3}"#);
    let value: Value =
        serde_json::from_str(&holds(&header(), &script.events, &complete())).unwrap();
    let before: Vec<_> = value["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["unanswered_before"])
        .collect();
    assert_eq!(before, [&Value::from(0), &Value::from(1), &Value::Null]);
}

#[test]
fn recorded_sessions_are_told_in_their_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wire");
    let mut tapes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".tape.jsonl") {
            continue;
        }
        tapes += 1;
        let mut reader = tape::Reader::open(BufReader::new(File::open(&path).unwrap())).unwrap();
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            events.push(event);
        }
        let ending = reader.ending().unwrap().clone();
        holds(reader.header(), &events, &ending);
    }
    assert!(tapes >= 5);
}
