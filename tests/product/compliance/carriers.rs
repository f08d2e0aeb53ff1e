//! Rules are only applied to the carriers of messages that they are about: correct peers pass, on
//! every transport.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use tapewright_schemas::event::{Direction, EventBody, Side};

use super::{INITIALIZE, INITIALIZED, PING, PONG, RESULT, findings, from_disk, server};
use crate::support::http::{Gateway, Strict, Wire, chunk, json, pair, post, request};
use crate::support::{Session, Tape, eventually, record, tapewright};

const CHECK: [&str; 2] = ["--check", "--all"];

/// The codes that are found on a tape, live and again from disk.
fn codes(gateway: Gateway) -> (Vec<String>, Tape) {
    let folder = tempfile::tempdir().unwrap();
    let (path, kept) = (gateway.tape(), folder.path().join("kept.tape.jsonl"));
    let mut gateway = gateway;
    gateway.signal("TERM");
    let tape = gateway.ended();
    fs::copy(path, &kept).unwrap();
    let mut live: Vec<_> = findings(&tape).into_iter().map(|one| one.code).collect();
    let mut disk: Vec<_> = from_disk(&kept)
        .into_iter()
        .map(|(code, ..)| code)
        .collect();
    live.sort();
    disk.sort();
    assert_eq!(live, disk);
    (live, tape)
}

/// Sends a request on a new connection; returns the status.
fn ask(gateway: &Gateway, text: impl AsRef<[u8]>) -> u16 {
    let mut client = gateway.connect();
    client.send(text);
    let head = client.head();
    client.body(&head);
    head.status()
}

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";
const VERSION: &str = "MCP-Protocol-Version: 2025-06-18\r\n";
const OAUTH: &str = r#"{"error":"invalid_token"}"#;
const REFUSAL: &str = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}"#;

/// A server over HTTP that refuses a GET, a DELETE and a ping so; with or without a session
/// id.
fn terse(
    id: &'static str,
    get: &'static str,
    ping: Option<(&'static str, &'static str)>,
) -> Strict {
    Strict::start(move |seen| {
        let body = String::from_utf8_lossy(&seen.body);
        let answer = if seen.head.line.starts_with("GET") {
            json(get, "", REFUSAL)
        } else if seen.head.line.starts_with("DELETE") {
            json("400 Bad Request", "", REFUSAL)
        } else if body.contains("initialize\"") {
            json("200 OK", id, RESULT)
        } else if body.contains("\"id\"") {
            match ping {
                Some((status, body)) => json(status, "", body),
                None => json("200 OK", "", PONG),
            }
        } else {
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned()
        };
        answer.into_bytes()
    })
}

/// A session with such a server.
fn talk(gateway: &Gateway, id: &str) {
    let fields = format!("{ACCEPT}{VERSION}{id}");
    let address = gateway.address;
    assert_eq!(ask(gateway, post(address, ACCEPT, INITIALIZE)), 200);
    assert_eq!(ask(gateway, post(address, &fields, INITIALIZED)), 202);
    let events = format!("Accept: text/event-stream\r\n{VERSION}{id}");
    ask(gateway, request("GET /mcp", address, &events));
    ask(gateway, post(address, &fields, PING));
    ask(gateway, post(address, &fields, &PING.replace(":1,", ":2,")));
    ask(
        gateway,
        request("DELETE /mcp", address, &format!("{VERSION}{id}")),
    );
}

#[test]
fn a_server_may_refuse_a_stream_and_a_delete_and_name_no_session() {
    for id in ["", "Mcp-Session-Id: abcdef0123456789\r\n"] {
        for get in ["405 Method Not Allowed", "404 Not Found"] {
            let server = terse(id, get, Some(("400 Bad Request", REFUSAL)));
            let gateway = Gateway::to(server.address(), &CHECK);
            talk(&gateway, id);
            assert_eq!(codes(gateway).0, [""; 0], "{id} {get}");
        }
    }
}

#[test]
fn an_http_error_is_a_message_only_if_it_is_one_of_json_rpc() {
    for (status, body, is_message) in [
        ("401 Unauthorized", OAUTH, false),
        ("403 Forbidden", OAUTH, false),
        ("403 Forbidden", REFUSAL, true),
    ] {
        let id = "Mcp-Session-Id: abcdef0123456789\r\n";
        let server = terse(id, "405 Method Not Allowed", Some((status, body)));
        let gateway = Gateway::to(server.address(), &CHECK);
        talk(&gateway, id);
        let (found, tape) = codes(gateway);
        assert_eq!(found, [""; 0], "{status}");
        let message = tape.messages(Direction::ToClient);
        let times = message.iter().filter(|one| *one == body).count();
        // The GET and the DELETE were refused with one as well.
        assert_eq!(
            times,
            if is_message { 4 } else { 0 },
            "{status} {message:?}"
        );
        let other = |event: &EventBody| match event {
            EventBody::Body { payload } => payload.kept() == body.as_bytes(),
            _ => false,
        };
        let bodies = tape.events.iter().filter(|event| other(&event.body));
        assert_eq!(bodies.count(), if is_message { 0 } else { 2 }, "{status}");
    }
}

