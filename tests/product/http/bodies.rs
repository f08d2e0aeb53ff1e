//! Bodies pass byte for byte, each part as it comes.

use std::io::Read as _;
use std::thread;

use tapewright_schemas::event::{CloseReason, Direction, EventBody};

use crate::support::http::{Wire, chunk, json, pair, post, request};

const MIB: usize = 1 << 20;

/// Bytes of any kind, different at every place.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut out = Vec::with_capacity(length + 8);
    while out.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        out.extend_from_slice(&state.to_be_bytes());
    }
    out.truncate(length);
    out
}

const SIZES: [usize; 12] = [
    0,
    1,
    2,
    100,
    4095,
    4096,
    8193,
    65_535,
    65_536,
    65_537,
    MIB,
    3 * MIB + 7,
];

/// Sends in the background: the test is both peers of a large body.
fn sending(wire: &Wire, bytes: Vec<u8>) -> thread::JoinHandle<()> {
    let mut writer = wire.writer();
    thread::spawn(move || std::io::Write::write_all(&mut writer, &bytes).unwrap())
}

#[test]
fn bodies_of_a_known_length_pass_both_ways() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for size in SIZES {
        let (sent, answer) = (noise(size, 1), noise(size, 2));
        let fields = format!("Content-Length: {size}\r\n");
        let mut all = request("POST /mcp", gateway.address, &fields).into_bytes();
        all.extend_from_slice(&sent);
        let writing = sending(&client, all);
        let server = server.get_or_insert_with(|| upstream.accept());
        let head = server.head();
        assert_eq!(head.get("content-length"), Some(size.to_string().as_str()));
        assert!(server.body(&head) == sent, "{size}");
        writing.join().unwrap();
        let mut all = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        all.extend_from_slice(&answer);
        let writing = sending(server, all);
        let head = client.head();
        assert_eq!(head.get("content-length"), Some(size.to_string().as_str()));
        assert!(client.body(&head) == answer, "{size}");
        writing.join().unwrap();
    }
}

#[test]
fn chunked_bodies_pass_both_ways() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for size in SIZES {
        let (sent, answer) = (noise(size, 3), noise(size, 4));
        let chunked = |head: String, body: &[u8]| {
            let mut all = head.into_bytes();
            for part in body.chunks(size / 3 + 1) {
                all.extend_from_slice(&chunk(part));
            }
            all.extend_from_slice(b"0\r\n\r\n");
            all
        };
        // Also a GET may have a body.
        for method in ["POST", "GET", "DELETE"] {
            let fields = "Transfer-Encoding: chunked\r\n";
            let head = request(&format!("{method} /mcp"), gateway.address, fields);
            let writing = sending(&client, chunked(head, &sent));
            let server = server.get_or_insert_with(|| upstream.accept());
            let head = server.head();
            assert!(server.body(&head) == sent, "{method} {size}");
            writing.join().unwrap();
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
            let writing = sending(server, chunked(head, &answer));
            let head = client.head();
            assert!(client.body(&head) == answer, "{method} {size}");
            writing.join().unwrap();
        }
    }
}

#[test]
fn a_hundred_megabytes_pass_in_constant_memory() {
    const SIZE: usize = 100 * MIB;
    // Kept whole up to a length, and in constant memory beyond it.
    let (upstream, gateway) = pair(&["--max-message", "1MiB"]);
    let mut client = gateway.connect();
    let block = noise(MIB, 5);
    let stream = |mut to: std::net::TcpStream, head: String, block: Vec<u8>| {
        thread::spawn(move || {
            use std::io::Write as _;
            to.write_all(head.as_bytes()).unwrap();
            for _ in 0..SIZE / MIB {
                to.write_all(&block).unwrap();
            }
        })
    };
    let check = |from: &mut Wire| {
        for _ in 0..SIZE / MIB {
            assert!(from.take(MIB) == block);
        }
    };
    let fields = format!("Content-Length: {SIZE}\r\n");
    let head = request("POST /mcp", gateway.address, &fields);
    let sending = stream(client.writer(), head, block.clone());
    let mut server = upstream.accept();
    server.head();
    check(&mut server);
    sending.join().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
    let sending = stream(server.writer(), head, block.clone());
    client.head();
    check(&mut client);
    sending.join().unwrap();
    let peak = gateway.peak_memory_kib();
    assert!(peak < 60 * 1024, "{peak} KiB at the peak");
    let exchange = gateway.stop().only();
    let lengths = exchange.find(|body| match body {
        EventBody::Body { payload } => Some(payload.wire_len()),
        _ => None,
    });
    assert_eq!(lengths, [SIZE as u64; 2]);
}

#[test]
fn the_head_of_a_response_comes_before_any_byte_of_its_body() {
    let (upstream, gateway) = pair(&[]);
    for framing in [
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "",
    ] {
        let mut client = gateway.connect();
        client.send(request(
            "GET /mcp",
            gateway.address,
            "Accept: text/event-stream\r\n",
        ));
        let mut server = upstream.accept();
        server.head();
        server.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{framing}\r\n"
        ));
        assert_eq!(client.head().status(), 200, "{framing}");
    }
}

