//! Traffic between an agent and a provider is the same as without the recorder.

use serde_json::Value;
use tapewright_schemas::event::{Direction, EventBody};

use super::{Models, inspected};
use crate::replay::bounds::encodings;
use crate::support::Tape;
use crate::support::http::{Upstream, chunk, json as answered};

pub(super) const RECORDED: [(&str, &str); 3] = [
    (
        "anthropic",
        include_str!("../../../schemas/models/tests/recorded/anthropic.jsonl"),
    ),
    (
        "openai",
        include_str!("../../../schemas/models/tests/recorded/openai.jsonl"),
    ),
    (
        "gemini",
        include_str!("../../../schemas/models/tests/recorded/gemini.jsonl"),
    ),
];

/// One recorded exchange.
pub(super) struct Recorded {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) body: String,
    pub(super) status: u64,
    pub(super) kind: String,
    pub(super) answer: String,
}

pub(super) fn recorded(lines: &str) -> Vec<Recorded> {
    let mut all = Vec::new();
    for line in lines.lines() {
        let file: Value = serde_json::from_str(line).unwrap();
        for exchange in file["exchanges"].as_array().unwrap() {
            let (when, then) = (&exchange["when"], &exchange["then"]);
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let query = when["query_param"].as_array().into_iter().flatten();
            let query: Vec<String> = query
                .map(|pair| format!("{}={}", text(&pair["name"]), text(&pair["value"])))
                .collect();
            let fields = then["header"].as_array().unwrap();
            let kind = fields.iter().find(|pair| pair["name"] == "content-type");
            let path = text(&when["path"]);
            let target = match query.as_slice() {
                [] => path,
                query => format!("{path}?{}", query.join("&")),
            };
            all.push(Recorded {
                method: text(&when["method"]),
                target,
                body: text(&when["body"]),
                status: then["status"].as_u64().unwrap(),
                kind: text(&kind.unwrap()["value"]),
                answer: text(&then["body"]),
            });
        }
    }
    all
}

/// Sends one exchange through the recorder, its answer event by event.
fn exchanged(models: &Models, name: &str, upstream: &Upstream, one: &Recorded) {
    let mut client = models.gateway.connect();
    let (length, host) = (one.body.len(), models.gateway.address);
    let line = format!("{} /{name}{} HTTP/1.1", one.method, one.target);
    client.send(format!(
        "{line}\r\nHost: {host}\r\nContent-Length: {length}\r\nX-Case: Kept\r\n\r\n{}",
        one.body
    ));
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(head.line, format!("{} {} HTTP/1.1", one.method, one.target));
    assert_eq!(head.names(), ["Host", "Content-Length", "X-Case"]);
    assert_eq!(server.body(&head), one.body.as_bytes());
    server.send(format!(
        "HTTP/1.1 {} Said\r\nContent-Type: {}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        one.status, one.kind
    ));
    let head = client.head();
    assert_eq!(u64::from(head.status()), one.status);
    // Each event reaches the agent before the provider sends the next one.
    let end = if one.answer.contains("\r\n\r\n") {
        "\r\n\r\n"
    } else {
        "\n\n"
    };
    for event in one.answer.split_inclusive(end) {
        server.send(chunk(event));
        let came = client.chunks(event.len());
        assert!(came == event.as_bytes(), "{}", one.target);
    }
    server.send("0\r\n\r\n");
    assert!(client.chunk().is_empty());
}

