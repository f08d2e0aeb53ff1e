//! How exchanges end: if one side breaks off, so does the other, and the tape records how.

use tapewright_schemas::event::{CloseReason, Direction, InPlace};

use crate::support::http::{End, chunk, json, pair, post, request};

const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn a_response_that_breaks_off_has_no_proper_end() {
    for reset in [false, true] {
        for framing in ["Transfer-Encoding: chunked", "Content-Length: 100"] {
            let (upstream, gateway) = pair(&[]);
            let mut client = gateway.connect();
            client.send(post(gateway.address, "", "{}"));
            let mut server = upstream.accept();
            let head = server.head();
            server.body(&head);
            server.send(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n"));
            let part = if framing.starts_with('T') {
                chunk("abc")
            } else {
                b"abc".to_vec()
            };
            server.send(&part);
            assert_eq!(client.head().status(), 200);
            assert_eq!(client.take(part.len()), part);
            if reset {
                server.reset();
            } else {
                drop(server);
            }
            client.ends();
            let exchange = gateway.stop().only();
            assert_eq!(
                exchange.end(Direction::ToServer),
                Some(CloseReason::EndOfInput)
            );
            assert_eq!(
                exchange.end(Direction::ToClient),
                Some(CloseReason::Aborted)
            );
        }
    }
}

#[test]
fn the_last_bytes_before_a_break_still_arrive() {
    for round in 0..30 {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(request("GET /mcp", gateway.address, ""));
        let mut server = upstream.accept();
        server.head();
        // All at once, then closed.
        let mut all = STREAM.as_bytes().to_vec();
        all.extend(chunk("data: last words\n\n"));
        server.send(all);
        drop(server);
        assert_eq!(client.head().status(), 200, "round {round}");
        assert_eq!(client.chunk(), b"data: last words\n\n", "round {round}");
        client.ends();
    }
}

#[test]
fn a_server_that_leaves_without_an_answer_is_told_as_ours() {
    for (part, reset) in [("", false), ("", true), ("HTTP/1.1 200", false)] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", "{}"));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(part);
        if reset {
            server.reset();
        } else {
            drop(server);
        }
        let head = client.head();
        assert_eq!(head.status(), 502);
        assert!(head.get("x-tapewright").is_some());
        let body = client.body(&head);
        assert!(String::from_utf8(body).unwrap().starts_with("tapewright: "));
        assert_eq!(upstream.waiting(), 0, "it was sent again");
        let exchange = gateway.stop().only();
        assert!(exchange.ours().starts_with("connection_broke"));
        assert_eq!(exchange.in_place(), Some(InPlace::Broken));
        assert_eq!(exchange.end(Direction::ToClient), Some(CloseReason::Failed));
    }
}

#[test]
fn a_request_that_breaks_off_has_no_proper_end() {
    for framing in ["Transfer-Encoding: chunked\r\n", "Content-Length: 100\r\n"] {
        for reset in [false, true] {
            let (upstream, gateway) = pair(&[]);
            let mut client = gateway.connect();
            client.send(request("POST /mcp", gateway.address, framing));
            let mut server = upstream.accept();
            server.head();
            let part = if framing.starts_with('T') {
                chunk("abc")
            } else {
                b"abc".to_vec()
            };
            client.send(&part);
            assert_eq!(server.take(part.len()), part);
            if reset {
                client.reset();
            } else {
                drop(client);
            }
            server.ends();
            let exchange = gateway.stop().only();
            assert_eq!(
                exchange.end(Direction::ToServer),
                Some(CloseReason::Aborted)
            );
            assert_eq!(
                exchange.end(Direction::ToClient),
                Some(CloseReason::ReceiverGone)
            );
        }
    }
}

#[test]
fn a_client_that_leaves_before_the_answer_takes_the_server_with_it() {
    for reset in [false, true] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(post(
            gateway.address,
            "",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}",
        ));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        if reset {
            client.reset();
        } else {
            drop(client);
        }
        server.ends();
        let exchange = gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToServer),
            Some(CloseReason::EndOfInput)
        );
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::ReceiverGone)
        );
    }
}

