//! What is examined, and what is not.

use serde_json::{Value, json};

use super::Look;
use crate::recorded::looks;

fn seen(look: &Look, text: &str) -> Option<String> {
    let mut out = Vec::new();
    look.see(text.as_bytes(), &mut out)
        .then(|| String::from_utf8(out).expect("text"))
}

/// What a schema examines.
fn of(schema: &Value) -> impl Fn(&str) -> Option<String> + use<> {
    let assertion = crate::judge::tests::assertion(&json!({
        "call": { "method": "ping" }, "expect": { "schema": schema } }));
    let look = looks::of_result(&assertion);
    move |text| seen(&look, text)
}

#[test]
fn what_nobody_looks_into_is_not_seen() {
    let see = of(
        &json!({ "required": ["content"], "properties": { "content": {
        "type": "array", "items": { "required": ["type"], "properties": { "type": { "minLength": 1 } } } } } }),
    );
    let one = r#"{"content":[{"type":"text","text":"one"}],"x":[1]}"#;
    let other = r#"{"content":[{"text":"}],\"", "type":"texts"}]}"#;
    assert_eq!(see(one), see(other));
    for different in [
        r#"{"content":[{"type":""}]}"#,
        r#"{"content":[{"type":1}]}"#,
        r#"{"content":[{}]}"#,
        r#"{"content":[{"type":"a"},{"type":"a"}]}"#,
        r#"{"content":{}}"#,
        "{}",
        "[]",
    ] {
        assert_ne!(see(different), see(one), "{different}");
    }
}

#[test]
fn a_keyword_that_is_not_known_sees_everything() {
    for schema in [
        json!({ "pattern": "a" }),
        json!({ "enum": [1, 2] }),
        json!({ "additionalProperties": false }),
        json!({ "minLength": 2 }),
    ] {
        let see = of(&schema);
        assert_eq!(see(r#"{"a":1}"#).as_deref(), Some(r#"{"a":1}"#));
    }
}

#[test]
fn kinds_of_values_are_told_apart() {
    let see = of(&json!({ "type": "object" }));
    let all = ["{}", "[]", "\"\"", "1", "1.5", "true", "null"];
    let seen: std::collections::BTreeSet<_> = all.iter().map(|text| see(text)).collect();
    assert_eq!(seen.len(), all.len());
    assert_eq!(see("1"), see("-20"));
}

#[test]
fn names_with_escapes_and_long_values_are_left_to_others() {
    let see = of(&json!({ "properties": { "a": { "const": 1 } } }));
    assert_eq!(see(r#"{"\u0061":1}"#), None);
    assert_eq!(see(&format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000))), None);
    assert!(see(&format!(r#"{{"b":"{}"}}"#, "x".repeat(10_000))).is_some());
}
