//! `tapewright export --as otlp` and `--as har`.

use std::collections::{HashMap, HashSet};
use std::fs;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use serde_json::{Value, json};

use super::golden::{folder, run};

const STDIO: &str = include_str!("../../wire/handshake-stdio.tape.jsonl");
const HTTP: &str = include_str!("../../wire/handshake-http.tape.jsonl");
const SSE: &str = include_str!("../../wire/handshake-sse.tape.jsonl");
const STATELESS: &str = include_str!("../../wire/stateless-http.tape.jsonl");
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn export(tape: &str, format: &str) -> String {
    let folder = folder(&[("fs.tape.jsonl", tape)]);
    let (status, _, said) = run(
        folder.path(),
        &["export", "fs.tape.jsonl", "--as", format, "-o", "made"],
    );
    assert_eq!(status, 0, "{said}");
    fs::read_to_string(folder.path().join("made")).unwrap()
}

fn spans(tape: &str) -> Vec<Value> {
    let made = export(tape, "otlp");
    let requests = made
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let spans = requests.flat_map(|request| {
        request["resourceSpans"][0]["scopeSpans"][0]["spans"]
            .as_array()
            .unwrap()
            .clone()
    });
    spans.collect()
}

/// The attributes of a span, by name.
fn attributes(one: &Value) -> HashMap<&str, &Value> {
    let all = one["attributes"].as_array().unwrap();
    all.iter()
        .map(|one| (one["key"].as_str().unwrap(), &one["value"]))
        .collect()
}

