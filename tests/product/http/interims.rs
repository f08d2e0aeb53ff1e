//! Interim responses (1xx) pass as they come, before the response and nowhere else.

use std::io::Write as _;
use std::thread;

use tapewright_schemas::event::{EventBody, Head};

use crate::support::http::{Gateway, Head as Came, Upstream, json, pair, post, request};

const HINTS: &str =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>\r\nX-Hint: 1\r\n\r\n";

fn fields(head: &Came) -> Vec<(&str, &str)> {
    head.fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[test]
fn each_passes_before_the_next_one_comes_and_is_on_the_tape() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", "{}"));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 102 Processing\r\n\r\n");
    assert_eq!(client.head().line, "HTTP/1.1 102 Processing");
    server.send(HINTS);
    let hints = client.head();
    assert_eq!(hints.line, "HTTP/1.1 103 Early Hints");
    let wanted = [
        ("link", "</a.css>; rel=preload"),
        ("link", "</b.js>"),
        ("x-hint", "1"),
    ];
    assert_eq!(fields(&hints), wanted);
    server.send("HTTP/1.1 199 Whatever It Says\r\n\r\n");
    assert_eq!(client.head().status(), 199);
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    assert_eq!(client.text(2), "{}");
    let exchange = gateway.stop().only();
    assert_eq!(exchange.interims(), [102, 103, 199]);
    let heads = exchange.find(|body| match body {
        EventBody::Head(head) => Some(head.as_ref()),
        _ => None,
    });
    // In order, with their fields, before the response.
    let Head::Interim(hints) = heads[2] else {
        panic!("{heads:?}");
    };
    assert_eq!(hints.fields.get("x-hint"), Some("1"));
    assert!(matches!(heads[4], Head::Response(head) if head.status == 200));
}

#[test]
fn requests_that_wait_behind_another_get_their_own_wherever_the_bytes_are_cut() {
    const TURNS: usize = 12;
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let asked: String = (0..TURNS)
        .map(|turn| request(&format!("GET /{turn}"), gateway.address, ""))
        .collect();
    client.send(asked);
    let mut server = upstream.accept();
    for turn in 0..TURNS {
        assert_eq!(server.head().line, format!("GET /{turn} HTTP/1.1"));
        let hint = |step| format!("HTTP/1.1 103 Early Hints\r\nX-Of: {turn}.{step}\r\n\r\n");
        let hints: String = (0..turn % 4).map(hint).collect();
        // With a length and in chunks; the following bytes must not be treated as a part of it.
        let body = if turn % 2 == 0 {
            "Content-Length: 5\r\n\r\n0\r\n\r\n"
        } else {
            "Transfer-Encoding: chunked\r\n\r\n5\r\n0\r\n\r\n\r\n0\r\n\r\n"
        };
        let answer = format!("{hints}HTTP/1.1 200 OK\r\nX-Of: {turn}\r\n{body}");
        for part in answer.as_bytes().chunks(1 + turn * 3) {
            server.send(part);
        }
    }
    for turn in 0..TURNS {
        for step in 0..turn % 4 {
            let head = client.head();
            assert_eq!(head.status(), 103, "{turn}.{step}");
            let of = format!("{turn}.{step}");
            assert_eq!(fields(&head), [("x-of", of.as_str())]);
        }
        let head = client.head();
        assert_eq!(head.status(), 200, "{turn}");
        assert_eq!(head.get("x-of"), Some(turn.to_string().as_str()));
        assert_eq!(client.body(&head), b"0\r\n\r\n");
    }
    let exchanges = gateway.stop().exchanges();
    let counts: Vec<usize> = exchanges.iter().map(|one| one.interims().len()).collect();
    let wanted: Vec<usize> = (0..TURNS).map(|turn| turn % 4).collect();
    assert_eq!(counts, wanted);
}

#[test]
fn they_pass_while_the_request_is_still_under_way() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let fields = "Content-Length: 6\r\n";
    client.send(request("POST /mcp", gateway.address, fields));
    client.send("abc");
    let mut server = upstream.accept();
    server.head();
    assert_eq!(server.text(3), "abc");
    server.send("HTTP/1.1 102 Processing\r\n\r\n");
    assert_eq!(client.head().status(), 102);
    client.send("def");
    assert_eq!(server.text(3), "def");
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
}

