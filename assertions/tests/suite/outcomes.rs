//! The rows of the reference that concern matchers and targets, by their numbers there; row 0 is
//! additional.

use serde_json::{Value, json};
use tapewright_assertions::Json;

use crate::support::Out::{Error, Fail, Load, Pass};
use crate::support::{Out, judge, judge_at_root};

/// Row, outcome, result, target and matcher, separated by bars.
const ROWS: [(&str, &str); 8] = [
    ("containment", include_str!("rows/containment.txt")),
    ("equality", include_str!("rows/equality.txt")),
    ("expressions", include_str!("rows/expressions.txt")),
    ("formats", include_str!("rows/formats.txt")),
    (
        "negation_and_composition",
        include_str!("rows/negation_and_composition.txt"),
    ),
    ("schemas", include_str!("rows/schemas.txt")),
    ("targets", include_str!("rows/targets.txt")),
    ("text", include_str!("rows/text.txt")),
];

#[test]
fn every_row_comes_out_as_promised() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, rows) in ROWS {
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            let mut parts = row.splitn(5, " | ").map(str::trim);
            let mut part = || parts.next().unwrap();
            let (_, outcome, result, target, matcher) = (part(), part(), part(), part(), part());
            let matcher: Value = serde_json::from_str(matcher).unwrap();
            let found = judge(result, target, &matcher);
            if found != outcome_of(outcome) {
                wrong.push(format!("{name}: {row}: {found:?}"));
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 130, "only {count} rows were read");
}

fn outcome_of(word: &str) -> Out {
    match word {
        "pass" => Pass,
        "fail" => Fail,
        "error" => Error,
        "load" => Load,
        other => panic!("no outcome: {other}"),
    }
}

/// Rows 63 and 64: the trace of an agent is judged at its root, and numbers are text to a pattern.
#[test]
fn a_trace_of_an_agent_is_judged_at_its_root() {
    let trace = r#"{
        "tool_calls": [{"name": "search", "server": "s", "args": {"q": "x"}, "hop_index": 0}],
        "tool_names": ["search"],
        "tool_results": [{"server": "s", "isError": false, "result": {"content": []}}],
        "final_response": "done",
        "conversation": {"tokens": {"total": 1204, "prompt": 1000, "completion": 204},
            "stop_reason": "completed", "per_turn": []}
    }"#;
    let trace = Json::read(trace.as_bytes()).unwrap();
    for (outcome, target, matcher) in [
        (
            Pass,
            "conversation.tokens.total",
            json!({"regex": "^[0-9]+$"}),
        ),
        (
            Fail,
            "conversation.tokens.total",
            json!({"regex": "^[a-z]+$"}),
        ),
        (Pass, "tool_results[0].isError", json!({"exact": false})),
        (Fail, "tool_results[0].isError", json!({"exact": true})),
        (Pass, "tool_calls.length", json!({"exact": 1})),
        (Pass, "tool_calls[0].args.q", json!({"exact": "x"})),
        (
            Fail,
            "result.conversation.tokens.total",
            json!({"regex": "^[0-9]+$"}),
        ),
    ] {
        let assertion = json!({"target": target, "matcher": matcher});
        assert_eq!(
            judge_at_root(&trace, &assertion),
            outcome,
            "{target} {matcher}"
        );
    }
}

#[test]
fn a_schema_of_64_levels_is_the_deepest() {
    let nested = |levels: usize| {
        let start = json!({"type": "string"});
        json!({"schema": (0..levels).fold(start, |inner, _| json!({"not": inner}))})
    };
    assert_eq!(judge(r#"{"v":1}"#, "result.v", &nested(62)), Fail);
    assert_eq!(judge(r#"{"v":1}"#, "result.v", &nested(63)), Load);
}

/// A schema whose validation doubles with each of 40 steps.
fn doubling() -> Value {
    let mut defs = serde_json::Map::new();
    for step in 0..40 {
        let next = json!({"$ref": format!("#/$defs/a{}", step + 1)});
        defs.insert(format!("a{step}"), json!({"allOf": [next.clone(), next]}));
    }
    defs.insert("a40".to_owned(), json!({}));
    json!({"schema": {"$ref": "#/$defs/a0", "$defs": defs}})
}

#[test]
fn a_schema_that_would_take_forever_is_not_begun() {
    assert_eq!(judge(r#"{"v":1}"#, "result.v", &doubling()), Error);
}

#[test]
fn what_cannot_be_judged_is_no_pass_inside_of_not() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let all = [
        ("1".to_owned(), doubling()),
        (format!("\"{deep}\""), json!({"is-json": null})),
        (
            format!("\"{deep}\""),
            json!({"is-json": {"schema": {"type": "object"}}}),
        ),
    ];
    for (value, matcher) in all {
        let result = format!(r#"{{"v":{value}}}"#);
        for around in [
            json!({"not": matcher}),
            json!({"not": {"not": matcher}}),
            json!({"not": {"allOf": [matcher]}}),
            json!({"not": {"anyOf": [matcher]}}),
        ] {
            assert_eq!(judge(&result, "result.v", &around), Error, "{around}");
        }
    }
}

#[test]
fn xml_is_judged_however_deep_it_nests() {
    let (open, close) = ("<a>".repeat(50_000), "</a>".repeat(50_000));
    for (text, whole) in [(format!("{open}{close}"), true), (open, false)] {
        let result = format!(r#"{{"v":"{text}"}}"#);
        let (outcome, inverted) = if whole { (Pass, Fail) } else { (Fail, Pass) };
        let xml = json!({"is-xml": null});
        assert_eq!(judge(&result, "result.v", &xml), outcome);
        assert_eq!(judge(&result, "result.v", &json!({"not": xml})), inverted);
    }
}

#[test]
fn an_expression_that_would_take_forever_is_not_begun() {
    let many = format!(r#"{{"a":[{}]}}"#, vec!["1"; 3000].join(","));
    let cube = json!({"cel": "value.all(x, value.all(y, value.all(z, x == y && y == z)))"});
    assert_eq!(judge(&many, "result.a", &cube), Error);
    let once = json!({"cel": "value.all(x, x == 1)"});
    assert_eq!(judge(&many, "result.a", &once), Pass);
}