fn nanos(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The bytes of hexadecimal digits.
fn bytes(digits: &Value) -> Vec<u8> {
    let pairs = digits.as_str().unwrap().as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// A tape of one session over stdio; each line of `told` is an event.
fn tape(told: &[Value]) -> String {
    let header = json!({"tape": "2.3", "created": "2026-11-21T04:00:00Z", "by": "tapewright 0.1.0", "transport": "stdio", "label": "fs", "pid": 1});
    let mut lines = vec![header.to_string()];
    for (seq, event) in (1..).zip(told) {
        let mut line = json!({"seq": seq, "at_us": seq * 1000});
        line.as_object_mut()
            .unwrap()
            .extend(event.as_object().unwrap().clone());
        lines.push(line.to_string());
    }
    lines.join("\n") + "\n"
}

fn ask(id: u64, params: &Value) -> Value {
    json!({"dir": "to_server", "era": "handshake", "message": {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}})
}

fn answer(id: u64, result: &Value) -> Value {
    json!({"dir": "to_client", "era": "handshake", "message": {"jsonrpc": "2.0", "id": id, "result": result}})
}

#[test]
fn a_trace_is_one_tree_for_each_session_of_every_carrier() {
    for tape in [STDIO, HTTP, SSE, STATELESS] {
        let spans = spans(tape);
        let ids: HashSet<_> = spans
            .iter()
            .map(|span| span["spanId"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), spans.len());
        assert!(spans.len() > 3);
        for span in &spans {
            assert_eq!(
                (
                    span["traceId"].as_str().unwrap().len(),
                    span["spanId"].as_str().unwrap().len()
                ),
                (32, 16)
            );
            assert!(nanos(&span["startTimeUnixNano"]) <= nanos(&span["endTimeUnixNano"]));
            if let Some(parent) = span["parentSpanId"].as_str() {
                let parent = spans.iter().find(|one| one["spanId"] == parent).unwrap();
                assert!(nanos(&parent["startTimeUnixNano"]) <= nanos(&span["startTimeUnixNano"]));
                assert!(nanos(&parent["endTimeUnixNano"]) >= nanos(&span["endTimeUnixNano"]));
                assert_eq!(parent["traceId"], span["traceId"]);
            }
        }
    }
}

#[test]
fn the_types_of_otlp_read_every_value_that_was_written() {
    for tape in [STDIO, HTTP, SSE, STATELESS] {
        let (made, mut read) = (export(tape, "otlp"), Vec::new());
        for line in made.lines() {
            let request: ExportTraceServiceRequest = serde_json::from_str(line).unwrap();
            let [resource] = request.resource_spans.as_slice() else {
                panic!("{request:?}");
            };
            let about = resource.resource.as_ref().unwrap();
            assert!(about.attributes.iter().any(|one| one.key == "service.name"));
            read.extend(resource.scope_spans[0].spans.clone());
        }
        let written = spans(tape);
        assert_eq!(read.len(), written.len());
        for (read, written) in read.iter().zip(&written) {
            assert_eq!(bytes(&written["traceId"]), read.trace_id);
            assert_eq!(bytes(&written["spanId"]), read.span_id);
            assert_eq!(
                nanos(&written["startTimeUnixNano"]),
                read.start_time_unix_nano
            );
            assert_eq!(nanos(&written["endTimeUnixNano"]), read.end_time_unix_nano);
            assert_eq!(written["kind"], read.kind);
            let told = attributes(written);
            assert_eq!(told.len(), read.attributes.len(), "no name twice");
            for one in &read.attributes {
                let value = match one.value.as_ref().unwrap().value.as_ref().unwrap() {
                    any_value::Value::StringValue(text) => json!({"stringValue": text}),
                    any_value::Value::IntValue(number) => json!({"intValue": number.to_string()}),
                    other => panic!("{other:?}"),
                };
                assert_eq!(told[one.key.as_str()], &value);
            }
        }
    }
}

#[test]
fn an_exchange_has_the_names_of_the_conventions() {
    let spans = spans(STDIO);
    let one = |name: &str| {
        spans
            .iter()
            .find(|span| span["name"].as_str().unwrap().starts_with(name))
            .unwrap()
    };
    let call = one("tools/call ");
    let told = attributes(call);
    assert_eq!(call["kind"], 3);
    assert_eq!(told["mcp.method.name"]["stringValue"], "tools/call");
    assert_eq!(told["gen_ai.operation.name"]["stringValue"], "execute_tool");
    assert_eq!(
        call["name"],
        format!(
            "tools/call {}",
            told["gen_ai.tool.name"]["stringValue"].as_str().unwrap()
        )
    );
    assert_eq!(told["network.transport"]["stringValue"], "pipe");
    assert!(told.contains_key("mcp.protocol.version"));
    assert!(!attributes(one("tools/list")).contains_key("gen_ai.operation.name"));
    let first = export(STDIO, "otlp");
    assert_eq!(
        first,
        export(STDIO, "otlp"),
        "the same recording is the same trace"
    );
}

#[test]
fn a_request_with_a_traceparent_stands_below_its_client() {
    let told = [
        ask(
            1,
            &json!({"name": "add", "_meta": {"traceparent": PARENT, "tracestate": "a=b"}}),
        ),
        answer(1, &json!({"content": [], "isError": true})),
        ask(2, &json!({"name": "sleep"})),
    ];
    let spans = spans(&tape(&told));
    let [failed, hung, session] = spans.as_slice() else {
        panic!("{spans:?}");
    };
    assert_eq!(failed["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(
        (failed["parentSpanId"].as_str(), failed["kind"].as_u64()),
        (Some("b7ad6b7169203331"), Some(1))
    );
    assert_eq!(
        (&failed["traceState"], &failed["links"][0]["spanId"]),
        (&json!("a=b"), &session["spanId"])
    );
    assert_eq!(
        attributes(failed)["error.type"]["stringValue"],
        "tool_error"
    );
    assert_eq!(failed["status"]["code"], 2);
    assert_eq!(hung["parentSpanId"], session["spanId"]);
    assert_eq!(hung["events"][0]["name"], "tapewright.hang");
    assert_eq!(hung["status"]["code"], 2);
}

#[test]
fn a_gap_is_told_with_its_session() {
    let gap = json!({"gap": {"events": 3, "bytes": 70, "why": "queue_full"}});
    let told = [
        ask(1, &json!({"name": "add"})),
        gap,
        answer(1, &json!({"content": []})),
    ];
    let spans = spans(&tape(&told));
    let events: Vec<_> = spans
        .iter()
        .flat_map(|span| span["events"].as_array().cloned().unwrap_or_default())
        .collect();
    let gap = events
        .iter()
        .find(|event| event["name"] == "tapewright.gap")
        .unwrap();
    assert_eq!(attributes(gap)["tapewright.gap.events"]["intValue"], "3");
}

#[test]
fn a_session_that_speaks_again_after_its_end_is_told_once() {
    let at = |seconds: u64, event: Value| {
        let mut event = event;
        event["at_us"] = (seconds * 1_000_000).into();
        event["session"] = 1.into();
        event
    };
    let mut told = vec![at(0, json!({"conduit": 1, "began": "session id"}))];
    for (round, seconds) in [1, 40, 80].into_iter().enumerate() {
        let id = round as u64;
        told.push(at(seconds, ask(id, &json!({"name": "read"}))));
        told.push(at(seconds, answer(id, &json!({"content": []}))));
        // More than ten seconds before its next message.
        told.push(at(seconds + 1, json!({"conduit": 1, "ended": "deleted"})));
    }
    let spans = spans(&tape(&told));
    let sessions: Vec<&Value> = spans
        .iter()
        .filter(|one| one["name"] == "session fs")
        .collect();
    let [session] = sessions.as_slice() else {
        panic!("{spans:?}")
    };
    let calls = spans.iter().filter(|one| one["name"] == "tools/call read");
    assert_eq!(calls.count(), 3);
    for one in &spans {
        // A later event is still below it, and has its id.
        let parent = one.get("parentSpanId");
        assert!(parent.is_none_or(|parent| *parent == session["spanId"]));
        assert!(attributes(one).contains_key("mcp.session.id"), "{one}");
    }
}

#[test]
fn what_has_no_times_is_refused() {
    let cassette = r#"{"version":"1","exchanges":[{"request":{"jsonrpc":"2.0","id":1,"method":"ping"},"response":{"jsonrpc":"2.0","id":1,"result":{}}}]}"#;
    for format in ["otlp", "har"] {
        let folder = folder(&[("fs.json", cassette)]);
        let (status, _, said) = run(
            folder.path(),
            &["export", "fs.json", "--as", format, "-o", "made"],
        );
        assert_eq!(status, 2);
        assert!(
            said.contains("no times in") && said.contains("export the tape"),
            "{said}"
        );
        assert!(!folder.path().join("made").exists());
    }
}

#[test]
fn an_archive_has_each_http_exchange_with_its_times_and_its_events() {
    for tape in [HTTP, SSE, STATELESS] {
        let archive: Value = serde_json::from_str(&export(tape, "har")).unwrap();
        let entries = archive["log"]["entries"].as_array().unwrap();
        let heads = tape
            .lines()
            .filter(|line| line.contains(r#""dir":"to_server","request":"#))
            .count();
        assert_eq!(entries.len(), heads);
        assert_eq!(archive["log"]["version"], "1.2");
        for entry in entries {
            let part = |name: &str| entry["timings"][name].as_f64().unwrap();
            let parts = ["send", "wait", "receive"].map(part);
            assert!(parts.iter().all(|part| *part >= 0.0), "{entry}");
            assert!((entry["time"].as_f64().unwrap() - parts.iter().sum::<f64>()).abs() < 1e-6);
            assert!(
                entry["request"]["url"]
                    .as_str()
                    .unwrap()
                    .starts_with("http://"),
                "{entry}"
            );
            if entry["request"]["method"] == "POST" {
                let text = entry["request"]["postData"]["text"].as_str().unwrap();
                serde_json::from_str::<Value>(text).unwrap();
            }
        }
        let streams: Vec<_> = entries
            .iter()
            .filter_map(|entry| {
                entry["_eventSourceMessages"]
                    .as_array()
                    .map(|events| (entry, events))
            })
            .collect();
        let is_stream = |entry: &&Value| {
            let kind = &entry["response"]["content"]["mimeType"];
            kind.as_str().unwrap().starts_with("text/event-stream")
        };
        let with_text = entries.iter().filter(is_stream);
        let with_text = with_text.filter(|entry| !entry["response"]["content"]["text"].is_null());
        assert_eq!(streams.len(), with_text.count());
        assert!(!streams.is_empty());
        for (entry, events) in streams {
            let text = entry["response"]["content"]["text"].as_str().unwrap();
            assert!(tape != SSE || events.len() > 20, "{}", events.len());
            let ends = text.split("\n\n").filter(|one| !one.is_empty());
            let ends = ends.filter(|one| !one.starts_with(':'));
            assert_eq!(ends.count(), events.len());
            for event in events.iter().filter(|event| event["data"] != "") {
                assert!(
                    text.contains(&format!("data: {}\n", event["data"].as_str().unwrap())),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn a_session_without_http_is_no_archive() {
    let folder = folder(&[("fs.tape.jsonl", STDIO)]);
    for output in [&["-o", "made"][..], &[]] {
        let arguments = [&["export", "fs.tape.jsonl", "--as", "har"], output].concat();
        let (status, out, said) = run(folder.path(), &arguments);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(
            said.contains("no HTTP exchanges in") && said.contains("`--as otlp`"),
            "{said}"
        );
        assert!(!folder.path().join("made").exists());
    }
}

#[test]
fn a_call_of_a_model_names_the_model_that_was_asked_and_the_one_that_answered() {
    let folder = folder(&[]);
    crate::replay::models::recording(&folder.path().join("one"));
    let tape = fs::read_to_string(folder.path().join("one/models.tape.jsonl")).unwrap();
    let spans = spans(&tape);
    let call = &spans[0];
    let told = attributes(call);
    assert_eq!(call["name"], "chat claude-x");
    assert_eq!(told["gen_ai.request.model"]["stringValue"], "claude-x");
    assert_eq!(told["gen_ai.response.model"]["stringValue"], "claude-x-1");
    assert_eq!(told["gen_ai.usage.output_tokens"]["intValue"], "2");
}
