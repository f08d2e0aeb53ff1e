//! A whole test: assertions, budgets, headers, and errors of the server.

use std::sync::Arc;

use serde_json::{Value, json};
use tapewright_assertions::{
    Answer, Expectation, HeaderRule, Headers, Json, Outcome, TokenBudget, compile,
};

use crate::support::Desk;

fn expectation(assertions: &[Value]) -> Expectation {
    Expectation {
        assertions: assertions
            .iter()
            .map(|one| Arc::new(compile(one).unwrap()))
            .collect(),
        ..Expectation::default()
    }
}

fn judge(expectation: &Expectation, envelope: &Json, headers: Headers<'_>) -> Outcome {
    let answer = Answer {
        envelope,
        took_us: Some(40_500),
        headers,
        redacted: false,
    };
    expectation.judge(&answer, &Desk::default())
}

fn notes(outcome: &Outcome) -> Vec<&str> {
    let failures = outcome.failures.iter();
    failures.filter_map(|one| one.note.as_deref()).collect()
}

#[test]
fn an_error_fails_a_test_that_does_not_look_at_it() {
    let error = Json::read(br#"{"code":-32000,"message":"boom"}"#).unwrap();
    let envelope = Answer::of_error(error);
    let at = |target: &str, matcher: Value| json!({"target": target, "matcher": matcher});
    for (assertions, holds) in [
        // 40
        (vec![at("result.isError", json!({"exact": true}))], false),
        (vec![at("result.isError", json!({"exact": null}))], false),
        (vec![], false),
        // 41 and 42
        (
            vec![at("result.error.code", json!({"exact": -32000}))],
            true,
        ),
        (
            vec![at("result[\"error\"].code", json!({"exact": -32000}))],
            true,
        ),
        (
            vec![at("result.error.message", json!({"icontains": "BOOM"}))],
            true,
        ),
        (vec![at("result.error.code", json!({"exact": -1}))], false),
    ] {
        let outcome = judge(&expectation(&assertions), &envelope, Headers::NotHttp);
        assert_eq!(outcome.holds(), holds, "{assertions:?}");
    }
    let refused = judge(&expectation(&[]), &envelope, Headers::NotHttp);
    assert!(
        notes(&refused)[0].contains("error -32000: boom"),
        "{refused:?}"
    );
}

#[test]
fn without_assertions_any_result_will_do() {
    // 45
    let envelope = Answer::of_result(Json::read(br#"{"isError":true}"#).unwrap());
    assert!(judge(&Expectation::default(), &envelope, Headers::NotHttp).holds());
    // A result may have a member of this name.
    let envelope = Answer::of_result(Json::read(br#"{"error":"none"}"#).unwrap());
    assert!(judge(&Expectation::default(), &envelope, Headers::NotHttp).holds());
}

#[test]
fn every_failure_is_told_and_errors_stay_apart() {
    let envelope = Answer::of_result(Json::read(br#"{"n":42}"#).unwrap());
    let at = |matcher: Value| json!({"target": "result.n", "matcher": matcher});
    let expectation = expectation(&[
        at(json!({"exact": 1})),
        at(json!({"icontains": "4"})),
        at(json!({"exact": 42})),
        at(json!({"exact": 2})),
    ]);
    let outcome = judge(&expectation, &envelope, Headers::NotHttp);
    assert_eq!(
        (outcome.failures.len(), outcome.errors.len(), outcome.passed),
        (2, 1, 1)
    );
    assert_eq!(outcome.errors[0].index, 1);
    assert!(outcome.errors[0].to_string().contains("judges a string"));
}

#[test]
fn budgets_of_time_and_tokens() {
    let envelope = Answer::of_result(
        Json::read(br#"{"content":[{"type":"text","text":"one two three four five six"}]}"#)
            .unwrap(),
    );
    let mut expectation = Expectation {
        max_duration_ms: Some(10),
        max_response_tokens: Some(
            TokenBudget::compile(&json!({"budget": 2, "tokenizer": "whitespace"})).unwrap(),
        ),
        ..Expectation::default()
    };
    let outcome = judge(&expectation, &envelope, Headers::NotHttp);
    assert_eq!(
        notes(&outcome),
        [
            "max_duration_ms budget exceeded: 41 ms (31 ms over budget)",
            "max_response_tokens budget exceeded: 6 tokens (4 tokens over budget of 2)",
        ]
    );
    expectation.max_duration_ms = Some(41);
    let warn = json!({"budget": 2, "tokenizer": "whitespace", "mode": "warn"});
    expectation.max_response_tokens = Some(TokenBudget::compile(&warn).unwrap());
    let outcome = judge(&expectation, &envelope, Headers::NotHttp);
    assert!(outcome.holds());
    assert_eq!(outcome.warnings.len(), 1);
}

#[test]
fn headers_are_judged_where_there_are_some() {
    let envelope = Answer::of_result(Json::Null);
    let rule = |name: &str, value: Value| Arc::new(HeaderRule::compile(name, &value).unwrap());
    let expectation = Expectation {
        response_headers: vec![
            rule("content-type", json!("application/json")),
            rule("X-Tag", json!({"regex": "^v\\d$"})),
            rule("x-tag", json!({"contains": "1"})),
            rule("x-tag", json!({"schema": {"maxLength": 2}})),
            rule("date", json!({"exists": true})),
        ],
        response_headers_absent: vec!["set-cookie".to_owned()],
        ..Expectation::default()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let good = [
        pair("Content-Type", "Application/JSON"),
        pair("x-tag", "v1"),
        pair("Date", "now"),
    ];
    assert!(judge(&expectation, &envelope, Headers::Known(&good)).holds());
    let bad = [pair("Content-Type", "text/html"), pair("Set-Cookie", "a=b")];
    let outcome = judge(&expectation, &envelope, Headers::Known(&bad));
    assert_eq!(outcome.failures.len(), 6, "{:?}", notes(&outcome));
    // 65
    let outcome = judge(&expectation, &envelope, Headers::NotHttp);
    assert!(notes(&outcome)[0].contains("did not come over HTTP"));
    let outcome = judge(&expectation, &envelope, Headers::NotKept);
    assert!(outcome.failures.is_empty() && outcome.doubts.len() == 1);
}

#[test]
fn mistakes_beside_the_assertions() {
    for (value, pointer) in [
        (json!(0), ""),
        (json!("2"), ""),
        (json!({}), ""),
        (json!({"budget": 1, "tokenizer": "gpt5"}), "/tokenizer"),
        (json!({"budget": 1, "mode": "panic"}), "/mode"),
        (json!({"budget": 1, "image_cost": -1}), "/image_cost"),
        (json!({"budget": 1, "tokeniser": "claude"}), "/tokeniser"),
    ] {
        assert_eq!(
            TokenBudget::compile(&value).unwrap_err().pointer,
            pointer,
            "{value}"
        );
    }
    for (name, value, pointer) in [
        ("x y", json!("v"), ""),
        ("x", json!(1), ""),
        ("x", json!({"exists": false}), "/exists"),
        ("x", json!({"regx": "a"}), "/regx"),
        ("x", json!({"regex": "("}), "/regex"),
        ("x", json!({"regex": "a", "contains": "b"}), ""),
    ] {
        let error = HeaderRule::compile(name, &value).unwrap_err();
        assert_eq!(error.pointer, pointer, "{value}");
    }
}
