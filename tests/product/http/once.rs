//! A request is sent only once, whatever happens.

use std::time::Duration;

use tapewright_schemas::event::{CloseReason, Direction, InPlace};

use crate::support::eventually;
use crate::support::http::{PATIENCE, Upstream, Wire, json, pair, post, request};

const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}";

/// One complete exchange, after which the server's connection is kept alive.
fn warm_up(upstream: &Upstream, client: &mut Wire, gateway: std::net::SocketAddr) -> Wire {
    client.send(post(gateway, "", "{}"));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(json("200 OK", "", "{}"));
    let head = client.head();
    client.body(&head);
    server
}

/// One complete exchange on a connection that was kept alive.
fn call(client: &mut Wire, server: &mut Wire, gateway: std::net::SocketAddr) {
    client.send(post(gateway, "", CALL));
    let head = server.head();
    assert_eq!(server.body(&head), CALL.as_bytes());
    server.send(json("200 OK", "", "{}"));
    let head = client.head();
    client.body(&head);
}

#[test]
fn a_kept_connection_serves_the_next_exchange() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = warm_up(&upstream, &mut client, gateway.address);
    for _ in 0..20 {
        call(&mut client, &mut server, gateway.address);
    }
    assert_eq!(upstream.waiting(), 0);
}

#[test]
fn a_kept_connection_serves_other_clients_too() {
    let (upstream, gateway) = pair(&[]);
    // Each of them is served by another thread, if there are enough processors.
    let mut clients = [gateway.connect(), gateway.connect(), gateway.connect()];
    let mut server = warm_up(&upstream, &mut clients[0], gateway.address);
    for _ in 0..3 {
        for client in &mut clients {
            call(client, &mut server, gateway.address);
        }
    }
    assert_eq!(upstream.waiting(), 0);
}

#[test]
fn a_connection_that_the_server_closed_is_not_used_again() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let server = warm_up(&upstream, &mut client, gateway.address);
    drop(server);
    // It may take a moment until the recorder notices; a request before that is lost, not sent
    // twice, and one after that has a new connection.
    let mut lost = 0;
    let arrived = eventually(PATIENCE, || {
        client.send(post(gateway.address, "", CALL));
        loop {
            if upstream.waiting_after(Duration::from_millis(5)) {
                let mut server = upstream.accept();
                let head = server.head();
                assert_eq!(server.body(&head), CALL.as_bytes());
                server.send(json("200 OK", "", "{}"));
                let head = client.head();
                client.body(&head);
                return head.status() == 200;
            }
            if client.has_bytes() {
                let head = client.head();
                assert_eq!(head.status(), 502);
                client.body(&head);
                lost += 1;
                return false;
            }
        }
    });
    assert!(arrived);
    assert!(
        lost <= 1,
        "{lost} requests met a connection that was long closed"
    );
    assert_eq!(upstream.waiting(), 0);
}

#[test]
fn a_server_that_closes_as_the_request_comes_gets_it_once_at_most() {
    // The server answers, and closes while the next request is on its way: either the recorder
    // noticed before and it goes to a new connection, or it is lost. Never both.
    for round in 0..40_u64 {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        let server = warm_up(&upstream, &mut client, gateway.address);
        let closing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(round * 37 % 900));
            // Data that arrived before it was closed also counts.
            let mut server = server;
            server.close_write();
            match server.try_head() {
                Ok(_) => 1,
                Err((came, _)) => usize::from(!came.is_empty()),
            }
        });
        client.send(post(gateway.address, "", CALL));
        let mut seen = 0;
        let answered = eventually(PATIENCE, || {
            if upstream.waiting_after(Duration::from_millis(1)) {
                let mut server = upstream.accept();
                let head = server.head();
                server.body(&head);
                seen += 1;
                server.send(json("200 OK", "", "{}"));
            }
            client.has_bytes()
        });
        assert!(answered);
        let status = client.head().status();
        seen += closing.join().unwrap();
        assert!(
            seen <= 1,
            "round {round}: the request was sent {seen} times"
        );
        if status == 200 {
            assert_eq!(seen, 1);
        } else {
            assert_eq!(status, 502);
        }
        assert_eq!(upstream.waiting(), 0);
    }
}

#[test]
fn a_server_that_reads_half_and_closes_gets_it_once() {
    for warm in [false, true] {
        for reset in [false, true] {
            let (upstream, gateway) = pair(&[]);
            let mut client = gateway.connect();
            let mut server = None;
            if warm {
                server = Some(warm_up(&upstream, &mut client, gateway.address));
            }
            client.send(request(
                "POST /mcp",
                gateway.address,
                "Content-Length: 1000\r\n",
            ));
            client.send([b'x'; 500]);
            let mut server = server.unwrap_or_else(|| upstream.accept());
            server.head();
            server.take(500);
            if reset {
                server.reset();
            } else {
                drop(server);
            }
            assert_eq!(client.head().status(), 502);
            assert_eq!(upstream.waiting(), 0);
        }
    }
}