#[test]
fn an_oauth_error_behind_a_bridge_is_told_as_ours_and_blames_nobody() {
    let server = terse(
        "",
        "405 Method Not Allowed",
        Some(("401 Unauthorized", OAUTH)),
    );
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("s.tape.jsonl");
    let url = format!("http://{}/mcp", server.address());
    let options = ["-o", tape.to_str().unwrap(), "--upstream", &url];
    let options = [&options[..], &CHECK].concat();
    let mut command = tapewright();
    command.arg("record").args(&options);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut session = Session::start(command);
    super::handshake(&mut session);
    session.send(PING);
    let told = session.line();
    assert!(told.contains("the server answered 401"), "{told}");
    session.close_input();
    assert_eq!(session.child.wait().unwrap().code(), Some(0));
    assert_eq!(findings(&Tape::read(&tape)), []);
    assert_eq!(from_disk(&tape), []);
}

/// One event of a stream that is sent in chunks.
fn event(message: &str) -> Vec<u8> {
    chunk(format!("event: message\r\ndata: {message}\r\n\r\n"))
}

#[test]
fn http_with_sse_is_judged_as_what_it_is() {
    let (upstream, gateway) = pair(&CHECK);
    let mut client = gateway.connect();
    let accept = "Accept: text/event-stream\r\n";
    client.send(request("GET /sse", gateway.address, accept));
    let mut server = upstream.accept();
    server.head();
    server.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    client.head();
    server.send(chunk(
        "event: endpoint\r\ndata: /message?sessionId=7\r\n\r\n",
    ));
    client.chunk();
    // No session id, no version header, answers with a body and on a stream of GET.
    for (message, answer) in [
        (INITIALIZE, Some(RESULT)),
        (INITIALIZED, None),
        (PING, Some(PONG)),
    ] {
        let mut posting = gateway.connect();
        let text = post(gateway.address, "Accept: */*\r\n", message);
        posting.send(text.replace("/mcp", "/message?sessionId=7"));
        let mut accepting: Wire = upstream.accept();
        let head = accepting.head();
        accepting.body(&head);
        accepting.send(
            "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\nConnection: close\r\n\r\nAccepted",
        );
        assert_eq!(posting.head().status(), 202);
        posting.text(8);
        if let Some(answer) = answer {
            server.send(event(answer));
            client.chunk();
        }
    }
    drop(client);
    drop(server);
    assert_eq!(codes(gateway).0, [""; 0]);
}

#[test]
fn a_command_behind_http_is_judged_by_its_lines() {
    for (noise, expected) in [(None, &[][..]), (Some("listening"), &["INV-053"])] {
        let pong = noise.map_or(PONG.to_owned(), |noise| format!("{PONG}' '{noise}"));
        let script = server(&[("initialize\\\"", RESULT), ("ping", &pong)]);
        let mut options = vec!["--listen", "127.0.0.1:0"];
        options.extend(CHECK);
        options.extend(["--", "sh", "-c", &script]);
        let gateway = Gateway::start(&options);
        let mut client = gateway.connect();
        client.send(post(gateway.address, ACCEPT, INITIALIZE));
        let head = client.head();
        client.body(&head);
        let id = head.get("mcp-session-id").unwrap().to_owned();
        let fields = format!("{ACCEPT}{VERSION}Mcp-Session-Id: {id}\r\n");
        let events = fields.replace("application/json, ", "");
        let address = gateway.address;
        assert_eq!(ask(&gateway, post(address, &fields, INITIALIZED)), 202);
        let mut stream = gateway.connect();
        stream.send(request("GET /mcp", address, &events));
        assert_eq!(stream.head().status(), 200);
        assert_eq!(ask(&gateway, post(address, &fields, PING)), 200);
        let mut leaving = gateway.connect();
        leaving.send(request("DELETE /mcp", address, &fields));
        assert_eq!(leaving.head().status(), 204);
        drop(stream);
        assert_eq!(codes(gateway).0, expected, "{noise:?}");
    }
}

/// A server that takes its time to save its data.
const SAVES: &str = "cat >/dev/null; sleep 1.5; exit 7";

#[test]
fn a_server_may_save_for_a_second_and_a_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.tape.jsonl");
    let options = [&["-o", path.to_str().unwrap()], &CHECK[..]].concat();
    let mut session = Session::start(record(&options, &["sh", "-c", SAVES]));
    session.close_input();
    // The recorder did not end it.
    assert_eq!(session.child.wait().unwrap().code(), Some(7));
    assert_eq!(findings(&Tape::read(&path)), []);
    assert_eq!(from_disk(&path), []);
}

