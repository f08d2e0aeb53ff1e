use std::io::Cursor;

use proptest::prelude::*;

use super::Reader;
use crate::recording::{Document, Recording};

/// What a reader yields for a cassette, if it accepts it.
fn read(text: &str) -> Option<Recording> {
    let mut reader = Reader::open(Cursor::new(text)).unwrap()?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    Some(Recording {
        header: reader.header().clone(),
        events,
        ending: reader.ending().clone(),
        timed: reader.timed(),
    })
}

/// The recording according to the parser that reads the whole file at once.
fn whole(text: &str) -> Option<Recording> {
    Some(Document::read(text.to_owned()).ok()?.recording())
}

/// A reader accepts it, and yields the same.
#[track_caller]
fn holds(text: &str) {
    let read = read(text);
    assert!(read.is_some(), "{text}");
    assert_eq!(read, whole(text), "{text}");
}

const PLAIN: &str = r#"{"request":{"id":1,"method":"a"},"response":{"id":1,"result":{}},"timing":{"sent_ms":1.5,"took_ms":2}}"#;

#[test]
fn every_list_and_member_is_told_as_by_who_reads_all() {
    let exchanges = [
        PLAIN,
        r#"{"request":{"id":2,"method":"b"},"response":{"id":2,"result":{}},"timing":{"sent_ms":1,"took_ms":9},"era":"handshake","session":2,"marks":["batch"]}"#,
        r#"{"request":{"id":3},"response":{"id":3},"stream":[{"from":"server","at_ms":3,"message":{"method":"n"}},{"from":"client","text":"x"}]}"#,
        r#"{"request":{"id":4},"response":{"id":4},"timing":{"sent_ms":2},"sessionless":true}"#,
        r#"{ "request" : {"id":5} , "response" : {"id":5}, "timing": null, "era": "no such" }"#,
        r#"{"request":{"id":6},"response":{"id":6},"timing":{"took_ms":1},"http":{"conduit":7,"method":"POST","path":"/","status":200}}"#,
    ];
    let lists = r#""messages":[{"after":1,"from":"client","at_ms":1.7,"message":{"method":"m"}},{"from":"server","base64":"/w=="}],
        "unanswered":[{"request":{"id":9},"after":2,"sent_ms":4,"why":"the peer was gone"}],
        "sessions":[{"session":2,"began":"initialize","began_ms":0.5,"ended":"client","ended_ms":8}]"#;
    for order in 0..exchanges.len() {
        let mut all = exchanges;
        all.rotate_left(order);
        let all = all.join(",\n");
        for meta in [r#""x":1"#, r#""meta":{"tapewright_version":"t","n":1}"#] {
            let exchanges = format!(r#""version":"1","exchanges":[{all}]"#);
            holds(&format!("{{{exchanges},{meta},{lists}}}"));
            holds(&format!(
                "{{{lists},{meta},{exchanges},\"incomplete\":\"cut\"}}"
            ));
        }
    }
}

#[test]
fn what_is_not_as_ours_are_is_left_to_who_reads_all() {
    let cassette = |members: &str| format!(r#"{{{members},"exchanges":[{PLAIN}]}}"#);
    for text in [
        cassette(r#""version":1"#),
        cassette(r#""version":"1","version":"2""#),
        cassette(r#""version":"1","exchanges":[]"#).replacen("[]", &format!("[{PLAIN}]"), 1),
        cassette(r#""version":"1","messages":{}"#),
        cassette(r#""version":"1","mess\u0061ges":[]"#),
        cassette(r#""meta":{}"#),
        cassette(r#""version":"1""#).replace("\"response\"", "\"answer\""),
        cassette(r#""version":"1""#) + "x",
        format!("\u{feff}{}", cassette(r#""version":"1""#)),
        r#"{"server_label":"x","exchanges":[]}"#.to_owned(),
        r#"{"version":"1","exchanges":[]}"#.to_owned(),
        "[]".to_owned(),
        String::new(),
    ] {
        assert_eq!(read(&text), None, "{text}");
    }
}

#[test]
fn a_member_that_comes_twice_or_in_escapes_is_read_as_it_always_was() {
    let cassette = |exchange: &str| format!(r#"{{"version":"1","exchanges":[{exchange}]}}"#);
    let request = r#""request":{"id":1},"response":{"id":2}"#;
    for rest in [
        r#""request":{"id":3}"#,
        r#""s\u0065ssion":4"#,
        r#""timing":{"sent_ms":1,"sent_ms":2}"#,
        r#""timing":{"sent_ms":-1,"took_ms":null}"#,
        r#""timing":{"sent_\u006ds":7,"took_ms":1e999}"#,
        r#""timing":[1],"session":"x""#,
        r#""session":99999999999,"era":null"#,
        r#""era":"hand\u0073hake","other":[{}]"#,
    ] {
        holds(&cassette(&format!("{{{request},{rest}}}")));
    }
}

#[test]
fn a_file_that_changed_since_is_an_error() {
    let text = format!(r#"{{"version":"1","exchanges":[{PLAIN}]}}"#);
    let mut reader = Reader::open(Cursor::new(text.into_bytes()))
        .unwrap()
        .unwrap();
    reader.input.get_mut().truncate(40);
    assert!(reader.next_event().is_err());
}

/// Times and other members of an exchange.
fn exchange() -> impl Strategy<Value = String> {
    let time = prop::option::of(0..40_u32);
    let rest = prop::sample::select(vec![
        "",
        r#","session":3"#,
        r#","era":"handshake""#,
        r#","stream":[{"from":"server","at_ms":11,"message":{}}]"#,
        r#","sessionless":true"#,
    ]);
    (time.clone(), time, rest, 0..400_usize).prop_map(|(sent, took, rest, length)| {
        let sent = sent.map_or("null".to_owned(), |at| format!("{at}.25"));
        let took = took.map_or("null".to_owned(), |at| at.to_string());
        let pad = "x".repeat(length);
        format!(
            r#"{{"request":{{"p":"{pad}"}},"response":{{"r":"{pad}é"}},"timing":{{"sent_ms":{sent},"took_ms":{took}}}{rest}}}"#
        )
    })
}

proptest! {
    #[test]
    fn any_course_is_told_as_by_who_reads_all(
        exchanges in prop::collection::vec(exchange(), 1..24),
        asides in prop::collection::vec((0..30_usize, prop::option::of(0..40_u32)), 0..6),
    ) {
        let messages: Vec<_> = asides
            .iter()
            .map(|(after, at)| {
                let at = at.map_or("null".to_owned(), |at| at.to_string());
                format!(r#"{{"after":{after},"from":"client","at_ms":{at},"message":{{}}}}"#)
            })
            .collect();
        let text = format!(
            r#"{{"version":"1","exchanges":[{}],"messages":[{}]}}"#,
            exchanges.join(","),
            messages.join(",")
        );
        let read = read(&text);
        prop_assert!(read.is_some());
        prop_assert_eq!(read, whole(&text));
    }
}
