//! `tapewright replay`: the program with a recording in the server's place.

mod again;
mod bad;
pub(crate) mod bounds;
#[cfg(unix)]
mod elsewhere;
mod http;
pub(crate) mod models;
mod modes;
mod policies;
pub(crate) mod replay_server;
mod reports;
mod roads;
mod starts;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::support::{Session, tapewright};

/// Longer than any step takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// An exchange with this result.
pub(crate) fn exchange(method: &str, params: &str, result: &str) -> String {
    format!(
        r#"{{"request":{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}},"response":{{"jsonrpc":"2.0","id":1,"result":{result}}}}}"#
    )
}

/// A call of the tool with a progress token, and progress before its answer.
fn progressing_call(answer: &str) -> String {
    let call = call("1", answer).replace(
        r#""arguments":{"text":1}}"#,
        r#""arguments":{"text":1},"_meta":{"progressToken":9}}"#,
    );
    let (head, _) = call.rsplit_once('}').unwrap();
    let progress = r#"{"from":"server","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}}"#;
    format!(r#"{head},"stream":[{progress}]}}"#)
}

/// The opening of a session of the handshake era.
pub(crate) fn opening() -> String {
    exchange(
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#,
    )
}

/// A tool call with this argument, and its text.
pub(crate) fn call(argument: &str, said: &str) -> String {
    exchange(
        "tools/call",
        &format!(r#"{{"name":"echo","arguments":{{"text":{argument}}}}}"#),
        &json!({"content": [{"type": "text", "text": said}]}).to_string(),
    )
}

/// A cassette with these exchanges.
pub(crate) fn cassette(exchanges: &[String]) -> String {
    format!(r#"{{"version":"1","exchanges":[{}]}}"#, exchanges.join(","))
}

/// A replay of `tape.json` in a folder, with pipes on all three streams.
pub(crate) fn command(folder: &Path, options: &[&str]) -> Command {
    let mut command = tapewright();
    command
        .current_dir(folder)
        .args(["replay", "tape.json"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A session with a replay of this recording.
pub(crate) fn session(folder: &Path, recording: &str, options: &[&str]) -> Session {
    std::fs::write(folder.join("tape.json"), recording).unwrap();
    Session::start(command(folder, options))
}

/// Asks for something; the answer.
pub(crate) fn ask(session: &mut Session, id: u32, method: &str, params: &str) -> serde_json::Value {
    session.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
    ));
    let answer: serde_json::Value = serde_json::from_str(&session.line()).unwrap();
    assert_eq!(answer["id"], id, "{answer}");
    answer
}

/// Calls the tool; returns its text, or the code and the message of its error.
pub(crate) fn say(session: &mut Session, id: u32, argument: &str) -> String {
    let params = format!(r#"{{"name":"echo","arguments":{{"text":{argument}}}}}"#);
    let answer = ask(session, id, "tools/call", &params);
    match answer["result"]["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!(
            "{} {}",
            answer["error"]["code"],
            answer["error"]["message"].as_str().unwrap_or_default()
        ),
    }
}
