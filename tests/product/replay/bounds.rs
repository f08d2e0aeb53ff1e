//! Hostile requests of agents to a provider that is a recording: they are bounded, and answered in
//! the provider's own format.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use serde_json::Value;

use super::models::{recording, serve};
use super::replay_server::ReplayServer;
use crate::support::http::{Wire, chunk, request};
use crate::support::system::STOPPED;

const MESSAGES: &str =
    r#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"go"}]}"#;

/// Each wire, and the position of the message in the body of an error.
const WIRES: [(&str, &str); 4] = [
    ("/anthropic/v1/messages", "/error/message"),
    ("/openai/v1/chat/completions", "/error/message"),
    ("/openai/v1/responses", "/error/message"),
    ("/gemini/v1beta/models/m:generateContent", "/error/message"),
];

fn replay_server(folder: &Path, options: &[&str]) -> ReplayServer {
    recording(&folder.join("run"));
    serve(&folder.join("run/models.tape.jsonl"), options)
}

fn send(client: &mut Wire, replay_server: &ReplayServer, target: &str, fields: &str, body: &[u8]) {
    let length = body.len();
    let fields = format!("{fields}Content-Type: application/json\r\nContent-Length: {length}\r\n");
    client.send(request(
        &format!("POST {target}"),
        replay_server.address,
        &fields,
    ));
    client.send(body);
}

/// The status of an answer, and its text.
fn answered(client: &mut Wire) -> (u16, String) {
    let head = client.head();
    let body = client.body(&head);
    (head.status(), String::from_utf8_lossy(&body).into_owned())
}

fn asked(replay_server: &ReplayServer, target: &str, fields: &str, body: &[u8]) -> (u16, String) {
    let mut client = replay_server.connect();
    send(&mut client, replay_server, target, fields, body);
    answered(&mut client)
}

/// Checks that this is an error in the provider's format.
fn is_error(target: &str, pointer: &str, body: &str, part: &str) {
    let error: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{target}: {body}"));
    let text = error.pointer(pointer).and_then(Value::as_str);
    assert!(
        text.is_some_and(|text| text.contains(part)),
        "{target}: {body}"
    );
    assert_eq!(error.get("jsonrpc"), None, "{body}");
}

#[test]
fn what_is_too_much_is_refused_in_the_form_of_each_wire() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = replay_server(folder.path(), &[]);
    let deep = format!(r#"{{"model":"m","messages":{}"#, "[".repeat(200_000));
    let deep_content = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":{}1{}}}]}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let zeros = vec![b' '; 65 << 20];
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(&zeros).unwrap();
    let bomb = bomb.finish().unwrap();
    for (target, pointer) in WIRES {
        // More than the limit, announced by the length: the body need not arrive.
        let mut client = replay_server.connect();
        client.send(request(
            &format!("POST {target}"),
            replay_server.address,
            "Content-Type: application/json\r\nContent-Length: 9999999999\r\n",
        ));
        let (status, body) = answered(&mut client);
        assert_eq!(status, 413, "{body}");
        is_error(target, pointer, &body, "longer than 67108864 bytes");
        for body in [&deep, &deep_content, &"\u{0}".repeat(1_000)] {
            let (status, body) = asked(&replay_server, target, "", body.as_bytes());
            assert_eq!(status, 400, "{target}: {body}");
            is_error(target, pointer, &body, "replay: the request cannot be read");
        }
        let (status, body) = asked(&replay_server, target, "Content-Encoding: gzip\r\n", &bomb);
        assert_eq!(status, 413, "{body}");
        is_error(target, pointer, &body, "the decoded body is longer than");
        let (status, body) = asked(
            &replay_server,
            target,
            "Content-Encoding: gzip\r\n",
            b"no gzip",
        );
        assert_eq!(status, 400, "{body}");
        is_error(
            target,
            pointer,
            &body,
            "does not match its content encoding",
        );
        let (status, body) = asked(&replay_server, target, "Content-Encoding: rot13\r\n", b"{}");
        assert_eq!(status, 415, "{body}");
        is_error(
            target,
            pointer,
            &body,
            "other than gzip, deflate, br and zstd",
        );
    }
    // And it continues.
    assert_eq!(
        asked(&replay_server, "/v1/messages", "", MESSAGES.as_bytes()).0,
        200
    );
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

/// A body in every encoding, by the names that a head has for them.
pub(crate) fn encodings(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let level = Compression::default();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(text).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    zlib.write_all(text).unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), level);
    raw.write_all(text).unwrap();
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
    brotli.write_all(text).unwrap();
    let zstd = zstd::encode_all(text, 3).unwrap();
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), level);
    twice.write_all(&zstd).unwrap();
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("x-gzip", {
            let mut again = flate2::write::GzEncoder::new(Vec::new(), level);
            again.write_all(text).unwrap();
            again.finish().unwrap()
        }),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("br", brotli.into_inner()),
        ("zstd", zstd),
        ("zstd, gzip", twice.finish().unwrap()),
        ("identity", text.to_vec()),
    ]
}

#[test]
fn a_compressed_request_is_the_call_that_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = replay_server(folder.path(), &["--exhausted", "last", "--strict"]);
    for (name, body) in encodings(MESSAGES.as_bytes()) {
        let fields = format!("Content-Encoding: {name}\r\n");
        let (status, body) = asked(&replay_server, "/v1/messages", &fields, &body);
        assert_eq!(status, 200, "{name}: {body}");
        assert!(body.contains("msg_1"), "{name}: {body}");
    }
    let (status, body) = asked(
        &replay_server,
        "/v1/messages",
        "Content-Encoding: br\r\n",
        b"\xff\xff\xff",
    );
    assert_eq!(status, 400, "{body}");
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn many_at_once_and_slow_ones_keep_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = replay_server(folder.path(), &["--exhausted", "last"]);
    // These send half of what they announced, and no more.
    let mut slow: Vec<Wire> = (0..50)
        .map(|_| {
            let mut client = replay_server.connect();
            let fields = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
            client.send(request("POST /v1/messages", replay_server.address, fields));
            client.send(chunk(&MESSAGES[..20]));
            client
        })
        .collect();
    // Two thousand pending requests, each connection with five that wait for each other.
    let mut clients: Vec<Wire> = (0..400).map(|_| replay_server.connect()).collect();
    for client in &mut clients {
        for _ in 0..5 {
            send(
                client,
                &replay_server,
                "/v1/messages",
                "",
                MESSAGES.as_bytes(),
            );
        }
    }
    for client in &mut clients {
        for _ in 0..5 {
            let (status, body) = answered(client);
            assert_eq!(status, 200, "{body}");
        }
    }
    // The rest of a slow one is accepted as well.
    let client = &mut slow[0];
    client.send(chunk(&MESSAGES[20..]));
    client.send("0\r\n\r\n");
    assert_eq!(answered(client).0, 200);
    // Unknown paths, more of them than the report keeps.
    let client = &mut clients[0];
    for number in 0..1_200 {
        send(
            client,
            &replay_server,
            &format!("/v1/no/{number}"),
            "",
            b"{}",
        );
        let (status, body) = answered(client);
        assert_eq!(status, 404, "{body}");
    }
    drop(slow);
    drop(clients);
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let report = std::fs::read(folder.path().join("run/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["models"]["others_missed"], 1_200);
    assert_eq!(report["models"]["others"].as_array().unwrap().len(), 1_000);
}
