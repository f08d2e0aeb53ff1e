//! Requests that are refused, and the answers to them.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tapewright_proxy::front::FrontSettings;

use crate::client::INITIALIZE;
use crate::fake::{LIMIT, plain};
use crate::front_server::FrontServer;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn every_refusal_has_its_status_and_says_that_it_is_ours() {
    let front_server = FrontServer::of(plain("2025-11-25", |_, _| false));
    let mut http = front_server.http();
    let session = http.open();
    let json = "Content-Type: application/json\r\n";
    let accept = "Accept: application/json, text/event-stream\r\n";
    let all = format!("{json}{accept}");
    let both = format!("{all}{session}");
    let unknown = "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n";
    let stream = "Accept: text/event-stream\r\n";
    let table: Vec<(&str, String, &str, u16)> = vec![
        ("POST /mcp", all.clone(), PING, 400),
        ("POST /mcp", format!("{all}{unknown}"), PING, 404),
        ("POST /mcp", format!("{all}Mcp-Session-Id: \r\n"), PING, 404),
        ("POST /mcp", format!("{both}{session}"), PING, 400),
        ("POST /mcp", format!("{accept}{session}"), PING, 415),
        (
            "POST /mcp",
            format!("Content-Type: text/plain\r\n{accept}{session}"),
            PING,
            415,
        ),
        (
            "POST /mcp",
            format!("{json}Accept: text/html\r\n{session}"),
            PING,
            406,
        ),
        (
            "POST /mcp",
            format!("{both}MCP-Protocol-Version: 1999-01-01\r\n"),
            PING,
            400,
        ),
        ("POST /mcp", both.clone(), "{\"id\":", 400),
        ("POST /mcp", both.clone(), "42", 400),
        ("POST /mcp", both.clone(), "{}", 400),
        ("POST /mcp", both.clone(), "", 400),
        (
            "GET /mcp",
            session.clone() + "Accept: application/json\r\n",
            "",
            406,
        ),
        ("GET /mcp", stream.to_owned(), "", 400),
        ("GET /mcp", format!("{stream}{unknown}"), "", 404),
        ("DELETE /mcp", String::new(), "", 400),
        ("DELETE /mcp", unknown.to_owned(), "", 404),
        ("PUT /mcp", both.clone(), PING, 405),
        ("OPTIONS /mcp", String::new(), "", 405),
        ("POST /sse", all.clone(), PING, 405),
        ("GET /messages", String::new(), "", 405),
        ("POST /messages", all.clone(), PING, 400),
        ("POST /messages?sessionId=1", all.clone(), PING, 404),
        ("GET /elsewhere", String::new(), "", 404),
        ("POST /mcp/", all.clone(), INITIALIZE, 404),
        (
            "POST /mcp",
            format!("{all}Origin: http://evil.example\r\n"),
            INITIALIZE,
            403,
        ),
    ];
    for (line, fields, body, status) in table {
        let mut http = front_server.http();
        let (head, text) = http.ask(line, &fields, body);
        assert_eq!(head.status, status, "{line} {fields:?} {body:?}: {text}");
        assert!(head.get("x-tapewright").is_some(), "{line} {fields:?}");
        assert!(text.contains(r#""origin":"tapewright""#), "{text}");
        assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":"#), "{text}");
        if status == 405 {
            assert!(head.get("allow").is_some());
        }
    }
    // The id of a session is never repeated.
    let (_, text) = front_server.http().post(unknown, PING);
    assert!(!text.contains("0123456789abcdef"));
    assert!(text.contains("\"id\":1,"), "the id of the request: {text}");
}

#[test]
fn another_host_is_refused() {
    let front_server = FrontServer::of(plain("2025-11-25", |_, _| false));
    let mut http = front_server.http();
    http.raw("POST /mcp HTTP/1.1\r\nHost: evil.example.com\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(http.answer().0.status, 403);
}

#[test]
fn bodies_are_bounded() {
    let settings = FrontSettings {
        body_bytes: 1_000,
        body_time: Duration::from_millis(50),
        ..FrontSettings::default()
    };
    let front_server = FrontServer::with(plain("2025-11-25", |_, _| false), settings);
    let mut http = front_server.http();
    let session = http.open();
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
        "x".repeat(1_000)
    );
    assert_eq!(front_server.http().post(&session, &long).0.status, 413);
    // Even if its length is not announced.
    let mut http = front_server.http();
    let fields =
        format!("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n{session}");
    http.send("POST /mcp", &fields, "");
    http.raw(&format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len()));
    assert_eq!(http.answer().0.status, 413);
    // A missing body is not waited for.
    let mut http = front_server.http();
    http.raw(&format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n{session}\r\n{{", front_server.address));
    assert_eq!(http.answer().0.status, 408);
}

#[test]
fn sessions_are_bounded() {
    let settings = FrontSettings {
        sessions: 2,
        ..FrontSettings::default()
    };
    let front_server = FrontServer::with(plain("2025-11-25", |_, _| false), settings);
    let first = front_server.http().open();
    front_server.http().open();
    let (head, _) = front_server.http().post("", INITIALIZE);
    assert_eq!(head.status, 503);
    assert_eq!(head.get("retry-after"), Some("5"));
    assert_eq!(
        front_server.http().ask("DELETE /mcp", &first, "").0.status,
        204
    );
    front_server.http().open();
}

#[test]
fn a_burst_starts_no_more_servers_than_there_are_places() {
    const CLIENTS: usize = 300;
    const PLACES: usize = 256;
    // No server answers before all requests without a place were refused.
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let opened = Arc::clone(&gate);
    let fake = plain("2025-11-25", move |_, line| {
        if line.contains("initialize") {
            let is_open = opened.0.lock().unwrap();
            let waited = opened
                .1
                .wait_timeout_while(is_open, LIMIT, |is_open| !*is_open);
            drop(waited.unwrap());
        }
        false
    });
    // A client that waits for an answer gets no head meanwhile.
    let settings = FrontSettings {
        patience: LIMIT,
        ..FrontSettings::default()
    };
    let front_server = FrontServer::with(fake.clone(), settings);
    let (told, statuses) = std::sync::mpsc::sync_channel(CLIENTS);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (mut http, told) = (front_server.http(), told.clone());
            std::thread::spawn(move || {
                http.begin_post("", INITIALIZE);
                told.send(http.head().status).unwrap();
                // Leaving does not return its place.
                http
            })
        })
        .collect();
    let refused: Vec<u16> = statuses.iter().take(CLIENTS - PLACES).collect();
    assert_eq!(refused, [503; CLIENTS - PLACES]);
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    let served: Vec<u16> = statuses.iter().take(PLACES).collect();
    assert_eq!(served, [200; PLACES]);
    assert_eq!(fake.started() as usize, PLACES);
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn an_id_that_is_under_way_is_not_taken_twice() {
    let fake = plain("2025-11-25", |_, line| line.contains("slow"));
    let front_server = FrontServer::of(fake.clone());
    let session = front_server.http().open();
    let mut http = front_server.http();
    http.begin_post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#);
    while !fake.next().1.contains("slow") {}
    let (head, text) = front_server.http().post(&session, PING);
    assert_eq!(head.status, 400);
    assert!(
        text.contains("-32600") && text.contains("already pending"),
        "{text}"
    );
}

#[test]
fn health_is_told() {
    let front_server = FrontServer::of(plain("2025-11-25", |_, _| false));
    let (head, text) = front_server.http().ask("GET /healthz", "", "");
    assert_eq!((head.status, text.as_str()), (200, "ok\n"));
}
