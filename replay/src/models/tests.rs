use std::time::Duration;

use serde_json::{Value, json};
use tapewright_models::Wire;
use tapewright_models::recorded::{Answer, Piece};
use tapewright_schemas::event::{Fields, Offset};
use tapewright_schemas::redact::{Rules, Settings};

use super::*;
use crate::options::{Exhausted, MatchMode};
use crate::{Ignore, Pace, PathMaps};

fn options() -> Options {
    Options::new(Arc::new(Rules::new(&Settings::default()).unwrap()))
}

fn exchange(seq: u64, target: &str, body: &Value, answer: Option<Answer>) -> ProviderExchange {
    ProviderExchange {
        seq,
        at: Offset(seq),
        method: "POST".to_owned(),
        target: target.to_owned(),
        fields: Fields::default(),
        body: body.to_string().into(),
        answer,
    }
}

fn answer(kind: &str, pieces: &[&str]) -> Answer {
    let pieces = pieces.iter().map(|text| Piece {
        waited: Offset(7_000),
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    });
    Answer {
        status: 200,
        fields: [("content-type", kind), ("request-id", "r"), ("date", "d")]
            .into_iter()
            .collect(),
        is_events: kind == "text/event-stream",
        waited: Offset(5_000),
        pieces: pieces.collect(),
        is_whole: true,
    }
}

/// An Anthropic message with this text.
fn says(text: &str) -> Answer {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    });
    answer("application/json", &[&body.to_string()])
}

fn asks(text: &str) -> Value {
    json!({"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": text}]})
}

fn recorded(texts: &[(&str, &str)]) -> Vec<ProviderExchange> {
    let one = |(seq, (asked, said)): (u64, &(&str, &str))| {
        exchange(seq, "/v1/messages", &asks(asked), Some(says(said)))
    };
    (1..).zip(texts).map(one).collect()
}

fn provider(exchanges: Vec<ProviderExchange>, options: Options) -> Provider {
    Provider::new(exchanges, 0, Arc::new(options), None)
}

fn ask(provider: &Provider, target: &str, body: &Value) -> Reply {
    provider.answer(&Request {
        method: "POST".to_owned(),
        target: target.to_owned(),
        fields: Fields::default(),
        body: body.to_string().into(),
    })
}

/// The status and body of a reply.
fn told(reply: Reply) -> (u16, String) {
    let Reply::Response(given) = reply else {
        return (0, String::new());
    };
    let body: Vec<Bytes> = given.parts.into_iter().map(|(_, part)| part).collect();
    (given.status, String::from_utf8(body.concat()).unwrap())
}

fn said(provider: &Provider, body: &Value) -> String {
    let (status, body) = told(ask(provider, "/v1/messages", body));
    let body: Value = serde_json::from_str(&body).unwrap();
    match body["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{status} {}", body["error"]["message"].as_str().unwrap()),
    }
}

#[test]
fn equal_requests_get_their_answers_in_order_and_then_as_is_asked_for() {
    let tape = [("a", "one"), ("b", "other"), ("a", "two")];
    let told = |exhausted| {
        let options = Options {
            exhausted,
            ..options()
        };
        let provider = provider(recorded(&tape), options);
        (0..4)
            .map(|_| said(&provider, &asks("a")).chars().take(20).collect())
            .collect::<Vec<String>>()
    };
    assert_eq!(told(Exhausted::Last), ["one", "two", "two", "two"]);
    assert_eq!(told(Exhausted::Cycle), ["one", "two", "one", "two"]);
    assert_eq!(told(Exhausted::Error)[2], "400 replay: all reco");
}