#[test]
fn every_recorded_exchange_passes_as_it_is_and_event_by_event() {
    let models = Models::start();
    let mut count = 0;
    for (name, lines) in RECORDED {
        let upstream = match name {
            "anthropic" => &models.anthropic,
            "openai" => &models.openai,
            _ => &models.gemini,
        };
        for one in recorded(lines) {
            exchanged(&models, name, upstream, &one);
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
    let (folder, _) = models.stop();
    let tape = folder.path().join("run/models.tape.jsonl");
    let tape = Tape::read(&tape);
    assert!(tape.is_complete(), "{:?}", tape.ending);
    let is_message = |body: &EventBody| matches!(body, EventBody::Message { .. });
    assert!(!tape.events.iter().any(|event| is_message(&event.body)));
    let edits = tape.events.iter().filter_map(|event| match &event.body {
        EventBody::Edited(edit) => Some((event.dir, edit)),
        _ => None,
    });
    for (dir, edit) in edits {
        assert_eq!((dir, edit.what.name()), (Direction::ToServer, "target"));
        assert!(edit.before.ends_with(&edit.after), "{edit:?}");
    }
    let told = inspected(&folder.path().join("run/models.tape.jsonl"));
    let calls = told["model_calls"].as_array().unwrap();
    assert!(calls.len() > 60, "{}", calls.len());
    let unreadable = calls.iter().filter(|call| call["end"] == "unreadable");
    assert_eq!(unreadable.count(), 0, "{calls:?}");
}

#[test]
fn what_is_compressed_passes_as_it_is_and_a_path_without_a_name_is_told_by_its_wire() {
    let models = Models::start();
    let body = r#"{"model":"claude-x","max_tokens":5,"messages":[]}"#;
    let mut client = models.post(
        "/v1/messages?beta=true",
        "Accept-Encoding: gzip, br\r\n",
        body,
    );
    let mut server = models.anthropic.accept();
    let head = server.head();
    assert_eq!(head.line, "POST /v1/messages?beta=true HTTP/1.1");
    assert_eq!(head.get("accept-encoding"), Some("gzip, br"));
    server.body(&head);
    let answer = gzip(br#"{"id":"m","model":"claude-x-1","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}"#);
    let length = answer.len();
    server.send(format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"));
    server.send(&answer);
    let head = client.head();
    assert_eq!(head.get("content-encoding"), Some("gzip"));
    assert_eq!(client.body(&head), answer);
    let mut lost = models.post("/no/such/path", "", "{}");
    let head = lost.head();
    assert_eq!(head.status(), 404);
    let why = String::from_utf8_lossy(&lost.body(&head)).into_owned();
    assert!(
        why.contains("/anthropic or /openai or /gemini or /mistral"),
        "{why}"
    );
    let (folder, _) = models.stop();
    let told = inspected(&folder.path().join("run/models.tape.jsonl"));
    assert_eq!(told["model_calls"][0]["model"], "claude-x-1");
    assert_eq!(told["model_calls"][0]["output_tokens"], 1);
}

#[test]
fn a_compressed_request_passes_as_it_is_and_is_read_on_the_copy() {
    let models = Models::start();
    let asked =
        r#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"pack"}]}"#;
    let all = encodings(asked.as_bytes());
    for (name, body) in &all {
        let mut client = models.gateway.connect();
        let (length, host) = (body.len(), models.gateway.address);
        client.send(format!("POST /anthropic/v1/messages HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Encoding: {name}\r\nContent-Length: {length}\r\n\r\n"));
        client.send(body);
        let mut server = models.anthropic.accept();
        let head = server.head();
        assert_eq!(head.get("content-encoding"), Some(*name));
        assert_eq!(&server.body(&head), body, "{name}");
        let answer = r#"{"id":"m","model":"claude-x-1","content":[]}"#;
        server.send(answered("200 OK", "Connection: close\r\n", answer));
        let head = client.head();
        client.body(&head);
    }
    let (folder, _) = models.stop();
    let tape = Tape::read(&folder.path().join("run/models.tape.jsonl"));
    let bodies = tape.events.iter().filter_map(|event| match &event.body {
        EventBody::Body { payload } if event.dir == Direction::ToServer => Some(payload.kept()),
        _ => None,
    });
    let bodies: Vec<&[u8]> = bodies.map(AsRef::as_ref).collect();
    assert_eq!(bodies, vec![asked.as_bytes(); all.len()]);
}

/// Stored, not compressed: the frame of RFC 1952 around a block of RFC 1951 §3.2.4.
fn gzip(text: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in text {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let low = crc & 1;
            crc = (crc >> 1) ^ (0xedb8_8320 * low);
        }
    }
    let length = u16::try_from(text.len()).unwrap();
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(text);
    out.extend((!crc).to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    out
}
