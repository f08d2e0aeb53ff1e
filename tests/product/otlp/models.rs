//! The traces of an agent: its models and its servers in one.

use std::collections::HashSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Collector, LIMIT, attribute, exported, sorted};
use crate::support::http::{Gateway, Strict, json as http_json, request};
use crate::support::{peer, tapewright, wait};

/// A provider that answers, or is overloaded.
fn provider() -> Strict {
    Strict::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap();
        if asked["model"] == "busy" {
            let why = json!({"error": {"message": "later", "type": "rate_limit"}});
            return http_json("429 Too Many Requests", "", &why.to_string()).into_bytes();
        }
        let answer = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "model": "small-2026-01-01",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "four"}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        });
        http_json("200 OK", "", &answer.to_string()).into_bytes()
    })
}

fn ask(gateway: &Gateway, model: &str) {
    let mut client = gateway.connect();
    let body = json!({"model": model, "messages": [{"role": "user", "content": "two and two?"}]})
        .to_string();
    let fields = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    client.send(request("POST /openai/chat/completions", gateway.address, &fields) + &body);
    let head = client.head();
    client.body(&head);
}

fn number(span: &Value, name: &str) -> Option<String> {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name)?;
    Some(found["value"]["intValue"].as_str().unwrap().to_owned())
}

#[test]
fn calls_of_models_are_spans_by_the_conventions_for_generative_ai() {
    let (collector, provider) = (Collector::good(), provider());
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command
        .args(["record", "--models", "--listen", "127.0.0.1:0", "-o"])
        .arg(folder.path().join("run"))
        .arg(format!("--provider=openai=http://{}", provider.address()))
        .args(["--otlp", &collector.url()])
        .env("OTEL_BSP_SCHEDULE_DELAY", "20");
    let mut gateway = Gateway::of(folder, &mut command);
    ask(&gateway, "small");
    ask(&gateway, "busy");
    gateway.signal("TERM");
    let ended = wait(&mut gateway.child, LIMIT);
    assert_eq!(ended.code(), Some(gateway.regular()));
    let spans = collector.spans();
    let folder = gateway.folder.path();
    let made = exported(folder, "run/models.tape.jsonl", &[]);
    assert_eq!(sorted(spans.clone()), sorted(made));
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let answered = named("chat small");
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "small"),
        ("gen_ai.response.model", "small-2026-01-01"),
        ("gen_ai.response.id", "chatcmpl-1"),
    ] {
        assert_eq!(attribute(answered, name), Some(value), "{name}");
    }
    let tokens = |name: &str| number(answered, &format!("gen_ai.usage.{name}_tokens"));
    assert_eq!(tokens("input").as_deref(), Some("12"));
    assert_eq!(tokens("output").as_deref(), Some("3"));
    assert_eq!(answered["kind"], 3);
    let busy = named("chat busy");
    assert_eq!(attribute(busy, "error.type"), Some("429"));
    assert_eq!(busy["status"]["code"], 2);
    // The contents of requests and answers are not sent.
    let told = Value::from(spans.clone()).to_string();
    assert!(
        !told.contains("two and two") && !told.contains("four"),
        "{told}"
    );
}

#[test]
fn the_servers_of_an_agent_and_its_models_are_one_trace() {
    let collector = Collector::good();
    let folder = tempfile::tempdir().unwrap();
    let script = r#"ask() { echo '{"jsonrpc":"2.0","id":1,"method":"ping"}'; }
        ask | "$RECORDER" record --label first -- "$PEER" answer log1
        ask | "$RECORDER" record --label second -- "$PEER" answer log2"#;
    let mut command = tapewright();
    command
        .args([
            "record",
            "--models",
            "--otlp",
            &collector.url(),
            "-o",
            "run/",
        ])
        .args(["--", "sh", "-c", script])
        .env("RECORDER", env!("CARGO_BIN_EXE_tapewright"))
        .env("PEER", peer())
        .env("TAPEWRIGHT_HOME", folder.path().join("home"))
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let spans = collector.spans();
    let run = folder.path().join("run");
    let mut made = Vec::new();
    for tape in std::fs::read_dir(run).unwrap() {
        let path = tape.unwrap().path();
        if path.to_string_lossy().ends_with(".tape.jsonl") {
            made.extend(exported(folder.path(), path.to_str().unwrap(), &[]));
        }
    }
    assert_eq!(sorted(spans.clone()), sorted(made));
    let names: HashSet<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    for name in ["session first", "session second", "ping"] {
        assert!(names.contains(name), "{names:?}");
    }
    let traces: HashSet<&str> = spans
        .iter()
        .map(|span| span["traceId"].as_str().unwrap())
        .collect();
    assert_eq!(traces.len(), 1, "{traces:?}");
    assert!(Path::new(&folder.path().join("run/first.tape.jsonl")).exists());
}
