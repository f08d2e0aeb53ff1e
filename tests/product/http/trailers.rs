//! Trailers pass, announced or not, and nothing else passes in their place.

use tapewright_schemas::event::Direction;

use crate::support::http::{End, Gateway, Upstream, Wire, chunk, json, pair, request};

/// A response in chunks whose head announces nothing.
const OPEN: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The body that comes in chunks, and its trailers.
fn whole(wire: &mut Wire) -> (Vec<u8>, Vec<String>) {
    let mut body = Vec::new();
    loop {
        let chunk = wire.chunk();
        if chunk.is_empty() {
            return (body, wire.trailers());
        }
        body.extend_from_slice(&chunk);
    }
}

fn asked(gateway: &Gateway, fields: &str) -> Wire {
    let mut client = gateway.connect();
    client.send(request("GET /", gateway.address, fields));
    client
}

#[test]
fn they_pass_both_ways_whether_they_were_announced_or_not() {
    for (asks, announces, answers) in [
        ("", "", ""),
        ("TE: trailers\r\nConnection: TE\r\n", "", ""),
        ("", "Trailer: X-Sum\r\n", "Trailer: X-End\r\n"),
    ] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        let fields = format!("{asks}{announces}Transfer-Encoding: chunked\r\n");
        client.send(request("POST /mcp", gateway.address, &fields));
        let mut server = upstream.accept();
        let head = server.head();
        assert_eq!(head.get("trailer").is_some(), !announces.is_empty());
        client.send(chunk("abc"));
        client.send("0\r\nX-Sum: 7\r\nX-Sum: 8\r\nX-More: \r\n\r\n");
        let (body, trailers) = whole(&mut server);
        assert_eq!(body, b"abc");
        assert_eq!(trailers, ["x-sum: 7", "x-sum: 8", "x-more: "]);
        server.send(format!(
            "HTTP/1.1 200 OK\r\n{answers}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-End: a;b=\"c\"\r\n\r\n"
        ));
        client.head();
        let (body, trailers) = whole(&mut client);
        assert_eq!(
            (body.as_slice(), trailers.as_slice()),
            (&b"x"[..], &["x-end: a;b=\"c\"".to_owned()][..])
        );
        let exchange = gateway.stop().only();
        assert_eq!(exchange.trailers(Direction::ToServer).len(), 3);
        assert_eq!(exchange.trailers(Direction::ToClient).len(), 1);
        assert!(exchange.edits().is_empty(), "{:?}", exchange.edits());
    }
}

#[test]
fn they_pass_on_kept_connections_wherever_the_bytes_are_cut() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let sent = b"3\r\n0\r\n\r\n2\r\n\r\n\r\n0\r\nX-Sum: 7\r\n\r\n";
    let mut server = None;
    for cut in 0..sent.len() {
        let (first, rest) = sent.split_at(cut);
        let head = request("POST /", gateway.address, "Transfer-Encoding: chunked\r\n");
        client.send([head.as_bytes(), first].concat());
        let server = server.get_or_insert_with(|| upstream.accept());
        server.head();
        client.send(rest);
        let came = (b"0\r\n\r\n".to_vec(), vec!["x-sum: 7".to_owned()]);
        assert_eq!(whole(server), came, "{cut}");
        server.send([OPEN.as_bytes(), first].concat());
        client.head();
        server.send(rest);
        assert_eq!(whole(&mut client), came, "{cut}");
    }
}