#[test]
fn a_client_is_asked_for_its_body_once_and_told_what_else_there_is() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let fields = "Expect: 100-continue\r\nContent-Length: 4\r\n";
    client.send(request("POST /mcp", gateway.address, fields));
    let mut server = upstream.accept();
    server.head();
    server.send(HINTS);
    assert_eq!(client.head().status(), 103);
    server.send("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.head().status(), 100);
    client.send("body");
    assert_eq!(server.text(4), "body");
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    client.take(2);
    // This one was not requested, and is forwarded all the same.
    client.send(post(gateway.address, "", "{}"));
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.head().status(), 100);
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges[0].interims(), [103, 100]);
    assert_eq!(exchanges[1].interims(), [100]);
}

#[test]
fn a_client_of_http_1_0_gets_none() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(format!(
        "GET / HTTP/1.0\r\nHost: {}\r\n\r\n",
        gateway.address
    ));
    let mut server = upstream.accept();
    server.head();
    server.send(HINTS);
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    assert_eq!(gateway.stop().only().interims(), [103]);
}

#[test]
fn what_one_holds_frames_nothing_and_ends_where_it_ends() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for (fields, passed) in [
        ("Content-Length: 30\r\n", &[][..]),
        ("Transfer-Encoding: chunked\r\n", &[]),
        (
            "Connection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\n",
            &[],
        ),
        ("Trailer: X\r\nUpgrade: h2c\r\n", &[("trailer", "X")]),
        // A single line feed ends a line for the recorder, and for the client.
        ("X-A: 1\nX-B: 2\r\n", &[("x-a", "1"), ("x-b", "2")]),
    ] {
        client.send(request("GET /", gateway.address, ""));
        let server = server.get_or_insert_with(|| upstream.accept());
        server.head();
        server.send(format!("HTTP/1.1 103 Early Hints\r\n{fields}\r\n"));
        let head = client.head();
        assert_eq!(head.status(), 103, "{fields:?}");
        assert_eq!(self::fields(&head), passed, "{fields:?}");
        server.send(json("200 OK", "", "{}"));
        let head = client.head();
        assert_eq!(head.status(), 200, "{fields:?}");
        assert_eq!(client.body(&head), b"{}");
    }
    // An invalid head is not forwarded.
    for broken in ["X-A: 1\rHTTP/1.1 200 OK\r\n", "X A: 1\r\n", "X-A: \0\r\n"] {
        let mut client = gateway.connect();
        client.send(request("GET /", gateway.address, ""));
        let mut server = match server.take() {
            Some(server) => server,
            None => upstream.accept(),
        };
        server.head();
        server.send(format!("HTTP/1.1 103 Early Hints\r\n{broken}\r\n"));
        let head = client.head();
        assert_eq!(
            (head.status(), head.get("x-tapewright").is_some()),
            (502, true),
            "{broken:?}"
        );
    }
}

#[test]
fn a_server_that_says_nothing_else_is_left() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request("GET /", gateway.address, ""));
    let mut server = upstream.accept();
    server.head();
    let mut writer = server.writer();
    // Until nothing reads it any more.
    let flood = thread::spawn(move || while writer.write_all(HINTS.as_bytes()).is_ok() {});
    let mut passed = 0;
    let last = loop {
        let head = client.head();
        if head.status() != 103 {
            break head;
        }
        passed += 1;
    };
    assert_eq!(last.status(), 502);
    // Fewer if the client reads more slowly than they arrive.
    assert!((1..=10_000).contains(&passed), "{passed}");
    flood.join().unwrap();
    drop(server);
    let exchange = gateway.stop().only();
    assert!((passed..=10_000).contains(&exchange.interims().len()));
    assert_eq!(exchange.ours(), "interim_flood");
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
    server.send(HINTS);
    assert_eq!(client.head().status(), 103);
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    assert_eq!(gateway.stop().only().interims(), [103]);
}
