//! Written suites are read by the loader, and hold for their sources.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::call::{Asks, Call};
use super::server::{Reach, Server};
use super::{Draft, ServerDraft, expect, yaml};

fn call(name: &str, arguments: Value, answers: &[Value]) -> Call {
    let result = |one: &Value| json!({ "jsonrpc": "2.0", "id": 1, "result": one });
    Call {
        asks: Asks::Tool,
        name: name.to_owned(),
        arguments: Some(arguments),
        answers: answers.iter().map(result).collect(),
    }
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The only matcher for a text with these answers.
fn matcher(texts: &[&str]) -> Value {
    let answers: Vec<Value> = texts.iter().map(|text| said(text)).collect();
    let call = call("t", json!({}), &answers);
    let mut held = expect::held(call.asks, &call.answers);
    assert_eq!(held.len(), 1);
    let one = held.remove(0);
    assert_eq!(one.target, "result.content[0].text");
    one.matcher
}

#[test]
fn what_is_stable_is_held_word_for_word_and_the_rest_by_its_form() {
    assert_eq!(matcher(&["Echo: hello"]), json!({ "exact": "Echo: hello" }));
    assert_eq!(
        matcher(&["done at 2026-11-23T10:00:00Z"]),
        json!({ "regex": r"^done at \d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*$" })
    );
    assert_eq!(
        matcher(&["call number 1 of today", "call number 2 of today"]),
        json!({ "starts-with": "call number" })
    );
    assert_eq!(
        matcher(&[r#"{"now":1.5}"#, r#"{"now":2}"#]),
        json!({ "is-json": { "schema": {
            "type": "object", "required": ["now"], "properties": { "now": { "type": "number" } }
        } } })
    );
    assert_eq!(
        matcher(&[
            "Report\nthe weather is fine\n12",
            "Report\nthe weather is fine\n13"
        ]),
        json!({ "contains": "the weather is fine" })
    );
    assert_eq!(
        matcher(&["ab", "cd"]),
        json!({ "schema": { "type": "string", "minLength": 1 } })
    );
}

#[test]
fn a_value_with_a_redacted_secret_is_not_expected() {
    let held = |answer: &Value| {
        let call = call("t", json!({}), std::slice::from_ref(answer));
        let held = expect::held(call.asks, &call.answers).into_iter();
        held.map(|one| (one.target, one.matcher))
            .collect::<Vec<_>>()
    };
    let secret = "your token is <REDACTED:token#1>";
    assert_eq!(
        held(&said(secret)),
        [("result.content.length".to_owned(), json!({ "exact": 1 }))]
    );
    let both = json!({ "content": [
        { "type": "text", "text": secret },
        { "type": "text", "text": "keep it" },
    ] });
    assert_eq!(
        held(&both),
        [(
            "result.content[1].text".to_owned(),
            json!({ "exact": "keep it" })
        )]
    );
}

#[test]
fn a_suite_reads_as_a_person_would_write_it() {
    let draft = Draft {
        about: vec!["Written by hand, nearly.".to_owned()],
        servers: vec![ServerDraft {
            server: Server {
                name: "files".to_owned(),
                reach: Reach::Command(vec!["npx".to_owned(), "-y".to_owned(), "server".to_owned()]),
            },
            calls: vec![
                call(
                    "echo",
                    json!({ "message": "hello" }),
                    &[said("Echo: hello")],
                ),
                call(
                    "price",
                    json!({ "of": "$HOME", "note": "a\nb" }),
                    &[said("one\ntwo $2")],
                ),
                call(
                    "made",
                    json!({}),
                    &[json!({ "content": [], "structuredContent": { "sum": 5 } })],
                ),
            ],
            stubs: Vec::new(),
        }],
    };
    let expected = r#"# Written by hand, nearly.

servers:
  files:
    command: [npx, "-y", server]

tools:
  - name: echo with message hello
    server: files
    tool: echo
    args: { message: hello }
    expect:
      - target: "result.content[0].text"
        matcher: { exact: "Echo: hello" }

  - name: "price with of $$HOME and note a b"
    server: files
    tool: price
    args:
      of: "$$HOME"
      note: |-
        a
        b
    expect:
      - target: "result.content[0].text"
        matcher:
          exact: |-
            one
            two $$2

  - name: made
    server: files
    tool: made
    expect:
      - target: result.structuredContent
        matcher:
          exact: { sum: 5 }
      - target: result.content
        matcher: { exact: [] }
"#;
    assert_eq!(draft.write(), expected);
}

/// What the loader reads from a written value.
fn read_back(value: &Value) -> Option<Value> {
    let mut text = "a: 1\nb:\n".to_owned();
    yaml::member("v", value, 1, &mut text);
    yaml::member("list", &json!([value, { "v": value }]), 1, &mut text);
    let all = tapewright_config::to_json(&text)?;
    let once = all.pointer("/b/v")?;
    let again = [all.pointer("/b/list/0")?, all.pointer("/b/list/1/v")?];
    again.iter().all(|one| *one == once).then(|| once.clone())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "([a-z #:'\"\\t$-]{0,6}\n){0,3}[a-z]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z:# ~-]{1,6}", inner), 0..4)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_read_back_as_it_was(value in value()) {
        prop_assert_eq!(read_back(&value), Some(value));
    }
}
