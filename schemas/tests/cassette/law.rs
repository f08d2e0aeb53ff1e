//! Nothing is lost: every message of a tape is in the cassette exactly once, unchanged.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::value::RawValue;
use tapewright_schemas::envelope::for_each_message;
use tapewright_schemas::event::{CloseReason, Direction, EventBody, Payload};

use crate::support::{Script, complete, project};

#[derive(serde::Deserialize)]
struct Cassette<'a> {
    #[serde(borrow)]
    exchanges: Vec<Exchange<'a>>,
    #[serde(borrow, default)]
    messages: Vec<Entry<'a>>,
    #[serde(borrow, default)]
    unanswered: Vec<Exchange<'a>>,
}

#[derive(serde::Deserialize)]
struct Exchange<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stream: Vec<Entry<'a>>,
}

#[derive(serde::Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    text: Option<String>,
}

fn one() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["0", "1", "1.0", "\"1\"", "\"\\u0031\"", "null", "2"]);
    (id, 0..9, any::<u16>()).prop_map(|(id, kind, tag)| match kind {
        0 | 1 => format!(r#"{{"id":{id},"method":"m","tag":{tag}}}"#),
        2 | 3 => format!(r#"{{"id":{id},"result":null,"tag":{tag}}}"#),
        4 => format!(r#"{{"id":{id},"method":"m","params":{{"_meta":{{"progressToken":{id}}}}},"tag":{tag}}}"#),
        5 => format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id}}},"tag":{tag}}}"#),
        6 => format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}},"tag":{tag}}}"#),
        7 => format!(r#"{{"method":"notifications/message","tag":{tag}}}"#),
        _ => format!("noise {tag}"),
    })
}

pub(crate) fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => one(),
        1 => prop::collection::vec(one().prop_filter("JSON", |text| text.starts_with('{')), 1..4)
            .prop_map(|members| format!("[{}]", members.join(" , "))),
    ]
}

proptest! {
    #[test]
    fn a_cassette_loses_nothing(lines in prop::collection::vec((any::<bool>(), line()), 0..60), closed in any::<bool>()) {
        let mut script = Script::default();
        for (client, line) in lines {
            script = if client { script.c(line) } else { script.s(line) };
        }
        if closed {
            script = script.closed(Direction::ToClient, CloseReason::EndOfInput);
        }
        let mut expected: BTreeMap<String, i64> = BTreeMap::new();
        for event in &script.events {
            if let EventBody::Message { payload: Payload::Whole(bytes), .. } = &event.body {
                for_each_message(bytes, |text| {
                    *expected.entry(String::from_utf8(text.to_vec()).unwrap()).or_default() += 1;
                });
            }
        }
        let (text, summary) = project(&script.events, &complete());
        let cassette: Cassette<'_> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(cassette.exchanges.len() as u64, summary.exchanges);
        prop_assert_eq!(cassette.unanswered.len() as u64, summary.unanswered);
        prop_assert_eq!(cassette.messages.len() as u64, summary.messages);
        let mut found: BTreeMap<String, i64> = BTreeMap::new();
        let mut count = |text: &str| *found.entry(text.to_owned()).or_default() += 1;
        for exchange in cassette.exchanges.iter().chain(&cassette.unanswered) {
            count(exchange.request.get());
            if let Some(response) = exchange.response {
                count(response.get());
            }
        }
        let streams = cassette.exchanges.iter().chain(&cassette.unanswered).flat_map(|one| &one.stream);
        for entry in cassette.messages.iter().chain(streams) {
            count(entry.message.map_or_else(|| entry.text.as_deref().unwrap(), RawValue::get));
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_capture_is_the_same_in_place(lines in prop::collection::vec((any::<bool>(), 0..3_u32, line()), 0..40)) {
        let mut script = Script::default();
        for (client, session, line) in lines {
            script = script.session(session);
            script = if client { script.c(line) } else { script.s(line) };
        }
        // Compares the two ways to write it.
        script.capture();
    }

    #[test]
    fn a_cassette_read_and_written_again_is_the_same(lines in prop::collection::vec((any::<bool>(), line()), 0..40)) {
        let mut script = Script::default();
        for (client, line) in lines {
            script = if client { script.c(line) } else { script.s(line) };
        }
        let (text, _) = project(&script.events, &complete());
        let document = tapewright_schemas::recording::Document::read(text.clone()).unwrap();
        let recording = document.recording();
        let (again, _) = project(&recording.events, &recording.ending);
        // A batch comes back as its members, so its mark is lost.
        let unmarked = |text: &str| text.replace(", \"mark\": \"batch\"", "").replace("\"batch\"", "");
        if !text.contains("\"batch\"") {
            prop_assert_eq!(unmarked(&again), unmarked(&text));
        }
    }
}
