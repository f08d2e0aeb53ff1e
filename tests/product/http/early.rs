//! Answers to requests that are not complete: the client can still send the rest, and reads the whole answer.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::http::tls::{Certificates, connect};
use crate::support::http::{End, Gateway, PATIENCE, Strict, Upstream, Wire};
use crate::support::http::{json, pair, post, request, tunnel};
use crate::support::{eventually, tapewright};

/// More than the buffers of both sockets hold.
const BODY: usize = 16_000_000;

/// Less than a gateway waits for a client that is silent.
const SOON: Duration = Duration::from_secs(4);

/// The head of a request that a gateway refuses before it reads the body.
fn refused(gateway: &Gateway) -> String {
    let fields = format!("Origin: https://evil.example\r\nContent-Length: {BODY}\r\n");
    request("POST /mcp", gateway.address, &fields)
}

/// Reads an answer to its end, which is that of the connection; returns its status.
#[track_caller]
fn reads(client: &mut Wire) -> u16 {
    let head = client.head();
    client.body(&head);
    assert_eq!(client.ends(), End::Closed);
    head.status()
}

/// A client that has read its answer, has sent only a part of its request, and does not leave.
fn answered(gateway: &Gateway) -> Wire {
    let mut client = gateway.connect();
    client.send(refused(gateway) + "{");
    assert_eq!(reads(&mut client), 403);
    client
}

#[test]
fn who_sends_all_of_a_refused_request_before_reading_gets_the_answer() {
    let server = Strict::start(|_| json("200 OK", "", "{}").into_bytes());
    let url = format!("http://{}/mcp", server.address());
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command.env("MINE", "4711-canary-of-a-client-token");
    command.args([
        "record",
        "--client-token",
        "MINE",
        "--listen",
        "127.0.0.1:0",
    ]);
    command.args(["--max-head", "10000", "--upstream", &url, "-o"]);
    command.arg(folder.path().join("run.tape.jsonl"));
    let gateway = Gateway::of(folder, &mut command);
    let length = format!("Content-Length: {BODY}\r\n");
    let foreign = refused(&gateway);
    let unknown = request("POST /mcp", gateway.address, &length);
    let long = format!("GET /mcp HTTP/1.1\r\nX: {}\r\n", "x".repeat(20_000));
    for (head, status) in [(foreign, 403), (unknown, 407), (long, 431)] {
        let mut client = gateway.connect();
        client.send(head);
        client.send(vec![b'x'; BODY]);
        assert_eq!(reads(&mut client), status);
    }
    assert!(server.seen().is_empty());
}

#[test]
fn who_sends_slowly_can_send_the_rest_after_the_answer() {
    let (_upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(refused(&gateway));
    client.send([b'x'; 1_000]);
    assert!(eventually(PATIENCE, || client.has_bytes()));
    for _ in 0..200 {
        client.send([b'x'; 1_000]);
    }
    assert_eq!(reads(&mut client), 403);
}

#[test]
fn the_answer_of_a_server_that_does_not_want_the_rest_arrives() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let fields = format!("Content-Length: {BODY}\r\n");
    client.send(request("POST /mcp", gateway.address, &fields));
    let mut server = upstream.accept();
    server.head();
    server.send(json("413 Content Too Large", "", "{}"));
    server.close_write();
    let reading = thread::spawn(move || server.rest());
    client.send(vec![b'x'; BODY]);
    assert_eq!(reads(&mut client), 413);
    reading.join().unwrap();
}

#[test]
fn an_answer_over_tls_arrives_too() {
    let upstream = Upstream::start();
    let certificates = Certificates::new();
    let (chain, key) = (certificates.path("cert.pem"), certificates.path("key.pem"));
    let options = ["--tls-cert", &chain, "--tls-key", &key];
    let gateway = Gateway::to(upstream.address(), &options);
    let config = certificates.client_config(&["http/1.1"]);
    let mut client = connect(gateway.connect().into_socket(), &config).unwrap();
    client.send(refused(&gateway));
    client.send(vec![b'x'; BODY]);
    assert_eq!(reads(&mut client), 403);
}

#[test]
fn a_client_that_does_not_leave_delays_no_shutdown() {
    let (_upstream, gateway) = pair(&[]);
    let client = answered(&gateway);
    let begin = Instant::now();
    gateway.stop();
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    drop(client);
}

#[test]
fn a_client_that_does_not_leave_makes_room_before_others() {
    let server = Strict::start(|_| json("200 OK", "", "{}").into_bytes());
    let gateway = Gateway::to(server.address(), &["--max-connections", "2"]);
    let ask = |client: &mut Wire| {
        client.send(post(gateway.address, "", "{}"));
        let head = client.head();
        assert_eq!(client.body(&head), b"{}");
    };
    let mut idle = gateway.connect();
    ask(&mut idle);
    let stays = answered(&gateway);
    let begin = Instant::now();
    let mut next = gateway.connect();
    ask(&mut next);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    // It was idle for longer, and is still served.
    ask(&mut idle);
    drop(stays);
}

#[test]
fn a_tunnel_whose_server_sends_no_more_still_passes_what_its_client_sends() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&[]);
    let mut client = tunnel(&gateway, &upstream.address().to_string());
    let mut server = upstream.accept();
    server.send("\x16");
    client.take(1);
    server.close_write();
    assert_eq!(client.ends(), End::Closed);
    for _ in 0..50 {
        client.send("ping");
        assert_eq!(server.text(4), "ping");
    }
}