#[test]
fn a_miss_says_where_the_nearest_call_differs_and_hides_secrets() {
    let provider = provider(recorded(&[("what is it?", "one")]), options());
    let key = ["sk-ant-", "api03-A1b2C3d4E5f6G7h8I9j0"].concat();
    let (status, body) = told(ask(&provider, "/v1/messages", &asks(&format!("use {key}"))));
    assert_eq!(status, 400);
    assert!(
        body.contains(r#"{"type":"error","error":{"type":"invalid_request_error","message":"replay: no recorded model call matches"#),
        "{body}"
    );
    assert!(
        body.contains("$.messages[0].content[0].text: recorded "),
        "{body}"
    );
    assert!(!body.contains("A1b2C3d4E5f6"), "{body}");
    let report = provider.report();
    assert_eq!((report.served, report.missed, report.unused), (0, 1, 1));
    assert_eq!(report.misses[0].nearest, Some(1));
    assert!(!report.is_exact());
}

#[test]
fn a_request_that_cannot_be_read_is_a_miss_in_the_form_of_its_wire() {
    let provider = provider(recorded(&[("a", "b")]), options());
    for (target, start) in [
        ("/v1/messages", r#"{"type":"error""#),
        ("/v1/chat/completions", r#"{"error":{"message""#),
        ("/v1/responses", r#"{"error":{"message""#),
        (
            "/v1beta/models/m:generateContent",
            r#"{"error":{"code":400"#,
        ),
    ] {
        let request = Request {
            method: "POST".to_owned(),
            target: target.to_owned(),
            fields: Fields::default(),
            body: Bytes::from_static(b"{\"model\":"),
        };
        let (status, body) = told(provider.answer(&request));
        assert_eq!(status, 400, "{target}");
        assert!(body.starts_with(start), "{body}");
    }
}

#[test]
fn what_is_new_in_every_session_makes_no_miss() {
    let at = |date: &str, folder: &str| asks(&format!("today is {date}, work in {folder}"));
    let exchange = exchange(
        1,
        "/v1/messages",
        &at("2026-08-22", "/tmp/a1b2"),
        Some(says("x")),
    );
    let live = at("2026-11-25", "/tmp/zzz");
    let one = provider(vec![exchange.clone()], options());
    assert_eq!(said(&one, &live), "x");
    let strict = Options {
        mode: MatchMode::Strict,
        ..options()
    };
    assert!(said(&provider(vec![exchange], strict), &live).starts_with("400 "));
}

#[test]
fn places_are_passed_over_and_structure_may_be_enough() {
    let mut live = asks("a");
    live["system"] = json!("be brief");
    assert!(said(&provider(recorded(&[("a", "x")]), options()), &live).starts_with("400 "));
    let ignoring = Options {
        ignore: Ignore::new(&["/system"], &["params", "method", "id"]).unwrap(),
        ..options()
    };
    assert_eq!(
        said(&provider(recorded(&[("a", "x")]), ignoring), &live),
        "x"
    );
    let structural = Options {
        mode: MatchMode::Structural,
        ..options()
    };
    assert_eq!(
        said(&provider(recorded(&[("a", "x")]), structural), &live),
        "x"
    );
}

#[test]
fn paths_are_turned_there_and_back() {
    let tape = recorded(&[("list /home/ann/p/src", "I see /home/ann/p/src/a.rs")]);
    let mapped = Options {
        paths: PathMaps::new(&["/home/ann/p=/w"]).unwrap(),
        ..options()
    };
    let provider = provider(tape, mapped);
    assert_eq!(said(&provider, &asks("list /w/src")), "I see /w/src/a.rs");
}

#[test]
fn a_path_that_goes_through_several_events_is_turned_as_well() {
    let start = r#"data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"in /home/a"}}]}"#;
    let more = r#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"nn/p/x"},"finish_reason":"stop"}]}"#;
    let events = [start, more, "data: [DONE]"].map(|line| format!("{line}\n\n"));
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "go"}]});
    let target = "/v1/chat/completions";
    let tape = vec![exchange(
        1,
        target,
        &body,
        Some(answer("text/event-stream", &events)),
    )];
    let mapped = Options {
        paths: PathMaps::new(&["/home/ann/p=/w"]).unwrap(),
        ..options()
    };
    let (_, text) = told(ask(&provider(tape, mapped), target, &body));
    assert!(
        text.contains("in /w/x") && text.ends_with("data: [DONE]\n\n"),
        "{text}"
    );
}

#[test]
fn an_answer_is_given_in_the_form_that_is_asked_for() {
    let provider = provider(recorded(&[("a", "hello there")]), options());
    let mut streamed = asks("a");
    streamed["stream"] = json!(true);
    let Reply::Response(given) = ask(&provider, "/v1/messages", &streamed) else {
        panic!()
    };
    assert_eq!(given.fields.get("content-type"), Some("text/event-stream"));
    assert_eq!(given.fields.get("request-id"), Some("r"));
    assert_eq!(given.fields.get("date"), None);
    let (_, text) = told(Reply::Response(given));
    assert!(
        text.starts_with("event: message_start\n") && text.contains("hello there"),
        "{text}"
    );
    let converted = provider.report().converted;
    assert_eq!((converted.len(), converted[0].seq), (1, 1));
}