#[test]
fn each_part_of_a_response_passes_before_the_next_is_sent() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(post(
        gateway.address,
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}",
    ));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    client.head();
    // An event cut at every byte, and a comment.
    let stream =
        ": ping\r\n\r\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/é\"}\n\n";
    for byte in stream.as_bytes() {
        server.send(chunk([*byte]));
        assert_eq!(client.chunk(), [*byte]);
    }
    server.send("0\r\n\r\n");
    assert_eq!(client.chunk(), b"");
    drop(client);
    let exchange = gateway.stop().only();
    assert_eq!(
        exchange.messages(Direction::ToClient),
        ["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/é\"}"]
    );
    assert_eq!(
        exchange.end(Direction::ToClient),
        Some(CloseReason::EndOfInput)
    );
}

#[test]
fn each_part_of_a_request_passes_before_the_next_is_sent() {
    let (upstream, gateway) = pair(&[]);
    for known in [true, false] {
        let body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        let mut client = gateway.connect();
        let framing = if known {
            format!("Content-Length: {}\r\n", body.len())
        } else {
            "Transfer-Encoding: chunked\r\n".to_owned()
        };
        client.send(request("POST /mcp", gateway.address, &framing));
        let mut server = upstream.accept();
        server.head();
        for byte in body {
            if known {
                client.send([*byte]);
                assert_eq!(server.take(1), [*byte]);
            } else {
                client.send(chunk([*byte]));
                assert_eq!(server.chunk(), [*byte]);
            }
        }
        if !known {
            client.send("0\r\n\r\n");
            assert_eq!(server.chunk(), b"");
        }
        server.send(json("200 OK", "Connection: close\r\n", "{}"));
        assert_eq!(client.head().status(), 200);
    }
}

#[test]
fn an_answer_may_begin_while_the_request_still_comes() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request(
        "POST /mcp",
        gateway.address,
        "Transfer-Encoding: chunked\r\n",
    ));
    let mut server = upstream.accept();
    server.head();
    server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.head();
    for turn in 0..20 {
        client.send(chunk(format!("to server {turn}")));
        assert_eq!(server.chunk(), format!("to server {turn}").as_bytes());
        server.send(chunk(format!("to client {turn}")));
        assert_eq!(client.chunk(), format!("to client {turn}").as_bytes());
    }
}

#[test]
fn the_body_waits_for_the_server_to_ask_for_it() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let fields = "Expect: 100-continue\r\nContent-Length: 4\r\n";
    client.send(request("POST /mcp", gateway.address, fields));
    let mut server = upstream.accept();
    assert_eq!(server.head().get("expect"), Some("100-continue"));
    server.send("HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.head().status(), 100);
    client.send("body");
    assert_eq!(server.text(4), "body");
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    client.take(2);

    // Refused: the client is never requested its body.
    client.send(request("POST /mcp", gateway.address, fields));
    server.head();
    server.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(client.head().status(), 417);
}

#[test]
fn a_server_that_ignores_the_expectation_gets_the_body_all_the_same() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let fields = "Expect: 100-continue\r\nContent-Length: 4\r\n";
    client.send(request("POST /mcp", gateway.address, fields));
    let mut server = upstream.accept();
    server.head();
    assert_eq!(client.head().status(), 100);
    client.send("body");
    assert_eq!(server.text(4), "body");
}

#[test]
fn a_slow_reader_slows_the_sender_and_nothing_is_held() {
    let (upstream, gateway) = pair(&["--max-message", "64KiB"]);
    let mut client = gateway.connect();
    client.send(request("GET /", gateway.address, ""));
    let mut server = upstream.accept();
    server.head();
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n");
    client.head();
    // Sends until nothing fits any more: as much as sockets and the recorder's buffers hold.
    let mut to = server.writer();
    to.set_nonblocking(true).unwrap();
    let block = vec![7; MIB];
    let (mut sent, mut looks) = (0, 0);
    let full = crate::support::eventually(crate::support::http::PATIENCE, || {
        // Full if nothing was accepted during many checks.
        let before = sent;
        while let Ok(length) = std::io::Write::write(&mut to, &block) {
            sent += length;
            assert!(
                sent < 60 * MIB,
                "nobody reads, and yet {sent} bytes were taken"
            );
        }
        looks = if before == sent { looks + 1 } else { 0 };
        looks > 20 && sent > 0
    });
    assert!(full);
    let peak = gateway.peak_memory_kib();
    assert!(peak < 60 * 1024, "{peak} KiB at the peak");
    let mut read = vec![0; MIB];
    client.writer().read_exact(&mut read).unwrap();
    assert!(read.iter().all(|byte| *byte == 7));
}
