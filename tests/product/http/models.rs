//! Model calls through the gateway: unchanged, not treated as MCP messages, and reported by
//! `inspect`.

use tapewright_schemas::event::Direction;

use crate::support::http::{Gateway, Wire, json, pair, request};
use crate::support::tapewright;

const CHAT: &str =
    r#"{"model":"gpt-5-nano","stream":true,"messages":[{"role":"user","content":"go"}]}"#;
const CHUNKS: [&str; 4] = [
    r#"{"id":"c","model":"gpt-5-nano-2025-08-07","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"ls","arguments":"{}"}}]}}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"id":"c","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":10}}}"#,
];

fn posted(gateway: &Gateway, target: &str, fields: &str, body: &str) -> Wire {
    let mut client = gateway.connect();
    let length = body.len();
    let fields = format!("{fields}Content-Type: application/json\r\nContent-Length: {length}\r\n");
    let head = request(&format!("POST {target}"), gateway.address, &fields);
    client.send(head + body);
    client
}

/// The output of `inspect` for the tape.
fn inspected(gateway: &Gateway, arguments: &[&str]) -> String {
    let output = tapewright()
        .arg("inspect")
        .args(arguments)
        .arg(gateway.tape())
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_streamed_call_of_a_model_is_no_message_and_is_told() {
    let (upstream, mut gateway) = pair(&[]);
    let key = ["sk-proj-", "A1b2C3d4E5f6G7h8I9j0K1l2"].concat();
    let fields = format!("Authorization: Bearer {key}\r\nx-api-key: {key}\r\n");
    let target = format!("/v1/chat/completions?key={key}");
    let mut client = posted(&gateway, &target, &fields, CHAT);
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(head.get("x-api-key"), Some(key.as_str()));
    assert_eq!(server.body(&head), CHAT.as_bytes());
    let events = CHUNKS.join("\n\ndata: ");
    let stream = format!("data: {events}\n\ndata: [DONE]\n\n");
    let length = stream.len();
    server.send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n{stream}"
    ));
    let head = client.head();
    assert_eq!(client.body(&head), stream.as_bytes());
    drop(client);
    gateway.signal("TERM");
    let exchange = gateway.ended().only();
    assert!(exchange.messages(Direction::ToServer).is_empty());
    assert!(exchange.messages(Direction::ToClient).is_empty());
    assert_eq!(exchange.bodies(Direction::ToServer), [CHAT]);
    let events = exchange.bodies(Direction::ToClient);
    assert_eq!(events.get(..4), Some(CHUNKS.map(str::to_owned).as_slice()));
    let written = String::from_utf8_lossy(&gateway.bytes_on_disk()).into_owned();
    assert!(!written.contains("A1b2C3d4E5f6"), "{written}");
    let text = inspected(&gateway, &[]);
    let line = "    gpt-5-nano-2025-08-07, 30 tokens in (10 cached), 5 out, at most 0.01 ct, asks for ls, first token after ";
    assert!(
        text.contains("  models: 1 call\n") && text.contains(line),
        "{text}"
    );
    assert!(
        !text.contains("stray") && !text.contains("  noise"),
        "{text}"
    );
    let report: serde_json::Value =
        serde_json::from_str(&inspected(&gateway, &["--json"])).unwrap();
    let call = &report["model_calls"][0];
    assert_eq!(call["wire"], "openai-chat");
    assert_eq!(call["tool_uses"], serde_json::json!(["ls"]));
    // 20 fresh and 10 cached tokens, and 5 that were made: 100 + 5 + 200, rounded up.
    assert_eq!(call["cost_usd_microcents"], 305);
}

#[test]
fn an_error_of_a_provider_is_told_and_is_no_answer() {
    let (upstream, mut gateway) = pair(&[]);
    let body = r#"{"model":"claude-x","max_tokens":5,"messages":[]}"#;
    let mut client = posted(&gateway, "/v1/messages", "", body);
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let answer =
        r#"{"id":1,"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    server.send(json("200 OK", "", answer).replace("200 OK", "529 Overloaded"));
    let head = client.head();
    assert_eq!(client.body(&head), answer.as_bytes());
    drop(client);
    gateway.signal("TERM");
    let exchange = gateway.ended().only();
    assert!(exchange.messages(Direction::ToClient).is_empty());
    let text = inspected(&gateway, &[]);
    assert!(
        text.contains("claude-x, Anthropic answered 529 (overloaded_error): Overloaded"),
        "{text}"
    );
}

#[test]
fn mcp_on_the_path_of_a_model_is_mcp() {
    let (upstream, mut gateway) = pair(&[]);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut client = posted(&gateway, "/v1/messages", "", ping);
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let data = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let stream = format!("data: {data}\n\n");
    let length = stream.len();
    server.send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n{stream}"
    ));
    let head = client.head();
    assert_eq!(client.body(&head), stream.as_bytes());
    drop(client);
    gateway.signal("TERM");
    let exchange = gateway.ended().only();
    assert_eq!(exchange.messages(Direction::ToServer), [ping]);
    assert_eq!(exchange.messages(Direction::ToClient), [data]);
    assert!(!inspected(&gateway, &[]).contains("models:"));
}