/// The messages of a tape that the recorder made; no peer is blamed for them.
fn made_by_us(tape: &Tape) -> Vec<String> {
    let found = findings(tape);
    let made = tape.events.iter().filter(|event| event.is_made_by_us());
    made.map(|event| {
        let mut about = found
            .iter()
            .filter(|one| one.evidence.iter().any(|place| place.seq == event.seq));
        assert!(about.all(|one| one.side == Side::Recorder), "{found:?}");
        match &event.body {
            EventBody::Message { payload, .. } => String::from_utf8_lossy(payload.kept()).into(),
            other => panic!("{other:?}"),
        }
    })
    .collect()
}

#[test]
fn what_we_answer_in_a_servers_place_is_ours_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape.jsonl");
    // Port 1 is reserved, and unprivileged programs cannot use it.
    let options = [
        "-o",
        path.to_str().unwrap(),
        "--check",
        "--all",
        "--upstream",
    ];
    let mut command = tapewright();
    command
        .arg("record")
        .args(options)
        .arg("http://127.0.0.1:1/mcp");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut session = Session::start(command);
    session.send(INITIALIZE);
    let answer = session.line();
    session.finish(Duration::from_secs(60));
    assert_eq!(made_by_us(&Tape::read(&path)), [answer]);

    // A process behind HTTP that exits with an answer pending.
    let folder = tempfile::tempdir().unwrap();
    let script = server(&[("initialize\\\"", RESULT), ("ping", "'; exit; echo '")]);
    let tape = folder.path().join("run.tape.jsonl");
    let mut command = tapewright();
    let listen = [
        "record",
        "--listen",
        "127.0.0.1:0",
        "--check",
        "--all",
        "-o",
    ];
    command
        .args(listen)
        .arg(&tape)
        .args(["--", "sh", "-c", &script]);
    let gateway = Gateway::of(folder, &mut command);
    let mut client = gateway.connect();
    client.send(post(gateway.address, ACCEPT, INITIALIZE));
    let head = client.head();
    client.body(&head);
    let id = format!(
        "Mcp-Session-Id: {}\r\n",
        head.get("mcp-session-id").unwrap()
    );
    let mut client = gateway.connect();
    client.send(post(
        gateway.address,
        &format!("{ACCEPT}{VERSION}{id}"),
        PING,
    ));
    let head = client.head();
    let body = String::from_utf8(client.body(&head)).unwrap();
    let made = made_by_us(&gateway.stop());
    assert_eq!(made.len(), 1);
    assert!(body.contains(&made[0]), "{body}");
}

#[test]
fn who_answers_after_us_is_not_blamed() {
    // It answers after its input has ended and its client got an answer of the recorder.
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let [marker, go] = ["heard", "answered"].map(|name| folder.path().join(name));
    let script = format!(
        "while read -r line; do case \"$line\" in *initialize\\\"*) echo '{RESULT}';; *ping*) : > \"$HEARD\"; cat > /dev/null; while [ ! -e \"$ANSWERED\" ]; do sleep 0.01; done; echo '{PONG}';; esac; done"
    );
    let mut command = tapewright();
    command.env("HEARD", &marker).env("ANSWERED", &go);
    let listen = [
        "record",
        "--listen",
        "127.0.0.1:0",
        "--check",
        "--all",
        "-o",
    ];
    command
        .args(listen)
        .arg(&tape)
        .args(["--", "sh", "-c", &script]);
    let gateway = Gateway::of(folder, &mut command);
    let address = gateway.address;
    let mut client = gateway.connect();
    client.send(post(address, ACCEPT, INITIALIZE));
    let head = client.head();
    client.body(&head);
    let id = format!(
        "Mcp-Session-Id: {}\r\n",
        head.get("mcp-session-id").unwrap()
    );
    let fields = format!("{ACCEPT}{VERSION}{id}");
    assert_eq!(ask(&gateway, post(address, &fields, INITIALIZED)), 202);
    let mut asking = gateway.connect();
    asking.send(post(address, &fields, PING));
    assert!(eventually(Duration::from_secs(60), || marker.exists()));
    let last = format!("{fields}Connection: close\r\n");
    ask(&gateway, request("DELETE /mcp", address, &last));
    let head = asking.head();
    asking.body(&head);
    fs::write(&go, "").unwrap();
    let (codes, tape) = codes(gateway);
    assert_eq!(made_by_us(&tape).len(), 1);
    let pong = |text: &String| text == PONG;
    assert!(tape.messages(Direction::ToClient).iter().any(pong));
    assert_eq!(codes, Vec::<String>::new());
}
