//! Compressed bodies pass untouched, and are read on the copy.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use tapewright_schemas::event::{CloseReason, Direction, EventBody, GapReason};

use crate::support::http::{Gateway, Recorded, chunk, find, pair, post};

/// A compressor that returns its output so far.
pub(super) enum Encoder {
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Deflate(DeflateEncoder<Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
    Zlib(ZlibEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    pub(super) fn new(name: &str) -> Self {
        let level = Compression::default();
        match name {
            "br" => Self::Brotli(Box::new(brotli::CompressorWriter::new(
                Vec::new(),
                4096,
                5,
                20,
            ))),
            "raw" => Self::Deflate(DeflateEncoder::new(Vec::new(), level)),
            "gzip" => Self::Gzip(GzEncoder::new(Vec::new(), level)),
            "deflate" => Self::Zlib(ZlibEncoder::new(Vec::new(), level)),
            _ => Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap()),
        }
    }

    /// Everything so far, with a part more, flushed.
    pub(super) fn push(&mut self, part: &[u8]) -> &[u8] {
        let out: &mut dyn std::io::Write = match self {
            Self::Brotli(out) => out,
            Self::Deflate(out) => out,
            Self::Gzip(out) => out,
            Self::Zlib(out) => out,
            Self::Zstd(out) => out,
        };
        out.write_all(part).unwrap();
        out.flush().unwrap();
        match self {
            Self::Brotli(out) => out.get_ref(),
            Self::Deflate(out) => out.get_ref(),
            Self::Gzip(out) => out.get_ref(),
            Self::Zlib(out) => out.get_ref(),
            Self::Zstd(out) => out.get_ref(),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Brotli(out) => out.into_inner(),
            Self::Deflate(out) => out.finish().unwrap(),
            Self::Gzip(out) => out.finish().unwrap(),
            Self::Zlib(out) => out.finish().unwrap(),
            Self::Zstd(out) => out.finish().unwrap(),
        }
    }
}

pub(super) fn encoded(name: &str, text: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(name);
    encoder.push(text);
    encoder.finish()
}

/// One exchange whose bodies are both encoded, as forwarded and as recorded.
fn passes(coding: &str, body: &[u8], options: &[&str]) -> Recorded {
    pass(coding, body, options).stop().only()
}

/// One exchange whose bodies are both encoded, as it passes.
fn pass(coding: &str, body: &[u8], options: &[&str]) -> Gateway {
    let (upstream, gateway) = pair(options);
    let mut client = gateway.connect();
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n",
        gateway.address
    );
    client.send([head.as_bytes(), body].concat());
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(head.get("content-encoding"), Some(coding));
    assert!(server.body(&head) == body);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n"
    );
    server.send([head.as_bytes(), body].concat());
    let head = client.head();
    assert_eq!(head.get("content-encoding"), Some(coding));
    assert!(client.body(&head) == body);
    let peak = gateway.peak_memory_kib();
    assert!(peak < 80 * 1024, "{peak} KiB at the peak");
    gateway
}

const CALL: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"é\":1.0}}";

#[test]
fn bodies_in_every_encoding_are_read_on_the_copy() {
    let twice = encoded("br", &encoded("gzip", CALL.as_bytes()));
    let members = [
        encoded("gzip", &CALL.as_bytes()[..9]),
        encoded("gzip", &CALL.as_bytes()[9..]),
    ]
    .concat();
    for (coding, body) in [
        ("gzip", encoded("gzip", CALL.as_bytes())),
        ("x-gzip", encoded("gzip", CALL.as_bytes())),
        ("gzip", members),
        ("deflate", encoded("deflate", CALL.as_bytes())),
        ("deflate", encoded("raw", CALL.as_bytes())),
        ("br", encoded("br", CALL.as_bytes())),
        ("ZSTD", encoded("zstd", CALL.as_bytes())),
        ("identity", CALL.as_bytes().to_vec()),
        ("gzip, br", twice),
    ] {
        let exchange = passes(coding, &body, &[]);
        for dir in [Direction::ToServer, Direction::ToClient] {
            assert_eq!(exchange.messages(dir), [CALL], "{coding}");
        }
    }
}

