//! The forward proxy: clients use the server's own address, and nothing is rewritten.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tapewright_schemas::event::{CloseReason, Direction, Edit, EventBody};
use tokio_rustls::TlsConnector;

use crate::support::http::tls::{Certificates, accept, client_config, connect};
use crate::support::http::{Gateway, Recorded, Upstream, find, json, runtime, step, tunnel};
use crate::support::system::assert_mode;
use crate::support::tapewright;

const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

#[test]
fn a_request_in_absolute_form_goes_where_it_says_and_nothing_is_rewritten() {
    let (one, two) = (Upstream::start(), Upstream::start());
    let gateway = Gateway::forward(&["--rewrite-auth"]);
    let mut client = gateway.connect();
    for upstream in [&one, &two, &one] {
        let origin = format!("http://{}", upstream.address());
        // The host in the target takes precedence over a different `Host`.
        client.send(format!(
            "POST {origin}/mcp?a=%2F HTTP/1.1\r\nHost: other.example\r\nOrigin: http://page.example\r\nProxy-Connection: keep-alive\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{CALL}",
            CALL.len()
        ));
        let mut server = upstream.accept();
        let head = server.head();
        assert_eq!(head.line, "POST /mcp?a=%2F HTTP/1.1");
        assert_eq!(
            head.get("host"),
            Some(upstream.address().to_string().as_str())
        );
        assert_eq!(head.get("origin"), Some("http://page.example"));
        assert_eq!(head.get("proxy-connection"), None);
        server.body(&head);
        let fields = format!(
            "Location: {origin}/x\r\nConnection: close\r\nWWW-Authenticate: Bearer resource_metadata=\"{origin}/y\"\r\n"
        );
        server.send(json("401 Unauthorized", &fields, "{}"));
        let head = client.head();
        assert_eq!(head.get("location"), Some(format!("{origin}/x").as_str()));
        assert_eq!(
            head.get("www-authenticate"),
            Some(format!("Bearer resource_metadata=\"{origin}/y\"").as_str())
        );
        client.body(&head);
    }
    drop(client);
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 3);
    for (exchange, upstream) in exchanges.iter().zip([&one, &two, &one]) {
        assert_eq!(exchange.messages(Direction::ToServer), [CALL]);
        let address = upstream.address();
        assert_eq!(
            told(exchange),
            [
                format!("field_changed host: other.example -> {address}"),
                "field_removed proxy-connection: keep-alive -> ".to_owned(),
                format!("target : http://{address}/mcp?a=%2F -> /mcp?a=%2F"),
                "field_removed connection: close -> ".to_owned(),
            ]
        );
    }
    assert_eq!(
        exchanges[0].request.target,
        format!("http://{}/mcp?a=%2F", one.address())
    );
}

/// The edits of an exchange, in order.
fn told(exchange: &Recorded) -> Vec<String> {
    let one = |edit: &&Edit| {
        let Edit {
            what,
            field,
            before,
            after,
        } = *edit;
        format!("{} {field}: {before} -> {after}", what.name())
    };
    exchange.edits().iter().map(one).collect()
}