#[test]
fn a_client_that_leaves_an_idle_stream_takes_the_server_with_it() {
    for reset in [false, true] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(request(
            "GET /mcp",
            gateway.address,
            "Accept: text/event-stream\r\n",
        ));
        let mut server = upstream.accept();
        server.head();
        server.send(STREAM);
        client.head();
        server.send(chunk(": hello\n\n"));
        client.chunk();
        if reset {
            client.reset();
        } else {
            drop(client);
        }
        server.ends();
        let exchange = gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::ReceiverGone)
        );
    }
}

#[test]
fn a_client_that_leaves_while_nobody_answers_the_call_costs_nothing() {
    // A socket that accepts nothing: the connection is made by the system.
    let (upstream, gateway) = pair(&[]);
    for _ in 0..20 {
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", "{}"));
        drop(client);
    }
    // None of it affects the next exchange.
    let mut client = gateway.connect();
    client.send(post(gateway.address, "X-Last: 1\r\n", "{}"));
    loop {
        let mut server = upstream.accept();
        if server
            .try_head()
            .is_ok_and(|head| head.get("x-last").is_some())
        {
            server.take(2);
            server.send(json("200 OK", "", "{}"));
            break;
        }
    }
    assert_eq!(client.head().status(), 200);
}

#[test]
fn a_client_that_has_closed_its_direction_gets_its_answer() {
    for early in [true, false] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", "{}"));
        if early {
            client.close_write();
        }
        let mut server = upstream.accept();
        let head = server.head();
        assert_eq!(server.body(&head), b"{}");
        if !early {
            client.close_write();
        }
        server.send(STREAM);
        assert_eq!(client.head().status(), 200);
        for text in [": hello\n\n", "data: {}\n\n"] {
            server.send(chunk(text));
            assert_eq!(client.chunk(), text.as_bytes());
        }
        server.send("0\r\n\r\n");
        assert_eq!(client.take(5), b"0\r\n\r\n");
        assert_eq!(client.ends(), End::Closed);
        let exchange = gateway.stop().only();
        for dir in [Direction::ToServer, Direction::ToClient] {
            assert_eq!(exchange.end(dir), Some(CloseReason::EndOfInput));
        }
    }
}

#[test]
fn a_client_that_closes_its_direction_within_its_request_has_left() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request(
        "POST /mcp",
        gateway.address,
        "Content-Length: 100\r\n",
    ));
    client.send("part");
    let mut server = upstream.accept();
    server.head();
    assert_eq!(server.take(4), b"part");
    client.close_write();
    server.ends();
    assert_eq!(client.head().status(), 400);
}

#[test]
fn a_client_that_has_closed_its_direction_and_leaves_later_takes_the_server_with_it() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request("GET /mcp", gateway.address, ""));
    client.close_write();
    let mut server = upstream.accept();
    server.head();
    server.send(STREAM);
    assert_eq!(client.head().status(), 200);
    drop(client);
    server.ends();
}

#[test]
fn several_streams_end_each_in_its_own_way() {
    let (upstream, gateway) = pair(&[]);
    let mut pairs = Vec::new();
    for number in 0..6 {
        let mut client = gateway.connect();
        client.send(request(
            &format!("GET /{number}"),
            gateway.address,
            "Accept: text/event-stream\r\n",
        ));
        let mut server = upstream.accept();
        assert_eq!(server.head().line, format!("GET /{number} HTTP/1.1"));
        server.send(STREAM);
        client.head();
        pairs.push((client, server));
    }
    for (number, (mut client, mut server)) in pairs.into_iter().enumerate() {
        match number % 3 {
            0 => {
                server.send("0\r\n\r\n");
                assert_eq!(client.chunk(), b"");
            }
            1 => {
                drop(server);
                client.ends();
            }
            _ => {
                drop(client);
                server.ends();
            }
        }
    }
    let ends: Vec<_> = gateway
        .stop()
        .exchanges()
        .iter()
        .map(|exchange| exchange.end(Direction::ToClient).unwrap())
        .collect();
    use CloseReason::{Aborted, EndOfInput, ReceiverGone};
    assert_eq!(
        ends,
        [
            EndOfInput,
            Aborted,
            ReceiverGone,
            EndOfInput,
            Aborted,
            ReceiverGone
        ]
    );
}