#[test]
fn each_event_of_a_compressed_stream_is_read_as_it_comes() {
    for name in ["gzip", "deflate", "raw", "br", "zstd"] {
        let (upstream, gateway) = pair(&["--durability", "written"]);
        let mut client = gateway.connect();
        client.send(post(
            gateway.address,
            "Accept-Encoding: gzip, deflate, br, zstd\r\n",
            CALL,
        ));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        let coding = if name == "raw" { "deflate" } else { name };
        server.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"));
        client.head();
        let mut encoder = Encoder::new(name);
        let mut sent = 0;
        for number in 0..20 {
            let event =
                format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"number-{number}-of-many\"}}\n\n");
            let part = encoder.push(event.as_bytes())[sent..].to_vec();
            sent += part.len();
            server.send(chunk(&part));
            assert_eq!(client.chunk(), part);
            // Written before it was passed on.
            let tape = std::fs::read(gateway.tape()).unwrap();
            assert!(
                find(&tape, format!("number-{number}-of-many").as_bytes()).is_some(),
                "{name}"
            );
        }
        let rest = encoder.finish()[sent..].to_vec();
        if !rest.is_empty() {
            server.send(chunk(&rest));
            assert_eq!(client.chunk(), rest);
        }
        server.send("0\r\n\r\n");
        assert_eq!(client.chunk(), b"");
        drop(client);
        let exchange = gateway.stop().only();
        assert_eq!(exchange.messages(Direction::ToClient).len(), 20, "{name}");
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::EndOfInput)
        );
    }
}

#[test]
fn what_cannot_be_decoded_passes_and_is_counted_as_a_gap() {
    let mut broken = encoded("gzip", CALL.as_bytes());
    broken[12] ^= 0xff;
    broken[15] ^= 0xff;
    // 512 MiB of zeros in some kilobytes: more than any content may decompress to.
    let mut bomb = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    for _ in 0..512 {
        bomb.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    for (coding, body) in [("gzip", broken), ("zstd", bomb)] {
        let exchange = pass(coding, &body, &[]).stop_with_gaps().only();
        let gaps = exchange.find(|body| match body {
            EventBody::Gap(gap) => Some(gap.why),
            _ => None,
        });
        assert_eq!(gaps, [GapReason::Encoding; 2], "{coding}");
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::EndOfInput)
        );
    }
}

#[test]
fn what_decodes_to_much_is_kept_to_its_limit() {
    let zeros = encoded("gzip", &vec![b' '; 64 << 20]);
    let exchange = passes("gzip", &zeros, &["--max-message", "64KiB"]);
    let lengths = exchange.find(|body| match body {
        EventBody::Body { payload } | EventBody::Message { payload, .. } => {
            Some((payload.wire_len(), payload.kept().len() <= 64 << 10))
        }
        _ => None,
    });
    assert_eq!(lengths, [(64 << 20, true); 2]);
}

#[test]
fn encodings_that_nobody_knows_pass_and_are_kept_as_they_are() {
    let many = "gzip, gzip, gzip, gzip";
    for coding in ["compress", "dcb", many] {
        let exchange = passes(coding, b"\x1f\x9d\x90bytes", &[]);
        assert_eq!(exchange.bodies(Direction::ToClient).len(), 1, "{coding}");
    }
    // Even if the head declares an event stream.
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", CALL));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: dcz\r\nContent-Length: 9\r\n\r\nid: 1\n\n\n\n");
    let head = client.head();
    client.body(&head);
    let exchange = gateway.stop().only();
    assert_eq!(exchange.bodies(Direction::ToClient), ["id: 1\n\n\n\n"]);
    assert!(exchange.notes().is_empty());
}
