//! The object of a failed assertion: the documented members, and tapewright's own.

use serde_json::{Value, json};
use tapewright_assertions::{Answer, Evidence, Json, Verdict, compile};

use crate::support::{Desk, failure};

/// Checks that a failure has these members; `null` means that it has not.
fn has(found: &Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        let actual = found.get(name).unwrap_or(&Value::Null);
        assert_eq!(actual, value, "`{name}` of {found}");
    }
}

#[test]
fn what_every_failure_tells() {
    let assertion = json!({
        "target": "result.content[0].text",
        "matcher": {"regex": "^ping from acct_"},
        "message": "echo should round-trip the rendered message",
    });
    let found = failure(r#"{"content":[{"text":"pong from svc_demo"}]}"#, &assertion);
    has(
        &found,
        &json!({
            "test_name": "a test",
            "target": "result.content[0].text",
            "matcher": "regex",
            "message": "echo should round-trip the rendered message",
            "expected": "^ping from acct_",
            "actual": "pong from svc_demo",
            "expected_type": "string",
            "actual_type": "string",
            "missing": null,
        }),
    );
    assert_eq!(
        found.get("match"),
        Some(&Value::Null),
        "regex says `match: null`"
    );
}

#[test]
fn what_each_matcher_adds() {
    let text = r#"{"text":"hello, world!"}"#;
    let at = |target: &str, matcher: Value| json!({"target": target, "matcher": matcher});
    has(
        &failure(text, &at("result.text", json!({"exact": "hello, world"}))),
        &json!({"expected": "hello, world", "actual": "hello, world!", "diff": "+!", "path": ""}),
    );
    has(
        &failure("{}", &at("result", json!({"contains": {"isError": false}}))),
        &json!({
            "path": "/isError",
            "expected": false,
            "note": "missing key `isError` in actual value",
        }),
    );
    has(
        &failure(
            r#"{"a":{"x/y":[1,2]}}"#,
            &at("result.a", json!({"exact": {"x/y": [1, 3]}})),
        ),
        &json!({"path": "/x~1y/1", "note": "values are not equal", "actual": {"x/y": [1, 2]}}),
    );
    let schema = json!({"schema": {"properties": {"isError": {"type": "boolean"}}}});
    let found = failure(r#"{"isError":"no"}"#, &at("result", schema));
    has(
        &found["errors"][0],
        &json!({"instance_path": "/isError", "schema_path": "/properties/isError/type"}),
    );
    has(
        &failure(r#"{"n":42}"#, &at("result.n", json!({"exact": "42"}))),
        &json!({"expected_type": "string", "actual_type": "integer", "note": "types differ: expected string, actual integer"}),
    );
    let any = json!({"anyOf": [{"exact": 1}, {"exact": 2}]});
    let found = failure(r#"{"n":42}"#, &at("result.n", any));
    let note = found["note"].as_str().unwrap();
    assert!(
        note.contains("none of 2 matched") && note.contains("#1 `exact`"),
        "{note}"
    );
}

#[test]
fn a_missing_target_says_where_the_way_ended() {
    let assertion = json!({"target": "result.content[0].txt", "matcher": {"exact": "x"}});
    let found = failure(r#"{"content":[{"text":"x","type":"text"}]}"#, &assertion);
    has(
        &found,
        &json!({
            "actual": null,
            "actual_type": "missing",
            "missing": "no member `txt` in `result.content[0]`, which is an object with `text`, `type`",
        }),
    );
}

#[test]
fn numbers_keep_their_digits() {
    let assertion = json!({"target": "result.n", "matcher": {"exact": 1}});
    let compiled = compile(&assertion).unwrap();
    let digits = "123456789012345678901234567890";
    let envelope =
        Answer::of_result(Json::read(format!(r#"{{"n":{digits}}}"#).as_bytes()).unwrap());
    let evidence = Evidence {
        envelope: &envelope,
        world: &Desk::default(),
    };
    let Verdict::Failed(failure) = compiled.judge(&evidence) else {
        panic!("it fails");
    };
    let text = failure.to_json("t").to_string();
    assert!(text.contains(&format!("\"actual\":{digits}")), "{text}");
}

#[test]
fn a_snapshot_is_recorded_compared_and_refreshed() {
    let desk = Desk::default();
    let judge = |result: &str, matcher: Value| {
        let envelope = Answer::of_result(Json::read(result.as_bytes()).unwrap());
        let assertion = compile(&json!({"target": "result", "matcher": matcher})).unwrap();
        assertion.judge(&Evidence {
            envelope: &envelope,
            world: &desk,
        })
    };
    let key = json!({"snapshot": "tools/echo"});
    assert_eq!(judge(r#"{"a":1}"#, key.clone()), Verdict::Passed);
    assert_eq!(judge(r#"{"a":1.0}"#, key.clone()), Verdict::Passed);
    let Verdict::Failed(failure) = judge(r#"{"a":2}"#, key.clone()) else {
        panic!("it differs");
    };
    assert_eq!(
        failure.note.as_deref(),
        Some(
            "snapshot at snapshots/tools/echo.json did not match (run with --update-snapshots to refresh)"
        )
    );
    assert_eq!(failure.expected, Some(Json::read(br#"{"a":1}"#).unwrap()));
    let refresh = json!({"snapshot": {"name": "tools/echo", "update": true}});
    assert_eq!(judge(r#"{"a":2}"#, refresh), Verdict::Passed);
    assert_eq!(judge(r#"{"a":2}"#, key), Verdict::Passed);
}

#[test]
fn a_transform_stands_between_target_and_matcher() {
    let judge = |transform: &str, matcher: Value| {
        let envelope = Answer::of_result(Json::read(br#"{"name":"echo"}"#).unwrap());
        let assertion =
            json!({"target": "result.name", "transform": transform, "matcher": matcher});
        let desk = Desk::default();
        let assertion = compile(&assertion).unwrap();
        assertion.judge(&Evidence {
            envelope: &envelope,
            world: &desk,
        })
    };
    assert_eq!(judge("upcase", json!({"exact": "ECHO"})), Verdict::Passed);
    let Verdict::Failed(failure) = judge("nope 'x y'", json!({"exact": "echo"})) else {
        panic!("the command fails");
    };
    assert_eq!(failure.matcher, "transform");
    assert_eq!(failure.note.as_deref(), Some("`nope` failed"));
}
