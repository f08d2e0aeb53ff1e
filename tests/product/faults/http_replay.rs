//! Faults on a recording that is served over HTTP.

use std::fmt::Write as _;

use super::view::got;
use super::{PATIENCE, call};
use crate::support::http::{Gateway, Wire, post};
use crate::support::{eventually, tapewright};

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";
const OPENING: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";

/// A cassette of a session with two calls.
fn cassette() -> String {
    let opened = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}";
    let mut text = format!(
        "{{\"version\":\"1\",\"exchanges\":[{{\"request\":{OPENING},\"response\":{opened}}}"
    );
    for id in 1..=2 {
        let asked = call(id, "search");
        let answer = answer(id);
        write!(text, ",{{\"request\":{asked},\"response\":{answer}}}").unwrap();
    }
    text + "]}"
}

fn answer(id: u64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"n\":1}}}}")
}

/// A recording that is served with a fault, and a session on it.
struct Served {
    gateway: Gateway,
    session: String,
}

impl Served {
    fn with(fault: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, cassette()).unwrap();
        let control = format!("unix:{}", folder.path().join("control").display());
        let options = ["replay", path.to_str().unwrap(), "--listen", "127.0.0.1:0"];
        let more = [
            "--fault",
            fault,
            "--exhausted",
            "last",
            "--control",
            &control,
        ];
        let gateway = Gateway::of(folder, tapewright().args(options).args(more));
        let mut served = Self {
            gateway,
            session: String::new(),
        };
        let mut client = served.ask(OPENING);
        let head = client.head();
        client.body(&head);
        let name = head.get("mcp-session-id").expect("a session");
        served.session = format!("Mcp-Session-Id: {name}\r\n");
        served
    }

    /// Sends a message on a new connection.
    fn ask(&self, body: &str) -> Wire {
        let mut client = self.gateway.connect();
        let fields = format!("{ACCEPT}{}", self.session);
        client.send(post(self.gateway.address, &fields, body));
        client
    }

    /// The response to a call: the status and the body.
    fn call(&self, id: u64) -> (u16, String) {
        let mut client = self.ask(&call(id, "search"));
        let head = client.head();
        let body = client.body(&head);
        (head.status(), String::from_utf8(body).unwrap())
    }
}

#[test]
fn a_call_gets_an_http_status_and_the_session_goes_on() {
    for (status, field) in [
        (404, None),
        (401, Some(("www-authenticate", "Bearer"))),
        (429, Some(("retry-after", "2"))),
    ] {
        let wait = if status == 429 {
            " retry_after_s=2"
        } else {
            ""
        };
        let served = Served::with(&format!("http-status nth=1 status={status}{wait}"));
        let mut client = served.ask(&call(1, "search"));
        let head = client.head();
        assert_eq!(head.status(), status);
        if let Some((name, value)) = field {
            assert_eq!(head.get(name), Some(value));
        }
        assert_eq!(served.call(2), (200, answer(2)));
    }
}

#[test]
fn a_reset_cuts_one_connection_and_the_session_goes_on() {
    let whole = answer(1);
    let half = &whole[..whole.len() / 2];
    for (at, body) in [
        ("before", None),
        ("head", Some("")),
        ("mid", Some(half)),
        ("after", Some(whole.as_str())),
    ] {
        let served = Served::with(&format!("reset nth=1 at={at}"));
        let mut client = served.ask(&call(1, "search"));
        if let Some(body) = body {
            let head = client.head();
            assert_eq!(head.status(), 200, "{at}");
            let came = client.chunks(body.len());
            assert_eq!(String::from_utf8_lossy(&came), body, "{at}");
        }
        client.ends();
        assert_eq!(served.call(2), (200, answer(2)), "{at}");
    }
}

#[test]
fn what_is_added_to_an_answer_reaches_the_client_that_waits_for_it() {
    for (fault, events) in [
        ("garbage nth=1 text=noise", ["noise".to_owned(), answer(1)]),
        ("duplicate nth=1 times=1", [answer(1), answer(1)]),
    ] {
        let served = Served::with(fault);
        let (status, body) = served.call(1);
        assert_eq!(status, 200, "{fault}");
        let data: Vec<_> = body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .collect();
        assert_eq!(data, events, "{fault}: {body}");
        assert_eq!(served.call(2), (200, answer(2)), "{fault}");
    }
}

#[test]
fn a_hang_leaves_other_calls_alone() {
    let served = Served::with("hang nth=1");
    let mut hung = served.ask(&call(1, "search"));
    // Which of two connections is read first is undefined.
    let control = served.gateway.folder.path().join("control");
    let hangs = || got(&control, "/hangs")["count"] == 1;
    assert!(eventually(PATIENCE, hangs));
    assert_eq!(served.call(2), (200, answer(2)));
    assert!(!hung.has_bytes());
}

#[test]
fn a_client_that_has_closed_its_direction_gets_its_late_answer() {
    let served = Served::with("slow delay_ms=300");
    let mut client = served.ask(&call(1, "search"));
    client.close_write();
    let head = client.head();
    let body = client.body(&head);
    assert_eq!(head.status(), 200);
    assert!(String::from_utf8(body).unwrap().contains("\"n\":1"));
}
