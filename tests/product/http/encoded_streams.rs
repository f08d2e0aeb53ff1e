//! The `endpoint` event of HTTP with SSE (2024-11-05) in a compressed stream, which is decoded.

use tapewright_schemas::event::{CloseReason, Direction, EditTarget};

use super::encodings::{Encoder, encoded};
use crate::support::http::{Gateway, Upstream, Wire, chunk, pair, request};

/// Opens a stream of a server that encodes it; returns the encoding that the client sees.
fn open(
    upstream: &Upstream,
    gateway: &Gateway,
    fields: &str,
    coding: &str,
) -> (Wire, Wire, Option<String>) {
    let mut client = gateway.connect();
    let fields = format!(
        "Accept: text/event-stream\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n{fields}"
    );
    client.send(request("GET /sse", gateway.address, &fields));
    let mut server = upstream.accept();
    assert_eq!(
        server.head().get("accept-encoding"),
        Some("gzip, deflate, br, zstd")
    );
    server.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"));
    let seen = client.head().get("content-encoding").map(str::to_owned);
    (client, server, seen)
}

fn message(number: usize) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"number-{number}\"}}\n\n")
}

#[test]
fn the_address_in_a_compressed_stream_leads_to_us() {
    let (upstream, gateway) = pair(&[]);
    let event = |address| format!("event: endpoint\ndata: http://{address}/m?sessionId=7\n\n");
    let codings = ["gzip", "deflate", "raw", "br", "zstd"];
    for name in codings {
        let coding = if name == "raw" { "deflate" } else { name };
        let (mut client, mut server, seen) = open(&upstream, &gateway, "", coding);
        assert_eq!(seen, None, "{name}");
        let mut encoder = Encoder::new(name);
        let mut sent = encoder.push(event(upstream.address()).as_bytes()).len();
        let first = encoder.push(b"")[..sent].to_vec();
        // Each event is forwarded as soon as it can be decoded, wherever it is split.
        for byte in first {
            server.send(chunk([byte]));
        }
        let announced = event(gateway.address);
        assert_eq!(
            client.chunks(announced.len()),
            announced.as_bytes(),
            "{name}"
        );
        for number in 0..20 {
            let part = encoder.push(message(number).as_bytes())[sent..].to_vec();
            sent += part.len();
            server.send(chunk(&part));
            assert_eq!(
                client.chunks(message(number).len()),
                message(number).as_bytes()
            );
        }
        server.send(chunk(&encoder.finish()[sent..]));
        server.send("0\r\n\r\n");
        assert_eq!(client.chunk(), b"", "{name}");
        // The next request needs a new connection: one on this connection, while it closes, would be lost.
        server.close_write();
        server.ends();
    }
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), codings.len());
    for exchange in exchanges {
        let edits = exchange.edits();
        let edits: Vec<_> = edits
            .iter()
            .map(|it| (it.what, it.field.as_str()))
            .collect();
        let removed = (EditTarget::FieldRemoved, "content-encoding");
        assert_eq!(edits, [removed, (EditTarget::Endpoint, "")]);
        assert_eq!(exchange.messages(Direction::ToClient).len(), 20);
        let end = exchange.end(Direction::ToClient);
        assert_eq!(end, Some(CloseReason::EndOfInput));
    }
}

#[test]
fn a_compressed_stream_of_a_session_with_an_id_passes_as_it_is() {
    let (upstream, gateway) = pair(&[]);
    for fields in ["Mcp-Session-Id: s-1\r\n", "Last-Event-ID: 7\r\n"] {
        let (mut client, mut server, seen) = open(&upstream, &gateway, fields, "gzip");
        assert_eq!(seen.as_deref(), Some("gzip"), "{fields}");
        let body = encoded("gzip", message(1).as_bytes());
        server.send(chunk(&body));
        assert_eq!(client.chunk(), body, "{fields}");
    }
    // Nor can an unknown encoding be undone.
    let (mut client, mut server, seen) = open(&upstream, &gateway, "", "dcz");
    assert_eq!(seen.as_deref(), Some("dcz"));
    server.send(chunk("id: 1\n\n"));
    assert_eq!(client.chunk(), b"id: 1\n\n");
}

#[test]
fn a_stream_that_cannot_be_decoded_is_cut_off() {
    let (upstream, gateway) = pair(&[]);
    let mut bomb = Encoder::new("zstd");
    for _ in 0..64 {
        bomb.push(&[0; 1 << 20]);
    }
    let cases = [
        ("gzip", b"event: endpoint\n\n".to_vec()),
        ("zstd", bomb.finish()),
    ];
    for (coding, body) in cases {
        let (mut client, mut server, _) = open(&upstream, &gateway, "", coding);
        server.send(chunk(body));
        let (rest, _) = client.rest();
        assert!(
            !rest.ends_with(b"0\r\n\r\n"),
            "{coding}: an end like any other"
        );
        server.ends();
    }
    for exchange in gateway.stop().exchanges() {
        let end = exchange.end(Direction::ToClient);
        assert_eq!(end, Some(CloseReason::Failed));
    }
}
