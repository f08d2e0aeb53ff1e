//! Model calls over TLS, through the intercepting forward proxy.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use tokio_rustls::TlsConnector;

use super::law::{RECORDED, Recorded, recorded};
use super::links::{asking, call_tools};
use super::{header, inspected};
use crate::replay::replay_server::listening;
use crate::support::http::tls::{Certificates, accept, client_config, connect};
use crate::support::http::{
    Gateway, Server, Speaks, Upstream, Wire, chunk, json as answered, request, runtime, step,
    tunnel,
};
use crate::support::system::STOPPED;
use crate::support::tapewright;

/// An intercepting proxy, in front of servers of a test authority.
fn proxy(certificates: &Certificates) -> Gateway {
    let authority = certificates.path("ca.pem");
    Gateway::forward(&["--intercept", "--ca-bundle", &authority])
}

/// The gateway's authority that agents must trust.
fn ours(gateway: &Gateway) -> CertificateDer<'static> {
    let file = gateway.folder.path().join("home/authority/ca.pem");
    CertificateDer::from_pem_file(file).unwrap()
}

/// An agent's connection to `https://localhost:PORT`.
fn secured(gateway: &Gateway, port: u16) -> Wire {
    let plain = tunnel(gateway, &format!("localhost:{port}"));
    let trust = client_config(ours(gateway), &["http/1.1"]);
    connect(plain.into_socket(), &trust).unwrap()
}

/// The key that an agent brings on each wire: letters that no shape betrays.
const KEY: &str = "quiet-harbour-canary-4711";

/// An answer of Responses, for which there is no recording: whole, and as a stream.
const RESPONSES: [(&str, &str, &str); 2] = [
    (
        r#"{"model":"gpt-x","input":"go"}"#,
        "application/json",
        r#"{"id":"resp_1","object":"response","model":"gpt-x-1","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":1}}"#,
    ),
    (
        r#"{"model":"gpt-x","input":"go","stream":true}"#,
        "text/event-stream",
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_2\",\"model\":\"gpt-x-1\",\"output\":[]}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"hi\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_2\",\"model\":\"gpt-x-1\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
    ),
];

/// The first recorded call of each wire, whole and as a stream, by wire; made up for one wire.
fn picked() -> BTreeMap<(&'static str, bool), Recorded> {
    let wires = [
        ("/messages", "anthropic"),
        ("/chat/completions", "openai-chat"),
        (":generateContent", "gemini"),
        (":streamGenerateContent", "gemini"),
    ];
    let mut all = BTreeMap::new();
    for (_, lines) in RECORDED {
        for one in recorded(lines) {
            let path = one.target.split('?').next().unwrap_or_default();
            let wire = wires.iter().find(|(end, _)| path.ends_with(end));
            if let Some((_, wire)) = wire.filter(|_| one.status == 200) {
                let is_stream = one.kind.starts_with("text/event-stream");
                all.entry((*wire, is_stream)).or_insert(one);
            }
        }
    }
    for (body, kind, answer) in RESPONSES {
        let one = Recorded {
            method: "POST".to_owned(),
            target: "/v1/responses".to_owned(),
            body: body.to_owned(),
            status: 200,
            kind: kind.to_owned(),
            answer: answer.to_owned(),
        };
        all.insert(("openai-responses", kind == "text/event-stream"), one);
    }
    all
}

/// Carries one recorded call through a tunnel with TLS at both ends.
fn carried(gateway: &Gateway, upstream: &Upstream, certificates: &Certificates, one: &Recorded) {
    let port = upstream.address().port();
    let mut client = secured(gateway, port);
    let sent = format!(
        "{} {} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {}\r\nX-Api-Key: {KEY}\r\nAuthorization: Bearer {KEY}\r\nX-Goog-Api-Key: {KEY}\r\n\r\n{}",
        one.method,
        one.target,
        one.body.len(),
        one.body
    );
    client.send(&sent);
    let mut server = accept(upstream, &certificates.server_config(&["http/1.1"])).unwrap();
    // Names, order and case are preserved: the proxy is transparent.
    assert_eq!(server.text(sent.len()), sent);
    server.send(format!(
        "HTTP/1.1 200 Said\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        one.kind
    ));
    assert_eq!(client.head().status(), 200);
    let end = if one.answer.contains("\r\n\r\n") {
        "\r\n\r\n"
    } else {
        "\n\n"
    };
    for event in one.answer.split_inclusive(end) {
        server.send(chunk(event));
        assert!(
            client.chunks(event.len()) == event.as_bytes(),
            "{}",
            one.target
        );
    }
    server.send("0\r\n\r\n");
    assert!(client.chunk().is_empty());
}

