use serde_json::{Value, json};

use super::*;
use crate::{Call, Wire};

fn key(wire: Wire, body: &Value) -> Key {
    let mut call = Call::generate(wire);
    call.model = Some("m".to_owned());
    Key::of(
        &wire
            .read_request(&call, body.to_string().as_bytes())
            .unwrap(),
    )
}

fn asked(id: &str, result: &str) -> Value {
    json!({
        "model": "m",
        "max_tokens": 5,
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {"a": 1, "b": 2}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]},
        ],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
    })
}

#[test]
fn generated_ids_caches_accounts_and_streams_do_not_count() {
    let one = key(Wire::Anthropic, &asked("toolu_1", "x"));
    let mut other = asked("toolu_2", "x");
    other["stream"] = json!(true);
    other["metadata"] = json!({"user_id": "u"});
    other["messages"][0]["content"] =
        json!([{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]);
    other["messages"][1]["content"][0]["input"] = json!({"b": 2, "a": 1});
    let other = key(Wire::Anthropic, &other);
    assert_eq!(one, other);
    assert_eq!(one.text(), other.text());
    assert_eq!(one.difference(&other), None);
}

/// Two tools are called at once, with these answers in this order.
fn answered(first: (&str, &str), second: (&str, &str)) -> Key {
    let message =
        |(id, text): (&str, &str)| json!({"role": "tool", "tool_call_id": id, "content": text});
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    key(
        Wire::OpenAiChat,
        &json!({"model": "m", "messages": [
            {"role": "assistant", "tool_calls": [call("a"), call("b")]},
            message(first), message(second),
        ]}),
    )
}

#[test]
fn ids_that_are_mixed_up_count() {
    assert_ne!(
        answered(("a", "1"), ("b", "2")),
        answered(("b", "1"), ("a", "2"))
    );
}

#[test]
fn results_of_parallel_calls_may_come_in_any_order() {
    assert_eq!(
        answered(("a", "1"), ("b", "2")),
        answered(("b", "2"), ("a", "1"))
    );
    let blocks = |results: [&str; 3]| {
        let used = ["x", "y", "z"]
            .map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}}));
        let results =
            results.map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": id}));
        let mut said = json!(results);
        said.as_array_mut()
            .unwrap()
            .push(json!({"type": "text", "text": "go on"}));
        key(
            Wire::Anthropic,
            &json!({"model": "m", "max_tokens": 5, "messages": [
                {"role": "assistant", "content": used}, {"role": "user", "content": said},
            ]}),
        )
    };
    assert_eq!(blocks(["x", "y", "z"]), blocks(["z", "x", "y"]));
    let named = |names: [&str; 2]| {
        let results =
            names.map(|name| json!({"functionResponse": {"name": name, "response": {"of": name}}}));
        key(
            Wire::Gemini,
            &json!({"contents": [{"role": "user", "parts": results}]}),
        )
    };
    assert_eq!(named(["add", "echo"]), named(["echo", "add"]));
}

#[test]
fn results_that_answer_nothing_known_stay_where_they_are() {
    let unknown = |first: &str, second: &str| {
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
        key(
            Wire::Anthropic,
            &json!({"model": "m", "max_tokens": 5, "messages": [
                {"role": "user", "content": [result(first), result(second)]},
            ]}),
        )
    };
    assert_ne!(unknown("a", "b"), unknown("b", "a"));
}

#[test]
fn a_miss_says_where_the_nearest_request_differs() {
    let recorded = [
        key(
            Wire::Anthropic,
            &json!({"model": "other", "messages": [{"role": "user", "content": "go"}]}),
        ),
        key(Wire::Anthropic, &asked("a", "x")),
        key(Wire::Gemini, &json!({"contents": []})),
    ];
    let (at, difference) = key(Wire::Anthropic, &asked("b", "y"))
        .nearest(&recorded)
        .unwrap();
    let difference = difference.unwrap();
    assert_eq!(at, 1);
    assert_eq!(difference.path, "$.messages[2].content[0].content[0].text");
    assert_eq!(
        (difference.recorded, difference.asked),
        (Some(json!("x")), Some(json!("y")))
    );
    assert_eq!(key(Wire::Anthropic, &asked("b", "y")).nearest([]), None);
}

fn push(list: &mut Value, value: Value) {
    list.as_array_mut().unwrap().push(value);
}

