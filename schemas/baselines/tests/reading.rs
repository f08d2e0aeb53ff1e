//! What is read, preserved, written and rejected.

#![expect(
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "a test may fail, and keeps its table in one place"
)]

use serde_json::{Value, json};
use tapewright_baselines::{Baseline, MAX_BYTES, read_invariants};

/// The example of the format, with all five kinds of invariants.
fn sample() -> Value {
    json!({
        "schema": "https://mcptest.sh/schema/model-compat/v1.json",
        "version": 1,
        "model_id": "anthropic:claude-sonnet-4.5",
        "model_version": "20251022",
        "mcptest_version": "0.1.0",
        "server_version": "1.0.0",
        "server_config_hash": "sha256:b3e1c7a4",
        "config_fingerprint": {
            "invariants": ["tool_called", "tool_order", "tool_args", "response_shape", "finish_reason"],
            "variances": ["text_content", "field_order", "whitespace", "case", "additive_fields"],
            "later": true
        },
        "assertions": [{
            "id": "tests/triage.yml::find-then-file::step-1",
            "content": [
                {"type": "text", "text": "Looking up the account.", "citations": []},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"}
            ],
            "tool_calls": [
                {"name": "lookup_account", "arguments": {"id": "acct-7"}, "index": 0},
                {"name": "create_issue", "arguments": {"title": "Overflow", "repo": "search-svc"},
                 "raw_arguments": "{\"title\":\"Overflow\",\"repo\":\"search-svc\"}"}
            ],
            "finish_reason": "tool_use",
            "mcp_messages": [{"direction": "to_server", "method": "tools/call", "body": {"b": 1, "a": 2}}],
            "note": {"z": 1, "a": 2}
        }],
        "invariants": [
            {"name": "calls", "kind": "tool_called", "condition": {"tool": "lookup_account"}},
            {"name": "has", "kind": "arg_present", "condition": {"tool": "lookup_account", "arg": "id", "why": "x"}},
            {"name": "says", "kind": "response_field_present", "condition": {"text": "account"}, "owner": "us"},
            {"name": "means", "kind": "response_semantic_match", "condition": {"text": "LOOKING"}, "id": "*::step-1"},
            {"name": "fast", "kind": "latency_under_ms", "condition": {"ms": 5000}}
        ],
        "later": [1, {"y": 1, "x": 2}]
    })
}

#[test]
fn everything_is_kept_and_written_canonically() {
    let text = Baseline::read(format!("{:#}\n", sample()).as_bytes())
        .unwrap()
        .write();
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, sample());
    assert!(!text.contains('\n') && !text.contains(": "), "{text}");
    assert!(
        text.starts_with("{\"assertions\":[{\"content\":[{\"citations\":[],\"text\":"),
        "{text}"
    );
    assert!(
        text.contains("{\"arguments\":{\"repo\":\"search-svc\",\"title\":\"Overflow\"},\"name\"")
    );
    assert!(text.ends_with("\"version\":1}"), "{text}");
    assert_eq!(Baseline::read(text.as_bytes()).unwrap().write(), text);
}

#[test]
fn invariants_and_messages_may_be_missing() {
    let mut short = sample();
    let map = short.as_object_mut().unwrap();
    map.remove("invariants");
    let exchange = map.get_mut("assertions").unwrap().get_mut(0).unwrap();
    exchange.as_object_mut().unwrap().remove("mcp_messages");
    let text = Baseline::read(short.to_string().as_bytes())
        .unwrap()
        .write();
    assert!(
        text.contains("\"invariants\":[]") && !text.contains("mcp_messages"),
        "{text}"
    );
}