#[test]
fn the_four_wires_and_their_streams_are_read_inside_tls_and_pass_as_they_are() {
    let (certificates, upstream) = (Certificates::new(), Upstream::start());
    let mut gateway = proxy(&certificates);
    let all = picked();
    let names: Vec<_> = all.keys().copied().collect();
    for (wire, is_stream) in [
        ("anthropic", false),
        ("anthropic", true),
        ("gemini", false),
        ("gemini", true),
        ("openai-chat", false),
        ("openai-chat", true),
        ("openai-responses", false),
        ("openai-responses", true),
    ] {
        assert!(names.contains(&(wire, is_stream)), "{names:?}");
    }
    for one in all.values() {
        carried(&gateway, &upstream, &certificates, one);
    }
    gateway.signal("TERM");
    gateway.ended();
    let told = inspected(&gateway.tape());
    let mut calls: Vec<_> = told["model_calls"].as_array().unwrap().iter().collect();
    let ends: Vec<_> = calls.iter().map(|call| &call["end"]).collect();
    assert!(ends.iter().all(|end| *end == "answered"), "{calls:#?}");
    calls.sort_by_key(|call| (call["wire"].to_string(), call["stream"] == true));
    let streams: Vec<_> = calls.iter().map(|call| call["stream"] == true).collect();
    assert_eq!(streams, [false, true].repeat(4), "{calls:#?}");
    let mut wires: Vec<_> = calls.iter().map(|call| call["wire"].to_string()).collect();
    wires.dedup();
    assert_eq!(wires.len(), 4, "{wires:?}");
    assert!(
        calls.iter().all(|call| call["output_tokens"].is_u64()),
        "{calls:#?}"
    );
    let written = String::from_utf8_lossy(&gateway.bytes_on_disk()).into_owned();
    assert!(!written.contains(KEY), "a key was stored");
    assert!(written.to_lowercase().contains("x-goog-api-key"));
}

const BODY: &str = r#"{"model":"claude-x","max_tokens":5,"stream":true,"messages":[]}"#;

/// A stream of a model's events.
const EVENTS: [&str; 3] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"claude-x-1\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
];

#[test]
fn an_agent_speaks_http_2_to_its_provider_through_the_proxy() {
    let certificates = Certificates::new();
    let runtime = runtime();
    let server = Server::start(&runtime, Speaks::Http2OverTls, &certificates);
    let port = server.address().port();
    let mut gateway = proxy(&certificates);
    let plain = tunnel(&gateway, &format!("localhost:{port}"));
    let trust = client_config(ours(&gateway), &["h2", "http/1.1"]);
    let (response, keep) = step(&runtime, async {
        let socket = plain.into_socket();
        socket.set_nonblocking(true).unwrap();
        let socket = tokio::net::TcpStream::from_std(socket).unwrap();
        let connector = TlsConnector::from(trust);
        let name = "localhost".try_into().unwrap();
        let stream = connector.connect(name, socket).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        let request = http::Request::post(format!("https://localhost:{port}/v1/messages"))
            .header("content-type", "application/json")
            .header("x-api-key", KEY)
            .body(())
            .unwrap();
        let (response, mut body) = send.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(BODY.as_bytes()), true)
            .unwrap();
        (response, send)
    });
    let (head, mut provider) = server.accept(&runtime);
    assert!(head.line.contains("HTTP/2"), "{head:?}");
    assert_eq!(head.get("x-api-key"), Some(KEY));
    assert_eq!(provider.part(BODY.len()), BODY.as_bytes());
    provider.answer(&[("content-type", "text/event-stream")]);
    let mut body = step(&runtime, response).unwrap().into_body();
    for event in EVENTS {
        provider.send(event.as_bytes());
        // It arrives before the next one is sent.
        let mut came = Vec::new();
        while came.len() < event.len() {
            let data = step(&runtime, body.data()).unwrap().unwrap();
            body.flow_control().release_capacity(data.len()).unwrap();
            came.extend_from_slice(&data);
        }
        assert_eq!(came, event.as_bytes());
    }
    provider.finish(None);
    assert!(step(&runtime, body.data()).is_none_or(|data| data.unwrap().is_empty()));
    drop((body, keep, provider));
    gateway.signal("TERM");
    gateway.ended();
    let told = inspected(&gateway.tape());
    let calls = told["model_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{calls:#?}");
    assert_eq!(
        (&calls[0]["model"], &calls[0]["end"], &calls[0]["stream"]),
        (&json!("claude-x-1"), &json!("answered"), &json!(true))
    );
    let written = String::from_utf8_lossy(&gateway.bytes_on_disk()).into_owned();
    assert!(!written.contains(KEY), "a key was stored");
}

/// A recording of models with an intercepting TLS proxy.
fn recording(certificates: &Certificates) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command
        .args(["record", "--models", "--forward-proxy", "127.0.0.1:0"])
        .args(["--intercept", "--ca-bundle", &certificates.path("ca.pem")])
        .arg("-o")
        .arg(folder.path().join("run"));
    Gateway::of(folder, &mut command)
}

/// The request of an agent with one tool.
const GO: &str =
    r#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"go"}]}"#;

