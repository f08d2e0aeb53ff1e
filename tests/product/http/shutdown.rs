//! How a gateway stops: pending requests may end, no new ones begin, the tape is complete.

use std::net::TcpStream;

use tapewright_schemas::event::{CloseReason, Direction};

use crate::support::http::{Gateway, PATIENCE, Upstream, Wire, chunk, json, pair, post, request};
use crate::support::{Tape, eventually, wait};

const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn stream(upstream: &Upstream, gateway: &Gateway) -> (Wire, Wire) {
    let mut client = gateway.connect();
    client.send(post(
        gateway.address,
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}",
    ));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(STREAM);
    client.head();
    (client, server)
}

fn refuses(gateway: &Gateway) -> bool {
    eventually(PATIENCE, || TcpStream::connect(gateway.address).is_err())
}

const EVENT: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";

#[test]
fn what_is_under_way_comes_to_its_end() {
    let (upstream, gateway) = pair(&["--drain-timeout", "600"]);
    let (mut client, mut server) = stream(&upstream, &gateway);
    let mut waiting = gateway.connect();
    waiting.send(post(gateway.address, "", "{}"));
    let mut slow = upstream.accept();
    let head = slow.head();
    slow.body(&head);
    gateway.signal("TERM");
    assert!(refuses(&gateway));
    server.send(chunk(EVENT));
    assert_eq!(client.chunk(), EVENT.as_bytes());
    server.send("0\r\n\r\n");
    assert_eq!(client.chunk(), b"");
    slow.send(json("200 OK", "", "{}"));
    let head = waiting.head();
    assert_eq!(waiting.body(&head), b"{}");
    let mut gateway = gateway;
    let exchanges = gateway.ended().exchanges();
    assert_eq!(exchanges[0].messages(Direction::ToClient).len(), 1);
    for exchange in exchanges {
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::EndOfInput)
        );
    }
}

#[test]
fn what_takes_longer_than_the_deadline_is_cut_off_and_told_as_ours() {
    for twice in [false, true] {
        let deadline = if twice { "600" } else { "0.1" };
        let (upstream, gateway) = pair(&["--drain-timeout", deadline]);
        let (mut client, mut server) = stream(&upstream, &gateway);
        server.send(chunk(EVENT));
        assert_eq!(client.chunk(), EVENT.as_bytes());
        let mut waiting = gateway.connect();
        waiting.send(post(gateway.address, "", "{}"));
        let mut slow = upstream.accept();
        let head = slow.head();
        slow.body(&head);
        gateway.signal("TERM");
        if twice {
            // A second one means: now.
            assert!(refuses(&gateway));
            gateway.signal("TERM");
        }
        // No proper end on any side.
        client.ends();
        waiting.ends();
        server.ends();
        slow.ends();
        let mut gateway = gateway;
        let exchanges = gateway.ended().exchanges();
        assert_eq!(exchanges[0].messages(Direction::ToClient).len(), 1);
        for exchange in exchanges {
            assert_eq!(
                exchange.end(Direction::ToClient),
                Some(CloseReason::Stopped)
            );
        }
    }
}

#[test]
fn connections_on_which_nothing_is_under_way_delay_nobody() {
    let (upstream, gateway) = pair(&["--drain-timeout", "600", "--metrics", "127.0.0.1:0"]);
    let silent = gateway.connect();
    let mut half = gateway.connect();
    half.send("POST /mcp HT");
    let mut preface = gateway.connect();
    preface.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let mut kept = gateway.connect();
    kept.send(request("GET /", gateway.address, ""));
    let mut server = upstream.accept();
    server.head();
    server.send(json("200 OK", "", "{}"));
    let head = kept.head();
    kept.body(&head);
    let metrics = gateway.line["metrics"]
        .as_str()
        .unwrap()
        .split('/')
        .nth(2)
        .unwrap()
        .parse()
        .unwrap();
    let figures = Wire::connect(metrics);
    let mut gateway = gateway;
    gateway.signal("TERM");
    gateway.ended();
    drop((silent, half, preface, kept, figures));
}

#[test]
fn a_tunnel_is_cut_off_at_the_deadline_too() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&["--drain-timeout", "0.1"]);
    let mut client = gateway.connect();
    let authority = upstream.address();
    client.send(format!(
        "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    ));
    assert_eq!(client.head().status(), 200);
    let mut server = upstream.accept();
    server.send("x");
    client.take(1);
    gateway.signal("TERM");
    client.ends();
    server.ends();
    let mut gateway = gateway;
    let exchange = gateway.ended().only();
    assert_eq!(
        exchange.end(Direction::ToClient),
        Some(CloseReason::Stopped)
    );
}

#[test]
fn an_interruption_is_told_as_one() {
    for busy in [false, true] {
        let (upstream, mut gateway) = pair(&["--drain-timeout", "0.1"]);
        let open = busy.then(|| stream(&upstream, &gateway));
        gateway.signal("INT");
        let status = wait(&mut gateway.child, PATIENCE);
        assert_eq!(status.code(), Some(130));
        assert!(Tape::read(&gateway.tape()).is_complete());
        drop(open);
    }
}