/// The sample without, or with another, value at a pointer.
fn changed(pointer: &str, value: Option<Value>) -> String {
    let mut all = sample();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = all.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), None) => {
            map.remove(name);
        }
        (Value::Object(map), Some(value)) => {
            map.insert(name.to_owned(), value);
        }
        (Value::Array(list), Some(value)) => {
            let at: usize = name.parse().unwrap();
            if at == list.len() {
                list.push(value);
            } else if let Some(place) = list.get_mut(at) {
                *place = value;
            }
        }
        (other, _) => panic!("{other}"),
    }
    all.to_string()
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let first = sample().pointer("/assertions/0").unwrap().clone();
    let cases: &[(&str, Option<Value>, &str)] = &[
        ("/schema", None, "missing member at `/schema`"),
        ("/version", None, "missing member at `/version`"),
        (
            "/version",
            Some(json!("1")),
            "expected a whole number at `/version`",
        ),
        (
            "/version",
            Some(json!(2)),
            "version 2, where only 1 can be compared, at `/version`",
        ),
        (
            "/model_id",
            Some(json!("")),
            "expected a text that is not empty at `/model_id`",
        ),
        (
            "/model_version",
            Some(json!(null)),
            "expected a string at `/model_version`",
        ),
        (
            "/mcptest_version",
            None,
            "missing member at `/mcptest_version`",
        ),
        (
            "/server_version",
            Some(json!(1)),
            "expected a string at `/server_version`",
        ),
        (
            "/server_config_hash",
            None,
            "missing member at `/server_config_hash`",
        ),
        (
            "/config_fingerprint",
            None,
            "missing member at `/config_fingerprint`",
        ),
        (
            "/config_fingerprint",
            Some(json!([])),
            "expected an object at `/config_fingerprint`",
        ),
        (
            "/config_fingerprint/variances",
            None,
            "missing member at `/config_fingerprint/variances`",
        ),
        (
            "/config_fingerprint/invariants/1",
            Some(json!(1)),
            "expected a string at `/config_fingerprint/invariants/1`",
        ),
        ("/assertions", None, "missing member at `/assertions`"),
        (
            "/assertions",
            Some(json!({})),
            "expected a list at `/assertions`",
        ),
        (
            "/assertions/0",
            Some(json!("x")),
            "expected an object at `/assertions/0`",
        ),
        (
            "/assertions/0/id",
            None,
            "missing member at `/assertions/0/id`",
        ),
        (
            "/assertions/0/id",
            Some(json!("")),
            "expected a text that is not empty at `/assertions/0/id`",
        ),
        (
            "/assertions/1",
            Some(first),
            "the id of another exchange, `/assertions/0`, at `/assertions/1/id`",
        ),
        (
            "/assertions/0/content",
            None,
            "missing member at `/assertions/0/content`",
        ),
        (
            "/assertions/0/content/0",
            Some(json!("x")),
            "expected an object at `/assertions/0/content/0`",
        ),
        (
            "/assertions/0/content/1/type",
            None,
            "missing member at `/assertions/0/content/1/type`",
        ),
        (
            "/assertions/0/content/0/text",
            Some(json!(1)),
            "expected a string at `/assertions/0/content/0/text`",
        ),
        (
            "/assertions/0/tool_calls",
            None,
            "missing member at `/assertions/0/tool_calls`",
        ),
        (
            "/assertions/0/tool_calls/1/name",
            Some(json!("")),
            "expected a text that is not empty at `/assertions/0/tool_calls/1/name`",
        ),
        (
            "/assertions/0/tool_calls/0/arguments",
            None,
            "missing member at `/assertions/0/tool_calls/0/arguments`",
        ),
        (
            "/assertions/0/tool_calls/1/raw_arguments",
            Some(json!({})),
            "expected a string at `/assertions/0/tool_calls/1/raw_arguments`",
        ),
        (
            "/assertions/0/finish_reason",
            Some(json!("end_turn")),
            "expected `stop`, `tool_use`, `max_tokens` or `other` at `/assertions/0/finish_reason`",
        ),
        (
            "/assertions/0/latency_ms",
            Some(json!(-1)),
            "expected a whole number at `/assertions/0/latency_ms`",
        ),
        (
            "/assertions/0/mcp_messages",
            Some(json!(["x"])),
            "expected an object at `/assertions/0/mcp_messages/0`",
        ),
        (
            "/assertions/0/variants",
            Some(json!([{"content": []}])),
            "missing member at `/assertions/0/variants/0/tool_calls`",
        ),
        (
            "/assertions/0/seen",
            Some(json!(2)),
            "expected at least one of the runs at `/assertions/0/seen`",
        ),
        (
            "/runs",
            Some(json!(0)),
            "expected a number of runs from 1 to 100 at `/runs`",
        ),
        (
            "/invariants",
            Some(json!(null)),
            "expected a list at `/invariants`",
        ),
        (
            "/invariants/0/name",
            None,
            "missing member at `/invariants/0/name`",
        ),
        (
            "/invariants/0/kind",
            Some(json!("tool_used")),
            "expected `tool_called`, `arg_present`, `response_field_present`, `response_semantic_match` or `latency_under_ms` at `/invariants/0/kind`",
        ),
        (
            "/invariants/0/condition",
            None,
            "missing member at `/invariants/0/condition`",
        ),
        (
            "/invariants/0/condition/tool",
            None,
            "missing member at `/invariants/0/condition/tool`",
        ),
        (
            "/invariants/1/condition/arg",
            None,
            "missing member at `/invariants/1/condition/arg`",
        ),
        (
            "/invariants/2/condition/text",
            Some(json!(1)),
            "expected a string at `/invariants/2/condition/text`",
        ),
        (
            "/invariants/4/condition/ms",
            Some(json!("5s")),
            "expected a whole number at `/invariants/4/condition/ms`",
        ),
    ];
    for (pointer, value, wanted) in cases {
        let error = Baseline::read(changed(pointer, value.clone()).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), *wanted, "{pointer} {value:?}");
    }
}

#[test]
fn what_is_no_json_is_told_with_its_place_too() {
    for (text, wanted) in [
        (
            "",
            "not JSON (EOF while parsing a value at line 1 column 0) at `/`",
        ),
        ("[]", "expected an object at `/`"),
        (
            "{} {}",
            "not JSON (trailing characters at line 1 column 4) at `/`",
        ),
        (
            "{\"assertions\":[{},{\"id\": x}]}",
            "not JSON (expected value at line 1 column 26) at `/assertions/1/id`",
        ),
        (
            "{\"assertions\":[{\"id\":\"a\",\n\"id\":\"b\"}]}",
            "not JSON (duplicate member at line 2 column 4) at `/assertions/0/id`",
        ),
    ] {
        assert_eq!(
            Baseline::read(text.as_bytes()).unwrap_err().to_string(),
            wanted,
            "{text}"
        );
    }
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let error = Baseline::read(format!("{{\"assertions\":{deep}}}").as_bytes()).unwrap_err();
    assert!(
        error.to_string().starts_with("not JSON (recursion limit"),
        "{error}"
    );
    let error = Baseline::read(&vec![b' '; MAX_BYTES + 1]).unwrap_err();
    assert_eq!(error.to_string(), "longer than 64 MiB at `/`");
}

#[test]
fn invariants_are_read_alone() {
    let list = sample().get("invariants").unwrap().to_string();
    assert_eq!(read_invariants(list.as_bytes()).unwrap().len(), 5);
    let error = read_invariants(
        b"[{\"name\":\"x\",\"kind\":\"arg_present\",\"condition\":{\"tool\":\"t\"}}]",
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "missing member at `/0/condition/arg`"
    );
}