#[test]
fn models_by_tls_and_servers_stand_in_one_recording_which_is_replayed() {
    let (certificates, upstream) = (Certificates::new(), Upstream::start());
    let mut gateway = recording(&certificates);
    let proxy = gateway.line["HTTPS_PROXY"].as_str().unwrap().to_owned();
    assert_eq!(proxy, gateway.line["listening"].as_str().unwrap());
    let trusted = gateway.line["NODE_EXTRA_CA_CERTS"].as_str().unwrap();
    assert!(
        Path::new(trusted).ends_with("home/authority/ca.pem"),
        "{trusted}"
    );
    assert!(gateway.line.get("ANTHROPIC_BASE_URL").is_none());
    let port = upstream.address().port();
    let mut client = secured(&gateway, port);
    let host = format!("localhost:{port}");
    client.send(format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {KEY}\r\nContent-Length: {}\r\n\r\n{GO}",
        GO.len()
    ));
    let mut server = accept(&upstream, &certificates.server_config(&["http/1.1"])).unwrap();
    let head = server.head();
    server.body(&head);
    let answer = asking(&[("toolu_1", "mcp__fs__read", json!({"path": "a.txt"}))]);
    server.send(answered("200 OK", "Connection: close\r\n", &answer));
    let head = client.head();
    assert_eq!(client.body(&head), answer.as_bytes());
    let recording_told = gateway.line["TAPEWRIGHT_RECORDING"]
        .as_str()
        .unwrap()
        .to_owned();
    let meta = json!({"claudecode/toolUseId": "toolu_1"});
    let call = (1, "read", json!({"path": "a.txt"}), meta);
    call_tools(&recording_told, gateway.folder.path(), &[call]);
    gateway.signal("TERM");
    let ended = crate::support::wait(&mut gateway.child, crate::support::http::PATIENCE);
    assert_eq!(ended.code(), Some(STOPPED), "{}", gateway.errors());
    let run = gateway.folder.path().join("run");
    let told = inspected(&run);
    let asked = &told["tools_asked"][0];
    assert_eq!(
        (&asked["fate"], &asked["how"]),
        (&json!("called"), &json!("id")),
        "{told:#}"
    );
    let written = String::from_utf8_lossy(&gateway.bytes_on_disk()).into_owned();
    assert!(!written.contains(KEY), "a key was stored");
    let ids = ["models", "fs"]
        .map(|name| header(&run.join(format!("{name}.tape.jsonl")))["part_of"].clone());
    assert_eq!(ids[0], ids[1]);

    let mut command = tapewright();
    command
        .args(["replay", "--models", "--listen", "127.0.0.1:0"])
        .arg(&run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let replay_server = listening(&mut command);
    let address = replay_server
        .url
        .split('/')
        .nth(2)
        .unwrap()
        .parse()
        .unwrap();
    let mut client = Wire::connect(address);
    let length = GO.len();
    let fields = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
    client.send(request("POST /anthropic/v1/messages", address, &fields) + GO);
    let head = client.head();
    assert_eq!(head.status(), 200);
    assert_eq!(client.body(&head), answer.as_bytes());
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn an_agent_behind_the_proxy_is_told_of_it_and_of_our_authority() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo "$HTTPS_PROXY|$https_proxy|$HTTP_PROXY|$NODE_EXTRA_CA_CERTS|$SSL_CERT_FILE|$ANTHROPIC_BASE_URL"; test -n "$TAPEWRIGHT_RECORDING" && test "$NO_PROXY" = kept.example && exit 5"#;
    let command = |options: &[&str]| {
        let mut command = tapewright();
        command
            .args(["record", "--models", "--forward-proxy", "127.0.0.1:0", "-o"])
            .arg(folder.path().join("run/"))
            .args(options)
            .args(["--", "sh", "-c", script])
            .env("TAPEWRIGHT_HOME", folder.path().join("home"))
            .env("NO_PROXY", "kept.example")
            .env("ANTHROPIC_BASE_URL", "http://left.example")
            .env_remove("SSL_CERT_FILE")
            .stdin(Stdio::null());
        command
    };
    let output = command(&["--intercept"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    // The recorder reports it: no other message is needed.
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let told: Vec<&str> = text.trim_end().split('|').collect();
    let home = folder.path().join("home");
    let ca = home.join("authority").join("ca.pem");
    let ca = ca.to_str().unwrap();
    assert!(told[0].starts_with("http://127.0.0.1:"), "{text}");
    assert_eq!(told[1..3], [told[0]; 2]);
    assert_eq!(told[3..], [ca, ca, "http://left.example"]);
    // If other hosts are tunnelled, the system's authorities are trusted.
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    let output = command(&["--intercept", "--intercept-host", "api.example"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("{ca}||http://left")), "{text}");
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    for (options, why) in [
        (&[][..], "--intercept"),
        (
            &["--intercept", "--provider", "own=http://x.example"],
            "--provider",
        ),
    ] {
        let output = command(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(!folder.path().join("run").exists(), "{said}");
    }
    let output = tapewright()
        .args(["record", "--forward-proxy", "127.0.0.1:0", "--", "sh"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--models"), "{said}");
}
