//! Limits for clients: idle connections, bodies that do not arrive.

use std::thread::sleep;
use std::time::Duration;

use crate::support::http::{Gateway, Upstream, Wire, json, pair, post, request, tunnel};

fn asks(client: &mut Wire, gateway: &Gateway) -> u16 {
    client.send(request("GET /healthz", gateway.address, ""));
    let head = client.head();
    client.body(&head);
    head.status()
}

#[test]
fn who_idles_longest_makes_room_and_nobody_whose_request_is_under_way() {
    let (upstream, gateway) = pair(&["--max-connections", "4"]);
    let mut waits = gateway.connect();
    waits.send(post(gateway.address, "", "{}"));
    let mut slow = upstream.accept();
    let head = slow.head();
    slow.body(&head);
    let mut listens = gateway.connect();
    listens.send(request("GET /mcp", gateway.address, ""));
    let mut stream = upstream.accept();
    stream.head();
    stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n");
    listens.head();
    // One that has served a request, and one that never sends anything.
    let mut idle = gateway.connect();
    assert_eq!(asks(&mut idle, &gateway), 200);
    let mut silent = gateway.connect();
    let mut flood = Vec::new();
    for _ in 0..30 {
        let mut next = gateway.connect();
        assert_eq!(asks(&mut next, &gateway), 200);
        flood.push(next);
    }
    idle.ends();
    silent.ends();
    // Those of the flood that were idle for longest were closed, too.
    flood[0].ends();
    assert_eq!(asks(flood.last_mut().unwrap(), &gateway), 200);
    slow.send(json("200 OK", "", "{\"late\":true}"));
    let head = waits.head();
    assert_eq!(waits.body(&head), b"{\"late\":true}");
    stream.send("data: x\n\n");
    assert!(!listens.take(10).is_empty());
}

#[test]
fn a_tunnel_keeps_its_place() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&["--max-connections", "1"]);
    let mut client = tunnel(&gateway, &upstream.address().to_string());
    let mut server = upstream.accept();
    server.send("\x16");
    client.take(1);
    let mut other = gateway.connect();
    other.send(request("GET /healthz", gateway.address, ""));
    for _ in 0..50 {
        client.send("ping");
        assert_eq!(server.text(4), "ping");
    }
    assert!(!other.has_bytes());
    drop((client, server));
    assert_eq!(other.head().status(), 200);
}

#[test]
fn a_body_that_does_not_go_on_is_given_up() {
    let (upstream, gateway) = pair(&["--body-timeout", "0.2"]);
    for fields in ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut client = gateway.connect();
        client.send(request("POST /mcp", gateway.address, fields));
        client.send("3\r\nab");
        let mut server = upstream.accept();
        server.head();
        let head = client.head();
        assert_eq!(head.status(), 408, "{fields}");
        assert!(head.get("x-tapewright").is_some());
        server.rest();
    }
    for exchange in gateway.stop().exchanges() {
        assert_eq!(exchange.ours(), "body_slow");
    }
}

#[test]
fn a_body_may_take_any_time_as_long_as_it_goes_on() {
    let (upstream, gateway) = pair(&["--body-timeout", "2"]);
    let mut client = gateway.connect();
    client.send(request(
        "POST /mcp",
        gateway.address,
        "Content-Length: 3\r\n",
    ));
    let mut server = upstream.accept();
    server.head();
    for byte in ["a", "b", "c"] {
        sleep(Duration::from_millis(1_100));
        client.send(byte);
        assert_eq!(server.text(1), byte);
    }
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
}