#[test]
fn every_edit_of_the_proxy_is_on_the_tape_and_shown() {
    let upstream = Upstream::start();
    let address = upstream.address();
    let mut gateway = Gateway::forward(&["--header", "X-Own: 4711-canary"]);
    let mut client = gateway.connect();
    // Chunked with an additional length, hop-by-hop fields, and a password for the proxy.
    client.send(format!(
        "POST http://{address}/x HTTP/1.1\r\nHost: {address}\r\nTE: gzip, trailers\r\nConnection: TE, x-hop\r\nX-Hop: 1\r\nX-End: 2\r\nProxy-Authorization: Basic dXNlcjpwYTU1d29yZC14\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    ));
    let mut server = upstream.accept();
    let head = server.head();
    let mut names: Vec<String> = head
        .names()
        .iter()
        .map(|name| name.to_lowercase())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "connection",
            "host",
            "te",
            "transfer-encoding",
            "x-end",
            "x-own"
        ]
    );
    server.body(&head);
    // A body to the end of the connection.
    server.send("HTTP/1.0 200 OK\r\nKeep-Alive: timeout=5\r\nX-End: 3\r\n\r\nbytes");
    drop(server);
    let head = client.head();
    assert_eq!(head.get("transfer-encoding"), Some("chunked"));
    assert_eq!(client.body(&head), b"bytes");
    gateway.signal("TERM");
    let exchange = gateway.ended().only();
    let mut edits = told(&exchange);
    let password = edits.remove(3);
    assert!(
        password.starts_with("field_removed proxy-authorization: "),
        "{password}"
    );
    assert!(password.contains("<REDACTED:"), "{password}");
    assert_eq!(
        edits,
        [
            "field_changed te: gzip, trailers -> trailers".to_owned(),
            "field_removed connection: TE, x-hop -> ".to_owned(),
            "field_removed x-hop: 1 -> ".to_owned(),
            format!("target : http://{address}/x -> /x"),
            "field_added connection:  -> TE".to_owned(),
            "field_removed keep-alive: timeout=5 -> ".to_owned(),
            "field_added transfer-encoding:  -> chunked".to_owned(),
        ]
    );
    for secret in [&b"4711-canary"[..], b"dXNlcjpwYTU1d29yZC14"] {
        assert!(find(&gateway.bytes_on_disk(), secret).is_none());
    }
    let shown = tapewright()
        .arg("inspect")
        .arg(gateway.tape())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("changed on the way"), "{shown}");
    assert!(shown.contains("field_removed"), "{shown}");
}

#[test]
fn what_the_proxy_does_not_serve_is_said_to_be_ours() {
    let upstream = Upstream::start();
    let gone = Upstream::start().address();
    let gateway = Gateway::forward(&[]);
    let own = gateway.address;
    for (input, status) in [
        (format!("GET /mcp HTTP/1.1\r\nHost: {own}\r\n\r\n"), 400),
        (
            format!(
                "GET https://{}/ HTTP/1.1\r\nHost: x\r\n\r\n",
                upstream.address()
            ),
            400,
        ),
        ("GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 400),
        (
            "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(),
            403,
        ),
        (
            format!("GET http://{gone}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
            502,
        ),
        (
            format!("CONNECT {gone} HTTP/1.1\r\nHost: {gone}\r\n\r\n"),
            502,
        ),
        (
            "CONNECT localhost HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
            400,
        ),
        (
            format!("GET http://{own}/ HTTP/1.1\r\nHost: {own}\r\n\r\n"),
            400,
        ),
    ] {
        let mut client = gateway.connect();
        client.send(&input);
        let head = client.head();
        assert_eq!(head.status(), status, "{input}");
        assert!(head.get("x-tapewright").is_some(), "{input}");
    }
    let mut client = gateway.connect();
    client.send(format!("GET /healthz HTTP/1.1\r\nHost: {own}\r\n\r\n"));
    assert_eq!(client.head().status(), 200);
    assert_eq!(upstream.waiting(), 0);
}

#[test]
fn a_password_in_a_target_is_neither_passed_on_nor_recorded() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&[]);
    let mut client = gateway.connect();
    let address = upstream.address();
    client.send(format!(
        "GET http://user:pa55-of-the-user@{address}/ HTTP/1.1\r\nHost: {address}\r\n\r\n"
    ));
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(
        (head.line.as_str(), head.get("host")),
        ("GET / HTTP/1.1", Some(address.to_string().as_str()))
    );
    server.send(json("200 OK", "", "{}"));
    client.head();
    drop((client, server));
    let mut gateway = gateway;
    gateway.signal("TERM");
    gateway.ended();
    assert!(find(&gateway.bytes_on_disk(), b"pa55-of-the-user").is_none());
}

