//! Recorded on one transport, served on the other, and recorded again on the way.

use std::process::Stdio;

use serde_json::Value;
use tapewright_proxy::client::{Answer, Client, ServerRequest};

use super::replay_server::{ReplayServer, listening};
use super::{LIMIT, session};
use crate::support::system::STOPPED;
use crate::support::{Session, tapewright};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"n":12345678901234567890123},"_meta":{"progressToken":7}}}"#;
const FAIL: &str = r#"{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"fail"}}"#;

/// A session over stdio with a bit of everything, as our recorder writes it.
fn tape() -> String {
    format!(
        r#"{{"version":"1","exchanges":[
{{"request":{INITIALIZE},"response":{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}}},
{{"request":{ASK},"response":{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}}],"x":1.50}}}},"stream":[
{{"from":"server","message":{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":7,"progress":1}}}}}},
{{"from":"server","message":{{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{{"messages":[],"maxTokens":5}}}}}},
{{"from":"client","message":{{"jsonrpc":"2.0","id":0,"result":{ANSWER}}}}},
{{"from":"server","message":{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":7,"progress":2}}}}}}]}},
{{"request":{FAIL},"response":{{"jsonrpc":"2.0","id":"two","error":{{"code":-32602,"message":"no such tool","data":null}}}}}}
]}}"#
    )
}

const ANSWER: &str = r#"{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}"#;

/// Plays the recorded client.
fn play(client: &mut Client) -> Vec<String> {
    client.answer_with(|_: &ServerRequest<'_>| Answer::Result(ANSWER.to_owned()));
    let mut said = Vec::new();
    for request in [INITIALIZE, ASK, FAIL] {
        let reply = client.exchange(request.as_bytes(), LIMIT).unwrap();
        let between = reply.between.iter().map(|one| &one.message);
        for message in between.chain([&reply.message]) {
            said.push(String::from_utf8(message.to_vec()).unwrap());
        }
        if request.contains("\"initialize\"") {
            client.notify("notifications/initialized", None).unwrap();
        }
    }
    said
}

/// The exchanges of a recording, without their times and positions.
fn exchanges(recording: &str) -> Vec<(Value, Value, Vec<Value>)> {
    let recording: Value = serde_json::from_str(recording).unwrap();
    let exchanges = recording["exchanges"].as_array().unwrap().iter();
    // A client that probes for the transport is answered by HTTP, not by an MCP server.
    let answered = exchanges.filter(|one| !one["response"]["id"].is_null());
    answered
        .map(|one| {
            let stream = one["stream"].as_array().cloned().unwrap_or_default();
            let stream = stream.iter().map(|entry| entry["message"].clone());
            let stream = stream.filter(|message| !message.is_null());
            (
                one["request"].clone(),
                one["response"].clone(),
                stream.collect(),
            )
        })
        .collect()
}

#[test]
fn a_recording_goes_from_stdio_to_http_and_back_envelope_by_envelope() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server =
        ReplayServer::start(folder.path(), &tape(), &["-o", "http.json", "--strict"]);
    let mut client = replay_server.client();
    let over_http = play(&mut client);
    client.close();
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let text = over_http.join("\n");
    for part in [
        "\"x\":1.50",
        "iVBORw0KGgo=",
        "\"progress\":2",
        "createMessage",
        "no such tool",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let again = std::fs::read_to_string(folder.path().join("http.json")).unwrap();
    assert_eq!(exchanges(&again), exchanges(&tape()), "{again}");
    assert!(again.contains("12345678901234567890123"), "{again}");

    // A recording over HTTP is served over stdio, and recorded a third time.
    let options = ["-o", "stdio.json", "--strict"];
    let mut stdio = session(folder.path(), &again, &options);
    let over_stdio = talk(&mut stdio);
    assert_eq!(stdio.finish(LIMIT).code(), Some(0));
    assert_eq!(over_stdio, over_http);
    let third = std::fs::read_to_string(folder.path().join("stdio.json")).unwrap();
    assert_eq!(exchanges(&third), exchanges(&tape()));
}

/// Every message of the transport of 2024-11-05 belongs to the session of its stream.
#[test]
fn a_recording_of_the_older_transport_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &tape(), &[]);
    let server = format!("http://{}/sse", replay_server.address);
    let mut command = tapewright();
    command
        .current_dir(folder.path())
        .args(["record", "--listen", "127.0.0.1:0", "-o", "legacy.json"])
        .args(["--upstream", &server])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let gateway = listening(&mut command);
    let mut client = gateway.client();
    let said = play(&mut client);
    client.close();
    assert_eq!(gateway.stop("TERM"), Some(STOPPED));
    let recorded = std::fs::read_to_string(folder.path().join("legacy.json")).unwrap();
    assert_eq!(exchanges(&recorded), exchanges(&tape()), "{recorded}");
    let mut stdio = session(folder.path(), &recorded, &["--strict"]);
    assert_eq!(talk(&mut stdio), said);
    assert_eq!(stdio.finish(LIMIT).code(), Some(0));
}

/// Plays the recorded client over stdio, line by line.
fn talk(session: &mut Session) -> Vec<String> {
    let mut said = Vec::new();
    for request in [INITIALIZE, ASK, FAIL] {
        session.send(request);
        let id = serde_json::from_str::<Value>(request).unwrap()["id"].clone();
        loop {
            let line = session.line();
            let message: Value = serde_json::from_str(&line).unwrap();
            said.push(line);
            if message.get("method").is_some() && message.get("id").is_some() {
                let answer = format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{ANSWER}}}"#,
                    message["id"]
                );
                session.send(&answer);
                said.push(answer);
            } else if message["id"] == id {
                break;
            }
        }
        if request.contains("\"initialize\"") {
            session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
    }
    said
}