#[test]
fn every_part_that_changes_the_answer_is_told() {
    let recorded = key(Wire::Anthropic, &asked("a", "x"));
    let change = |change: fn(&mut Value)| {
        let mut body = asked("a", "x");
        change(&mut body);
        key(Wire::Anthropic, &body)
            .difference(&recorded)
            .map(|found| found.path)
    };
    for (path, change) in [
        ("$.model", change(|body| body["model"] = json!("n"))),
        ("$.max_tokens", change(|body| body["max_tokens"] = json!(6))),
        (
            "$.temperature",
            change(|body| body["temperature"] = json!(0.5)),
        ),
        (
            "$.tool_choice",
            change(|body| body["tool_choice"] = json!({"type": "any"})),
        ),
        (
            "$.thinking",
            change(|body| body["thinking"] = json!({"type": "adaptive"})),
        ),
        (
            "$.tools[0].description",
            change(|body| body["tools"][0]["description"] = json!("e")),
        ),
        (
            "$.tools[1]",
            change(|body| {
                push(&mut body["tools"], json!({"name": "g", "input_schema": {}}));
            }),
        ),
        ("$.system[0]", change(|body| body["system"] = json!("s"))),
        (
            "$.messages[3]",
            change(|body| {
                push(
                    &mut body["messages"],
                    json!({"role": "user", "content": "more"}),
                );
            }),
        ),
        (
            "$.messages[2].content[0].is_error",
            change(|body| body["messages"][2]["content"][0]["is_error"] = json!(true)),
        ),
    ] {
        assert_eq!(change.as_deref(), Some(path));
    }
}

#[test]
fn what_is_new_in_every_session_is_masked() {
    let of = |id: &str| {
        key(
            Wire::OpenAiChat,
            &json!({"model": "m", "messages": [{"role": "user", "content": format!("run {id}")}]}),
        )
    };
    let one = of("3f2504e0-4f89-11d3-9a0c-0305e82c3301");
    let other = of("9b2504e0-4f89-11d3-9a0c-0305e82c33aa");
    assert_ne!(one.text(), other.text());
    assert_eq!(one.masked(), other.masked());
}

#[test]
fn secrets_are_told_apart_by_their_order_and_not_by_their_numbers() {
    let of = |first: &str, second: &str| {
        let text = format!("use {first} and {second} and {first}");
        key(
            Wire::Anthropic,
            &json!({"model": "m", "messages": [{"role": "user", "content": text}]}),
        )
    };
    let one = of("<REDACTED:token#1>", "<REDACTED:token#2>");
    assert_eq!(one, of("<REDACTED:token#7>", "<REDACTED:token#3>"));
    let same = of("<REDACTED:token#1>", "<REDACTED:token#1>");
    assert_ne!(one, same);
    assert_eq!(one.masked(), same.masked());
}

#[test]
fn what_nobody_can_know_stands_for_any_text() {
    let of = |text: &str| {
        key(
            Wire::Gemini,
            &json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        )
    };
    let recorded = of("hello <REDACTED:env#1>!");
    assert!(recorded.is_pattern() && recorded.fits(&of("hello bob!")));
    assert!(!recorded.fits(&of("good-bye bob!")));
    assert!(!of("hello").is_pattern());
}

#[test]
fn places_can_be_passed_over() {
    let place = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let one = key(Wire::Anthropic, &asked("a", "x"));
    let mut other = asked("a", "y");
    other["system"] = json!("s");
    let other = key(Wire::Anthropic, &other);
    let places = [
        place("system"),
        place("messages/2/content/*/content/0/text"),
    ];
    assert_eq!(one.clone().without(&places), other.clone().without(&places));
    assert_ne!(one.without(&places[..1]), other.without(&places[..1]));
}

#[test]
fn an_outline_has_tools_and_roles_and_no_texts() {
    let outline = |body: &Value| key(Wire::Anthropic, body).outline();
    let mut other = asked("b", "y");
    other["system"] = json!("s");
    other["messages"][0]["content"] = json!("stop");
    assert_eq!(outline(&asked("a", "x")), outline(&other));
    other["messages"][1]["content"][0]["name"] = json!("g");
    assert_ne!(outline(&asked("a", "x")), outline(&other));
    other = asked("a", "x");
    other["tools"][0]["name"] = json!("g");
    assert_ne!(outline(&asked("a", "x")), outline(&other));
}