#[test]
fn recorded_waits_are_kept_where_they_are_asked_for() {
    let waits = |factor| {
        let options = Options {
            pace: Pace {
                factor,
                ..Pace::default()
            },
            ..options()
        };
        let Reply::Response(given) = ask(
            &provider(recorded(&[("a", "x")]), options),
            "/v1/messages",
            &asks("a"),
        ) else {
            panic!()
        };
        (given.wait, given.parts[0].0)
    };
    assert_eq!(waits(0.0), (Duration::ZERO, Duration::ZERO));
    assert_eq!(
        waits(2.0),
        (Duration::from_millis(10), Duration::from_millis(14))
    );
}

#[test]
fn generated_ids_do_not_count_and_come_back_as_recorded() {
    let turn = |id: &str| {
        json!({"model": "m", "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": id, "content": "done"},
        ]})
    };
    let body = r#"{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}"#;
    let target = "/v1/chat/completions";
    let tape = vec![exchange(
        1,
        target,
        &turn("call_a"),
        Some(answer("application/json", &[body])),
    )];
    let (status, text) = told(ask(
        &provider(tape, options()),
        "/openai/v1/chat/completions",
        &turn("call_b"),
    ));
    assert_eq!((status, text.as_str()), (200, body));
}

#[test]
fn other_requests_are_answered_as_recorded_or_with_404() {
    let mut models = exchange(
        1,
        "/v1/models?limit=20",
        &Value::Null,
        Some(answer("application/json", &["{\"data\":[]}"])),
    );
    models.method = "GET".to_owned();
    models.body = Bytes::new();
    let count = exchange(
        2,
        "/v1/messages/count_tokens",
        &asks("a"),
        Some(answer("application/json", &["{\"input_tokens\":3}"])),
    );
    let provider = provider(vec![models, count], options());
    let get = |target: &str, name: &str| {
        told(provider.answer(&Request {
            method: "GET".to_owned(),
            target: target.to_owned(),
            fields: [(name, "2023-06-01")].into_iter().collect(),
            body: Bytes::new(),
        }))
    };
    for _ in 0..2 {
        assert_eq!(
            get("/v1/models?limit=20", "x"),
            (200, "{\"data\":[]}".to_owned())
        );
        assert_eq!(
            told(ask(
                &provider,
                "/anthropic/v1/messages/count_tokens",
                &asks("a")
            ))
            .1,
            "{\"input_tokens\":3}"
        );
    }
    let (status, text) = get("/v1/files", "anthropic-version");
    assert_eq!(status, 404);
    assert!(
        text.contains("not_found_error") && text.contains("GET /v1/files"),
        "{text}"
    );
    let report = provider.report();
    assert_eq!(
        (report.others_served, report.others_missed, report.missed),
        (4, 1, 0)
    );
    assert_eq!(report.others, ["GET /v1/files"]);
}

#[test]
fn secrets_match_their_placeholders_and_what_was_echoed() {
    let key = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let rules = options().rules;
    let live = asks(&format!("use {key}"));
    let redacted = Redactor::new(rules)
        .body(live.to_string().as_bytes())
        .into_owned();
    assert!(String::from_utf8_lossy(&redacted).contains("<REDACTED:"));
    let mut one = exchange(1, "/v1/messages", &Value::Null, Some(says("fine")));
    one.body = Bytes::from(String::from_utf8(redacted).unwrap().replace("#1>", "#4>"));
    let provider = provider(vec![one], options());
    assert_eq!(said(&provider, &live), "fine");
}

#[test]
fn what_broke_off_breaks_off_again_and_silence_is_silence() {
    let cut = Answer {
        is_whole: false,
        ..answer("text/event-stream", &["event: message_start\ndata: {}\n\n"])
    };
    let mut streamed = asks("a");
    streamed["stream"] = json!(true);
    let tape = vec![
        exchange(1, "/v1/messages", &streamed, Some(cut)),
        exchange(2, "/v1/messages", &asks("b"), None),
    ];
    let provider = provider(tape, options());
    let Reply::Response(given) = ask(&provider, "/v1/messages", &streamed) else {
        panic!()
    };
    assert!(given.breaks_off);
    assert_eq!(ask(&provider, "/v1/messages", &asks("b")), Reply::Silence);
    assert_eq!(provider.report().calls[0].wire, Wire::Anthropic.name());
}