#[test]
fn a_tunnel_passes_every_byte_and_each_end_by_itself() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&[]);
    let authority = upstream.address().to_string();
    let mut client = tunnel(&gateway, &authority);
    let mut server = upstream.accept();
    for turn in 0..5_u8 {
        let bytes = vec![turn; 1 + 70_000 * usize::from(turn)];
        let mut writer = client.writer();
        let sent = bytes.clone();
        let sending =
            std::thread::spawn(move || std::io::Write::write_all(&mut writer, &sent).unwrap());
        assert!(server.take(bytes.len()) == bytes);
        sending.join().unwrap();
        server.send([turn]);
        assert_eq!(client.take(1), [turn]);
    }
    // The client sends no more, but still reads.
    client.close_write();
    server.ends();
    server.send("the last word");
    assert_eq!(client.text(13), "the last word");
    drop(server);
    client.ends();
    let exchange = gateway.stop().only();
    assert_eq!(
        (&*exchange.request.method, exchange.request.target.as_str()),
        ("CONNECT", authority.as_str())
    );
    let bytes = exchange.find(|body| match body {
        EventBody::Part { bytes } => Some(*bytes),
        _ => None,
    });
    assert_eq!(bytes, [5 + 70_000 * 10, 5 + 13]);
    for dir in [Direction::ToServer, Direction::ToClient] {
        assert_eq!(exchange.end(dir), Some(CloseReason::EndOfInput));
    }
}

#[test]
fn what_comes_with_the_request_for_a_tunnel_is_in_the_tunnel() {
    let upstream = Upstream::start();
    let gateway = Gateway::forward(&[]);
    let authority = upstream.address().to_string();
    let mut client = gateway.connect();
    client.send(format!(
        "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\nearly bytes"
    ));
    let mut server = upstream.accept();
    assert_eq!(server.text(11), "early bytes");
    assert_eq!(client.head().status(), 200);
}

#[test]
fn a_tunnel_whose_one_end_vanishes_ends_for_the_other() {
    for client_leaves in [true, false] {
        let upstream = Upstream::start();
        let gateway = Gateway::forward(&[]);
        let mut client = tunnel(&gateway, &upstream.address().to_string());
        let mut server = upstream.accept();
        server.send("x");
        client.take(1);
        if client_leaves {
            client.reset();
            server.ends();
        } else {
            server.reset();
            client.ends();
        }
    }
}

/// An intercepting proxy in a folder, in front of servers of a test authority.
fn intercepting(folder: tempfile::TempDir, certificates: &Certificates) -> Gateway {
    let authority = certificates.path("ca.pem");
    Gateway::start_in(
        folder,
        &[
            "--forward-proxy",
            "127.0.0.1:0",
            "--intercept",
            "--ca-bundle",
            &authority,
        ],
    )
}

fn authority_of(folder: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(folder.join("home/authority/ca.pem")).unwrap()
}

#[test]
fn an_intercepted_tunnel_is_read_and_nothing_in_it_is_rewritten() {
    let certificates = Certificates::new();
    let server_config = certificates.server_config(&["http/1.1"]);
    let upstream = Upstream::start();
    let authority = format!("localhost:{}", upstream.address().port());
    let mut folder = tempfile::tempdir().unwrap();
    let mut known = Vec::new();
    for round in 0..2 {
        let gateway = intercepting(folder, &certificates);
        let own = authority_of(gateway.folder.path());
        for file in ["ca.pem", "ca.key"] {
            let path = gateway.folder.path().join("home/authority").join(file);
            assert_mode(&path, 0o600);
        }
        let said = gateway.errors();
        for variable in [
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_FILE",
            "HTTPS_PROXY",
            "ca.pem",
        ] {
            assert!(said.contains(variable), "{said}");
        }
        known.push(own.clone());
        let plain = tunnel(&gateway, &authority);
        let mut client = connect(plain.into_socket(), &client_config(own, &["http/1.1"])).unwrap();
        for _ in 0..2 {
            client.send(format!("POST /mcp HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{CALL}", CALL.len()));
            let mut server = accept(&upstream, &server_config).unwrap();
            let head = server.head();
            assert_eq!(head.get("host"), Some(authority.as_str()));
            assert_eq!(server.body(&head), CALL.as_bytes());
            let location = format!("https://{authority}/x");
            server.send(json(
                "200 OK",
                &format!("Connection: close\r\nLocation: {location}\r\n"),
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
            ));
            let head = client.head();
            assert_eq!(head.get("location"), Some(location.as_str()));
            client.body(&head);
        }
        drop(client);
        let mut gateway = gateway;
        gateway.signal("TERM");
        let exchanges = gateway.ended().exchanges();
        let calls: Vec<_> = exchanges
            .iter()
            .flat_map(|exchange| exchange.messages(Direction::ToServer))
            .collect();
        assert_eq!(calls, [CALL, CALL], "round {round}");
        for exchange in &exchanges {
            assert_eq!(told(exchange), ["field_removed connection: close -> "]);
        }
        // The folder is used in the next round, the tape is not.
        fs::remove_file(gateway.tape()).unwrap();
        folder = std::mem::replace(&mut gateway.folder, tempfile::tempdir().unwrap());
    }
    assert_eq!(known[0], known[1], "the authority is kept");
}