#[test]
fn what_follows_them_on_a_connection_is_the_next_response() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let one = |turn: usize| request(&format!("GET /{turn}"), gateway.address, "");
    client.send((0..20).map(one).collect::<String>());
    let mut server = upstream.accept();
    for turn in 0..20 {
        server.head();
        server.send(match turn % 4 {
            0 => format!("{OPEN}1\r\nx\r\n0\r\nX-Turn: {turn}\r\n\r\n"),
            1 => format!("{OPEN}0\r\nX-Turn: {turn}\r\n\r\n"),
            2 => format!("{OPEN}1\r\nx\r\n0\r\n\r\n"),
            _ => json("200 OK", "", "0\r\n\r\n"),
        });
    }
    for turn in 0..20 {
        let head = client.head();
        assert_eq!(head.status(), 200, "{turn}");
        let trailer = vec![format!("x-turn: {turn}")];
        match turn % 4 {
            0 => assert_eq!(whole(&mut client), (b"x".to_vec(), trailer)),
            1 => assert_eq!(whole(&mut client), (Vec::new(), trailer)),
            2 => assert_eq!(whole(&mut client), (b"x".to_vec(), Vec::new())),
            _ => assert_eq!(client.body(&head), b"0\r\n\r\n"),
        }
    }
}

#[test]
fn what_a_head_is_acted_upon_does_not_come_behind_the_body() {
    let (upstream, gateway) = pair(&[]);
    let mut client = asked(&gateway, "");
    let mut server = upstream.accept();
    server.head();
    server.send(OPEN);
    server.send("0\r\nContent-Length: 99\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\nHost: evil\r\nConnection: close\r\nAuthorization: Bearer 4711-canary-4711\r\nSet-Cookie: a=b\r\nX-B: 2\r\n\r\n");
    client.head();
    assert_eq!(whole(&mut client).1, ["x-a: 1", "x-b: 2"]);
    // Both connections serve another exchange.
    client.send(request("GET /", gateway.address, ""));
    server.head();
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges[0].trailers(Direction::ToClient).len(), 8);
    let removed: Vec<String> = exchanges[0]
        .edits()
        .iter()
        .map(|edit| format!("{} {}", edit.what.name(), edit.field))
        .collect();
    for name in [
        "content-length",
        "host",
        "connection",
        "authorization",
        "set-cookie",
    ] {
        let wanted = format!("field_removed {name}");
        assert!(removed.contains(&wanted), "{wanted}: {removed:?}");
    }
}

#[test]
fn a_field_within_a_field_stays_one() {
    for broken in [
        "X-A: 1\rX-B: 2\r\n",
        "X-A: 1\r\n X-B: 2\r\n",
        "X A: 1\r\n",
        "X-A: \0\r\n",
        ": 1\r\n",
    ] {
        let (upstream, gateway) = pair(&[]);
        let mut client = asked(&gateway, "");
        let mut server = upstream.accept();
        server.head();
        server.send(OPEN);
        server.send(format!("1\r\nx\r\n0\r\n{broken}\r\n"));
        client.head();
        assert_eq!(client.chunks(1), b"x");
        // It breaks off, as it would without the recorder.
        assert_ne!(client.ends(), End::Reset, "{broken:?}");
    }
}

#[test]
fn where_there_are_no_chunks_the_body_ends_without_them() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(format!(
        "GET / HTTP/1.0\r\nHost: {}\r\n\r\n",
        gateway.address
    ));
    let mut server = upstream.accept();
    server.head();
    server.send(format!("{OPEN}3\r\nabc\r\n0\r\nX-End: 1\r\n\r\n"));
    let head = client.head();
    assert!(head.get("transfer-encoding").is_none(), "{head:?}");
    assert_eq!(client.rest(), (b"abc".to_vec(), End::Closed));
    let exchange = gateway.stop().only();
    assert_eq!(exchange.trailers(Direction::ToClient).len(), 1);
}

#[test]
fn they_pass_a_forward_proxy() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&[]);
    let mut client = gateway.connect();
    let address = upstream.address();
    client.send(format!(
        "GET http://{address}/ HTTP/1.1\r\nHost: {address}\r\n\r\n"
    ));
    let mut server = upstream.accept();
    server.head();
    server.send(format!("{OPEN}0\r\nX-End: 1\r\n\r\n"));
    client.head();
    assert_eq!(
        whole(&mut client),
        (Vec::new(), vec!["x-end: 1".to_owned()])
    );
}
