//! The built-in client: a handshake, a few calls, and one that it cancels.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};

use serde_json::{Value, json};

/// Talks to the server at the other end of the pipes, and returns what a person would have seen.
pub(super) fn talk(mut input: ChildStdin, output: ChildStdout) -> io::Result<String> {
    let mut output = BufReader::new(output);
    let mut said = String::new();
    for request in conversation() {
        writeln!(input, "{request}")?;
        let answered = request.get("id").is_some_and(|id| id != HANGS);
        if let Some(method) = request.get("method").and_then(Value::as_str) {
            let tool = request
                .pointer("/params/name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let fate = if answered || request.get("id").is_none() {
                ""
            } else {
                "   (no answer comes)"
            };
            // Writing to a string cannot fail.
            writeln!(
                said,
                "  client: {}{fate}",
                format!("{method} {tool}").trim_end()
            )
            .ok();
        }
        loop {
            if !answered {
                break;
            }
            let mut line = String::new();
            if output.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            writeln!(said, "  server: {}", short(line.trim_end())).ok();
            let message: Option<Value> = serde_json::from_str(&line).ok();
            if message.is_some_and(|message| message.get("id") == request.get("id")) {
                break;
            }
        }
    }
    Ok(said)
}

/// The call that is never answered.
const HANGS: i32 = 4;

fn conversation() -> Vec<Value> {
    // Looks like a key but is made up: the recording must not contain it.
    let key = format!("sk-{}-api03-{}", "ant", "0123456789abcdefXYZ");
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "demo", "version": "1.0"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "forecast", "arguments": {"city": "Berlin", "api_key": key},
            "_meta": {"progressToken": "p1"},
        }}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "tides", "arguments": {},
        }}),
        json!({"jsonrpc": "2.0", "id": HANGS, "method": "tools/call", "params": {
            "name": "radar", "arguments": {"city": "Berlin"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
            "requestId": HANGS, "reason": "it takes too long",
        }}),
    ]
}

fn short(line: &str) -> String {
    const WIDTH: usize = 90;
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let cut: String = line.chars().take(WIDTH - 1).collect();
    format!("{cut}…")
}
