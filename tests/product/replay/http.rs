//! A recording served over HTTP.

use tapewright_proxy::client::{Client, Opening, Revision};

use super::replay_server::{ACCEPT, INITIALIZE, ReplayServer, opened};
use super::{LIMIT, call, cassette, exchange, opening, progressing_call};
use crate::support::http::{post, request};
use crate::support::system::STOPPED;

const CALL: &str = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":1},"_meta":{"progressToken":"p"}}}"#;

/// Calls the tool; returns its text.
fn say(client: &mut Client) -> String {
    let params = r#"{"name":"echo","arguments":{"text":1}}"#;
    let reply = client.request("tools/call", Some(params), LIMIT).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&reply.message).unwrap();
    match answer["result"]["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => answer["error"]["code"].to_string(),
    }
}

/// A recording with progress before the answer.
fn progressing() -> String {
    let call = progressing_call("done");
    cassette(&[opening(), call.clone(), call])
}

#[test]
fn each_session_has_a_state_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[opening(), call("1", "first"), call("1", "second")]);
    let replay_server = ReplayServer::start(folder.path(), &tape, &["--report", "report.json"]);
    let mut clients: Vec<Client> = (0..4).map(|_| replay_server.client()).collect();
    for client in &mut clients {
        client.greet(&Opening::default(), LIMIT).unwrap();
    }
    for expected in ["first", "second", "-32020"] {
        for client in &mut clients {
            assert_eq!(say(client), expected);
        }
    }
    for client in clients {
        client.close();
    }
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["sessions"], 4);
    assert_eq!(
        (&report["served"], &report["missed"]),
        (&12.into(), &4.into())
    );
}

#[test]
fn a_session_that_is_not_known_is_404_and_none_at_all_is_400() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &progressing(), &[]);
    let mut wire = replay_server.connect();
    let session = opened(replay_server.address, &mut wire);
    for (fields, status) in [
        ("Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n", 404),
        ("", 400),
        (session.as_str(), 200),
    ] {
        wire.send(post(
            replay_server.address,
            &format!("{ACCEPT}{fields}"),
            CALL,
        ));
        let head = wire.head();
        assert_eq!(head.status(), status, "{fields}");
        wire.body(&head);
    }
    wire.send(request("DELETE /mcp", replay_server.address, &session));
    assert_eq!(wire.head().status(), 204);
    wire.send(post(
        replay_server.address,
        &format!("{ACCEPT}{session}"),
        CALL,
    ));
    assert_eq!(wire.head().status(), 404);
}

#[test]
fn events_have_ids_of_this_session_and_come_before_their_answer() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &progressing(), &[]);
    let mut wire = replay_server.connect();
    let session = opened(replay_server.address, &mut wire);
    let mut ids = Vec::new();
    for _ in 0..2 {
        wire.send(post(
            replay_server.address,
            &format!("{ACCEPT}{session}"),
            CALL,
        ));
        let head = wire.head();
        assert_eq!(head.get("content-type"), Some("text/event-stream"));
        let body = String::from_utf8(wire.body(&head)).unwrap();
        let progress = body.find(r#""progressToken":"p""#).unwrap();
        assert!(progress < body.find("done").unwrap(), "{body}");
        let of_body = body.lines().filter_map(|line| line.strip_prefix("id: "));
        ids.extend(of_body.map(str::to_owned));
    }
    assert!(ids.len() >= 4, "{ids:?}");
    let mut once = ids.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "{ids:?}");
}

#[test]
fn the_transport_of_2024_is_served_too() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &progressing(), &[]);
    let mut stream = replay_server.connect();
    stream.send(request(
        "GET /sse",
        replay_server.address,
        "Accept: text/event-stream\r\n",
    ));
    assert_eq!(stream.head().status(), 200);
    let endpoint = String::from_utf8(stream.chunk()).unwrap();
    let path = endpoint.trim().rsplit("data: ").next().unwrap().to_owned();
    let mut posts = replay_server.connect();
    let mut send = |body: &str| {
        let text =
            post(replay_server.address, "", body).replace("POST /mcp", &format!("POST {path}"));
        posts.send(text);
        let head = posts.head();
        assert_eq!(head.status(), 202);
        posts.body(&head);
    };
    let mut next = || String::from_utf8(stream.chunk()).unwrap();
    send(INITIALIZE);
    assert!(next().contains("serverInfo"));
    send(CALL);
    assert!(next().contains("progress"));
    assert!(next().contains("done"));
    // And to a client that uses the older transport.
    let mut client = replay_server.legacy_client();
    client.greet(&Opening::default(), LIMIT).unwrap();
    assert_eq!(say(&mut client), "done");
    client.close();
}

#[test]
fn a_recording_without_sessions_is_served_without_them() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let list = exchange(
        "tools/list",
        &format!("{{{meta}}}"),
        r#"{"tools":[],"resultType":"complete"}"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &cassette(&[list]), &[]);
    let mut client = replay_server.client();
    let opening = Opening {
        revision: Revision::Stateless {
            version: "2026-07-28".to_owned(),
            discover: false,
        },
        ..Opening::default()
    };
    client.greet(&opening, LIMIT).unwrap();
    let reply = client.request("tools/list", None, LIMIT).unwrap();
    assert_eq!(
        reply.result().unwrap(),
        br#"{"tools":[],"resultType":"complete"}"#
    );
    client.close();
    // The other era is refused, with a matching status.
    let mut wire = replay_server.connect();
    wire.send(post(replay_server.address, ACCEPT, INITIALIZE));
    let head = wire.head();
    assert_eq!(head.status(), 400);
    let body = String::from_utf8(wire.body(&head)).unwrap();
    assert!(
        body.contains("-32022") && body.contains("has no initialize"),
        "{body}"
    );
}

#[test]
fn a_client_of_both_eras_finds_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[opening(), call("1", "one")]);
    let replay_server = ReplayServer::start(folder.path(), &tape, &["--strict"]);
    let mut wire = replay_server.connect();
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let probe =
        format!(r#"{{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{meta}}}"#);
    let fields =
        format!("{ACCEPT}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n");
    wire.send(post(replay_server.address, &fields, &probe));
    let head = wire.head();
    assert_eq!(head.status(), 404);
    let body = String::from_utf8(wire.body(&head)).unwrap();
    assert!(body.contains("-32601"), "{body}");
    let mut client = replay_server.client();
    client.greet(&Opening::default(), LIMIT).unwrap();
    assert_eq!(say(&mut client), "one");
    client.close();
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn an_interruption_is_told_and_strictness_wins() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[opening()]);
    assert_eq!(
        ReplayServer::start(folder.path(), &tape, &[]).stop("INT"),
        Some(130)
    );
    let strict = ReplayServer::start(folder.path(), &tape, &["--strict"]);
    assert_eq!(strict.stop("TERM"), Some(1));
}

#[test]
fn an_address_that_is_taken_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &cassette(&[opening()]), &[]);
    let taken = replay_server.address.to_string();
    let mut second = super::command(folder.path(), &["--listen", &taken]);
    let output = second.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot serve"), "{said}");
}