#[test]
fn an_answer_before_the_whole_request_passes_and_ends_both_connections() {
    for keep_open in [true, false] {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(request(
            "POST /mcp",
            gateway.address,
            "Content-Length: 100000\r\n",
        ));
        client.send([b'x'; 500]);
        let mut server = upstream.accept();
        server.head();
        server.take(500);
        server.send(json(
            "413 Content Too Large",
            "",
            "{\"jsonrpc\":\"2.0\",\"error\":{}}",
        ));
        if !keep_open {
            server.close_write();
        }
        let head = client.head();
        assert_eq!(head.status(), 413);
        assert_eq!(client.body(&head), b"{\"jsonrpc\":\"2.0\",\"error\":{}}");
        // Neither connection can determine where the next message would begin.
        server.rest();
        client.rest();
        let exchange = gateway.stop().only();
        assert_ne!(
            exchange.end(Direction::ToServer),
            Some(CloseReason::EndOfInput)
        );
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::EndOfInput)
        );
    }
}

#[test]
fn an_early_answer_of_a_server_that_does_not_read_still_arrives() {
    for round in 0..20 {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(request(
            "POST /mcp",
            gateway.address,
            "Content-Length: 3000000\r\n",
        ));
        let mut writer = client.writer();
        let writing = std::thread::spawn(move || {
            std::io::Write::write_all(&mut writer, &vec![b'x'; 3_000_000]).ok();
        });
        let mut server = upstream.accept();
        server.head();
        server.send(json(
            "401 Unauthorized",
            "WWW-Authenticate: Bearer\r\nConnection: close\r\n",
            "{}",
        ));
        // Only unread data prevents a regular end.
        server.close_write();
        let head = client.try_head();
        let head = head.unwrap_or_else(|end| panic!("round {round}: {end:?}"));
        assert_eq!(head.status(), 401, "round {round}");
        drop(server);
        drop(client);
        writing.join().unwrap();
    }
}

#[test]
fn a_second_answer_to_one_request_reaches_nobody() {
    for round in 0..20 {
        let (upstream, gateway) = pair(&[]);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", "{}"));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        // A response that was never requested, ready for the next client.
        let evil = json("200 OK", "X-Evil: 1\r\n", "{\"evil\":1}");
        server.send(json("200 OK", "", "{}") + &evil);
        let head = client.head();
        assert_eq!(client.body(&head), b"{}");
        let mut other = gateway.connect();
        other.send(post(gateway.address, "", CALL));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(json("200 OK", "", "{\"good\":1}"));
        let head = other.head();
        assert_eq!(head.get("x-evil"), None, "round {round}");
        assert_eq!(other.body(&head), b"{\"good\":1}");
    }
}

#[test]
fn a_connection_that_the_server_soon_closes_is_not_kept() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    for fields in [
        "Keep-Alive: timeout=1\r\n",
        "Connection: close\r\n",
        "Keep-Alive: max=7, timeout=0\r\n",
    ] {
        client.send(post(gateway.address, "", "{}"));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(json("200 OK", fields, "{}"));
        let head = client.head();
        client.body(&head);
    }
}

#[test]
fn nobody_at_the_other_end_is_told_as_ours() {
    let upstream = Upstream::start();
    let address = upstream.address();
    drop(upstream);
    let gateway = crate::support::http::Gateway::to(address, &[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", CALL));
    let head = client.head();
    assert_eq!(head.status(), 502);
    assert!(head.get("x-tapewright").is_some());
    let body = String::from_utf8(client.body(&head)).unwrap();
    assert!(body.contains("cannot connect to 127.0.0.1"), "{body}");
    // The client's connection continues.
    client.send(post(gateway.address, "", CALL));
    assert_eq!(client.head().status(), 502);
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 2);
    for exchange in exchanges {
        assert!(exchange.ours().starts_with("connection_failed: 127.0.0.1:"));
        assert_eq!(exchange.in_place(), Some(InPlace::Unreachable));
        assert_eq!(exchange.end(Direction::ToClient), Some(CloseReason::Failed));
    }
}

#[test]
fn a_server_that_takes_too_long_to_connect_is_told_as_ours() {
    let crowded = crate::support::http::Crowded::new();
    let address = crowded.address();
    let gateway = crate::support::http::Gateway::to(address, &["--connect-timeout", "0.2"]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", CALL));
    let head = client.head();
    assert_eq!(head.status(), 504);
    assert!(
        String::from_utf8(client.body(&head))
            .unwrap()
            .contains("timed out after 0.2 s")
    );
}