#[test]
fn http_2_is_spoken_inside_a_tunnel() {
    let certificates = Certificates::new();
    let server_config = certificates.server_config(&["http/1.1"]);
    let upstream = Upstream::start();
    let port = upstream.address().port();
    let gateway = intercepting(tempfile::tempdir().unwrap(), &certificates);
    let own = authority_of(gateway.folder.path());
    let plain = tunnel(&gateway, &format!("localhost:{port}"));
    let runtime = runtime();
    let (response, keep) = step(&runtime, async {
        let socket = plain.into_socket();
        socket.set_nonblocking(true).unwrap();
        let socket = tokio::net::TcpStream::from_std(socket).unwrap();
        let connector = TlsConnector::from(client_config(own, &["h2", "http/1.1"]));
        let stream = connector
            .connect("localhost".try_into().unwrap(), socket)
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        let request = http::Request::post(format!("https://localhost:{port}/mcp"))
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let (response, mut body) = send.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(CALL.as_bytes()), true)
            .unwrap();
        (response, send)
    });
    let mut server = accept(&upstream, &server_config).unwrap();
    let head = server.head();
    assert_eq!(head.get("host"), Some(format!("localhost:{port}").as_str()));
    assert_eq!(server.body(&head), CALL.as_bytes());
    server.send(json("200 OK", "", "{}"));
    let response = step(&runtime, response).unwrap();
    assert_eq!(response.status(), 200);
    drop((response, keep, server));
    let exchanges = gateway.stop().exchanges();
    let calls: Vec<_> = exchanges
        .iter()
        .flat_map(|exchange| exchange.messages(Direction::ToServer))
        .collect();
    assert_eq!(calls, [CALL]);
}

#[test]
fn a_client_that_does_not_trust_us_only_loses_its_tunnel() {
    let certificates = Certificates::new();
    let gateway = intercepting(tempfile::tempdir().unwrap(), &certificates);
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x16\x03\x01\x00\x01\x00",
        b"",
    ] {
        let mut client = tunnel(&gateway, "localhost:9");
        client.try_send(bytes).ok();
        client.close_write();
        client.rest();
    }
    let plain = tunnel(&gateway, "localhost:9");
    assert!(connect(plain.into_socket(), &certificates.client_config(&[])).is_err());
    gateway.stop();
}

#[test]
fn what_only_this_machine_has_is_not_reached_and_destinations_can_be_named() {
    let server = Upstream::start();
    let (own, foreign) = (server.address().to_string(), "169.254.169.254:80");
    let ask = |gateway: &Gateway, authority: &str| {
        [
            format!("GET http://{authority}/x HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
            format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
        ]
        .map(|text| {
            let mut client = gateway.connect();
            client.send(text);
            let head = client.head();
            let body = client.body(&head);
            assert!(find(&body, b"--allow-destination").is_some());
            head.status()
        })
    };
    let gateway = Gateway::forward(&[]);
    assert_eq!(ask(&gateway, foreign), [403, 403]);
    drop(tunnel(&gateway, &own));
    let gateway = Gateway::forward(&["--allow-destination", "other.example"]);
    assert_eq!(ask(&gateway, &own), [403, 403]);
    let gateway = Gateway::forward(&["--allow-destination", "127.0.0.1"]);
    drop(tunnel(&gateway, &own));
}
