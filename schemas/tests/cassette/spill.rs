//! Requests that stay open for long, and streams that grow without end.

use serde_json::{Value, json};

use tapewright_schemas::{capture, cassette};

use crate::support::{Script, complete, header, ids, project, spool};

fn ask(id: usize, size: usize) -> String {
    format!(r#"{{"id":{id},"method":"x","pad":"{}"}}"#, "y".repeat(size))
}

fn answer(id: usize) -> String {
    format!(r#"{{"id":{id},"result":{id}}}"#)
}

fn parsed(script: &Script) -> Value {
    serde_json::from_str(&project(&script.events, &complete()).0).unwrap()
}

#[test]
fn a_late_answer_stands_at_its_place() {
    // After the two open requests more messages wait than are held in memory.
    let mut script = Script::default()
        .c(ask(0, 1))
        .s(answer(0))
        .c(ask(1, 1))
        .c(ask(2, 1));
    for id in 3..60 {
        script = script.c(ask(id, 200_000)).s(answer(id));
    }
    let log = r#"{"method":"notifications/message"}"#;
    let value = parsed(
        &script
            .s(log)
            .s(answer(2))
            .s(log)
            .s(answer(1))
            .c(ask(60, 1))
            .s(answer(60)),
    );
    let expected: Vec<_> = (0..=60).map(|id| id.to_string()).collect();
    assert_eq!(ids(&value), expected);
    let exchanges = value["exchanges"].as_array().unwrap();
    assert!(
        exchanges
            .iter()
            .all(|one| one["request"]["id"] == one["response"]["result"])
    );
    assert_eq!(exchanges[2]["stream"].as_array().unwrap().len(), 1);
    assert_eq!(exchanges[1]["stream"].as_array().unwrap().len(), 1);
}

#[test]
fn the_first_and_the_last_may_be_late() {
    let mut script = Script::default().c(ask(0, 1));
    for id in 1..30 {
        script = script.c(ask(id, 300_000));
    }
    for id in (0..30).rev() {
        script = script.s(answer(id));
    }
    let expected: Vec<_> = (0..30).map(|id| id.to_string()).collect();
    assert_eq!(ids(&parsed(&script)), expected);
}

#[test]
fn a_long_stream_is_whole_and_in_order() {
    let mut script = Script::default().c(ask(1, 1));
    let mut expected = Vec::new();
    for number in 0..3_000 {
        script = script.s(format!(
            r#"{{"method":"n","params":{{"number":{number},"pad":"{:60}"}}}}"#,
            ""
        ));
        expected.push(json!(number));
    }
    for answered in [true, false] {
        let mut script = Script {
            events: script.events.clone(),
            ..Script::default()
        };
        if answered {
            script = script.s(answer(1));
        }
        let value = parsed(&script);
        let home = if answered {
            &value["exchanges"][0]
        } else {
            &value["unanswered"][0]
        };
        let stream = home["stream"].as_array().unwrap();
        let numbers: Vec<_> = stream
            .iter()
            .map(|one| one["message"]["params"]["number"].clone())
            .collect();
        assert_eq!(numbers, expected);
    }
}

#[test]
fn what_is_in_order_is_not_written_twice() {
    let mut script = Script::default()
        .c(r#"{"id":0,"method":"initialize"}"#)
        .s(r#"{"id":0,"result":{"capabilities":{}}}"#)
        .c(ask(99, 1));
    for id in 1..40 {
        script = script.c(ask(id, 200_000)).s(answer(id));
    }
    // The request that waits all the time is never answered, and follows the exchanges.
    let script = script.s(r#"{"method":"notifications/message"}"#);
    let mut cassette = cassette::Projector::new(&header(), spool(), spool());
    let mut capture = capture::Projector::new(&header(), spool(), spool());
    for event in &script.events {
        cassette.observe(event).unwrap();
        if event.seq != 3 {
            capture.observe(event).unwrap();
        }
    }
    let never = || -> std::io::Result<_> { panic!("written twice") };
    let (summary, _) = cassette.finish_in_place(&complete(), never).unwrap();
    assert_eq!((summary.exchanges, summary.unanswered), (40, 1));
    let (summary, _) = capture.finish_in_place(&complete(), never).unwrap();
    assert_eq!(summary.exchanges, 40);
}

#[test]
fn more_open_requests_than_are_followed_lose_nothing() {
    let mut script = Script::default();
    for id in 0..66_000 {
        script = script.c(ask(id, 0));
    }
    let (text, summary) = project(&script.s(answer(0)).s(answer(65_999)).events, &complete());
    assert_eq!(
        (summary.exchanges, summary.unanswered, summary.messages),
        (1, 65_999, 1)
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    let unanswered = value["unanswered"].as_array().unwrap();
    assert!((0..65_999).all(|id| unanswered[id]["request"]["id"] == json!(id)));
    assert_eq!(value["messages"][0]["mark"], "response to nobody");
    assert_eq!(value["messages"][0]["after"], 1);
}
