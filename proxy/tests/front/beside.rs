//! Requests that are not MCP: refused in the format of their handler.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use tapewright_proxy::front::FrontSettings;
use tapewright_proxy::front::non_mcp::{Answers, NonMcpHandler, OtherResponse, Reply, Request};

use crate::fake::plain;
use crate::front_server::FrontServer;

/// Answers with the request, and with the reason for a refusal.
struct Echo;

impl Answers for Echo {
    fn answer(&self, request: &Request) -> Reply {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        Reply::Response(given(200, text))
    }

    fn refuse(&self, request: &Request, status: u16, why: &str) -> Option<OtherResponse> {
        assert!(request.body.is_empty());
        (request.target != "/mine").then(|| given(status, format!("no: {why}")))
    }
}

fn given(status: u16, text: String) -> OtherResponse {
    OtherResponse {
        wait: Duration::ZERO,
        status,
        fields: [("content-type", "text/plain")].into_iter().collect(),
        parts: [(Duration::ZERO, text.into())].into(),
        breaks_off: false,
        ours: None,
    }
}

fn front_server(settings: FrontSettings) -> FrontServer {
    let settings = FrontSettings {
        beside: Some(NonMcpHandler(Arc::new(Echo))),
        ..settings
    };
    FrontServer::with(plain("2025-11-25", |_, _| false), settings)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_body_that_pauses_is_refused_by_whoever_answers() {
    let front_server = front_server(FrontSettings {
        body_time: Duration::from_millis(50),
        ..FrontSettings::default()
    });
    let half = |target: &str| {
        let mut http = front_server.http();
        let host = front_server.address;
        http.raw(&format!(
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 10\r\n\r\n{{"
        ));
        let (head, text) = http.answer();
        (head.status, text)
    };
    assert_eq!(
        half("/v1/messages"),
        (408, "no: reading the body timed out".to_owned())
    );
    // If the handler has no answer, the front answers.
    let (status, text) = half("/mine");
    assert_eq!(status, 408);
    assert!(text.contains("\"jsonrpc\""), "{text}");
}

#[test]
fn what_is_decoded_takes_its_share_of_the_room() {
    let front_server = front_server(FrontSettings {
        bodies_bytes: 100_000,
        ..FrontSettings::default()
    });
    let ask = |body: &[u8]| {
        let mut http = front_server.http();
        let fields = "Content-Encoding: gzip\r\nContent-Type: application/json\r\n";
        let length = format!("Content-Length: {}\r\n", body.len());
        http.send("POST /v1/messages", &format!("{fields}{length}"), "");
        http.bytes(body);
        let (head, text) = http.answer();
        (head.status, text)
    };
    let small = "x".repeat(50_000);
    assert_eq!(ask(&gzip(small.as_bytes())), (200, small));
    let large = gzip("x".repeat(200_000).as_bytes());
    assert!(large.len() < 1_000);
    assert_eq!(
        ask(&large),
        (503, "no: too many requests in progress".to_owned())
    );
    // Its share of the budget was returned.
    assert_eq!(ask(&gzip(b"again")), (200, "again".to_owned()));
}
