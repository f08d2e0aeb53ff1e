//! Bad HTTP/2: refused, and never a request that HTTP/1.1 would read differently.

use crate::support::http::frames::{END_HEADERS, END_STREAM, block, frame, kind, next, open};
use crate::support::http::{Gateway, Strict, json};

/// A request with everything that it needs.
const GOOD: [(&str, &str); 4] = [
    (":method", "POST"),
    (":scheme", "http"),
    (":authority", "localhost"),
    (":path", "/bad"),
];

fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, END_HEADERS | flags, stream, &block(fields))
}

/// Requests that must not reach the server, by name.
fn bad() -> Vec<(&'static str, Vec<u8>)> {
    let with = |extra: &[(&str, &str)]| headers(1, END_STREAM, &[&GOOD[..], extra].concat());
    let without = |name: &str| {
        let fields: Vec<_> = GOOD
            .iter()
            .copied()
            .filter(|(known, _)| *known != name)
            .collect();
        headers(1, END_STREAM, &fields)
    };
    let instead = |name: &str, value: &str| {
        let fields: Vec<_> = GOOD
            .iter()
            .map(|(known, old)| (*known, if *known == name { value } else { *old }))
            .collect();
        headers(1, END_STREAM, &fields)
    };
    let body = |length: &str, data: &[u8]| {
        let fields = [&GOOD[..], &[("content-length", length)]].concat();
        [
            headers(1, 0, &fields),
            frame(kind::DATA, END_STREAM, 1, data),
        ]
        .concat()
    };
    vec![
        (
            "a line end in a value",
            with(&[("x", "a\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")]),
        ),
        ("a line feed in a value", with(&[("x", "a\nb: c")])),
        ("a carriage return in a value", with(&[("x", "a\rb")])),
        ("NUL in a value", with(&[("x", "a\0b")])),
        ("capitals in a name", with(&[("X-Upper", "a")])),
        ("a space in a name", with(&[("x y", "a")])),
        ("a colon in a name", with(&[("x:y", "a")])),
        ("a line end in a name", with(&[("x\r\ny", "a")])),
        ("an empty name", with(&[("", "a")])),
        (
            "a transfer coding",
            with(&[("transfer-encoding", "chunked")]),
        ),
        ("connection", with(&[("connection", "close")])),
        ("keep-alive", with(&[("keep-alive", "1")])),
        ("upgrade", with(&[("upgrade", "websocket")])),
        ("te of anything but trailers", with(&[("te", "gzip")])),
        (
            "a pseudo field after the others",
            headers(
                1,
                END_STREAM,
                &[GOOD[0], GOOD[1], GOOD[2], ("x", "y"), GOOD[3]],
            ),
        ),
        ("an unknown pseudo field", with(&[(":unknown", "x")])),
        ("a pseudo field of responses", with(&[(":status", "200")])),
        (
            "two methods",
            headers(
                1,
                END_STREAM,
                &[GOOD[0], GOOD[0], GOOD[1], GOOD[2], GOOD[3]],
            ),
        ),
        (
            "two paths",
            headers(
                1,
                END_STREAM,
                &[GOOD[0], GOOD[1], GOOD[2], GOOD[3], GOOD[3]],
            ),
        ),
        ("no method", without(":method")),
        ("no path", without(":path")),
        ("no scheme", without(":scheme")),
        ("no authority", without(":authority")),
        ("an empty path", instead(":path", "")),
        ("a space in the path", instead(":path", "/bad HTTP/1.1")),
        (
            "a line end in the path",
            instead(":path", "/bad HTTP/1.1\r\nX: y\r\n\r\n"),
        ),
        ("a path that is none", instead(":path", "bad")),
        ("a method with a space", instead(":method", "GET /smuggled")),
        ("a method with a line end", instead(":method", "GET\r\n")),
        ("another authority", instead(":authority", "evil.example")),
        (
            "an authority with a user",
            instead(":authority", "user@localhost"),
        ),
        ("another host", with(&[("host", "evil.example")])),
        (
            "two hosts",
            with(&[("host", "localhost"), ("host", "localhost")]),
        ),
        (
            "CONNECT",
            headers(
                1,
                0,
                &[(":method", "CONNECT"), (":authority", "localhost:1")],
            ),
        ),
        (
            "extended CONNECT",
            headers(
                1,
                0,
                &[
                    (":method", "CONNECT"),
                    (":protocol", "websocket"),
                    GOOD[1],
                    GOOD[2],
                    GOOD[3],
                ],
            ),
        ),
        ("a length without a body", with(&[("content-length", "4")])),
        ("a length that is too short", body("1", b"body")),
        ("a length that is no number", body("0x4", b"body")),
        ("headers on stream 0", headers(0, END_STREAM, &GOOD)),
        ("headers on an even stream", headers(2, END_STREAM, &GOOD)),
        (
            "data before headers",
            frame(kind::DATA, END_STREAM, 1, b"body"),
        ),
        (
            "a continuation of nothing",
            frame(kind::CONTINUATION, END_HEADERS, 1, &block(&GOOD)),
        ),
        (
            "something within a block",
            [
                frame(kind::HEADERS, END_STREAM, 1, &block(&GOOD)),
                frame(kind::PING, 0, 0, &[0; 8]),
            ]
            .concat(),
        ),
        (
            "a block that is none",
            frame(kind::HEADERS, END_HEADERS | END_STREAM, 1, &[0xff; 40]),
        ),
        (
            "an index without an entry",
            frame(kind::HEADERS, END_HEADERS | END_STREAM, 1, &[0xfe]),
        ),
        (
            "settings of a wrong size",
            frame(kind::SETTINGS, 0, 0, &[0; 5]),
        ),
        ("settings on a stream", frame(kind::SETTINGS, 0, 1, &[])),
        (
            "a window of nothing",
            frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4]),
        ),
        (
            "a window that overflows",
            frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        (
            "a promise of a client",
            frame(kind::PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2]),
        ),
        ("a reset of nothing", frame(kind::RST_STREAM, 0, 9, &[0; 4])),
        ("a ping of a wrong size", frame(kind::PING, 0, 0, &[0; 7])),
        (
            "a frame that is too large",
            frame(kind::DATA, 0, 1, &vec![0; 20_000]),
        ),
        (
            "padding longer than its frame",
            frame(kind::HEADERS, END_HEADERS | END_STREAM | 8, 1, &[200, 0, 0]),
        ),
        (
            "a stream that depends on itself",
            frame(
                kind::HEADERS,
                END_HEADERS | END_STREAM | 0x20,
                1,
                &[&[0, 0, 0, 1, 0][..], &block(&GOOD)].concat(),
            ),
        ),
    ]
}

fn strict() -> Strict {
    Strict::start(|_| json("200 OK", "", "{}").into_bytes())
}

/// Sends a good request on `stream` and waits for its answer, or for the end.
fn canary(wire: &mut crate::support::http::Wire, stream: u32) -> bool {
    let mut fields = GOOD;
    fields[3].1 = "/canary";
    if wire.try_send(headers(stream, END_STREAM, &fields)).is_err() {
        wire.rest();
        return false;
    }
    loop {
        match next(wire) {
            Some((kind::HEADERS, found, _)) if found == stream => return true,
            Some((kind::GOAWAY, _, _)) => {
                wire.rest();
                return false;
            }
            Some(_) => {}
            None => return false,
        }
    }
}

#[test]
fn bad_frames_and_fields_reach_nobody() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &[]);
    let table = bad();
    assert!(table.len() >= 50);
    for (name, bytes) in table {
        println!("{name}");
        let mut wire = open(gateway.address);
        wire.try_send(bytes).ok();
        let answered = canary(&mut wire, 3);
        let seen = server.seen();
        let lines: Vec<&str> = seen.iter().map(|seen| seen.head.line.as_str()).collect();
        let wanted: &[&str] = if answered {
            &["POST /canary HTTP/1.1"]
        } else {
            &[]
        };
        assert!(
            lines == wanted || (!answered && lines == ["POST /canary HTTP/1.1"]),
            "{name}: {lines:?}"
        );
        // Everybody else is served as before.
        assert!(canary(&mut open(gateway.address), 1), "{name}");
        assert_eq!(server.seen().len(), 1);
    }
    assert!(
        server
            .broken()
            .iter()
            .all(|seen| !seen.head.line.contains("smuggled"))
    );
    gateway.stop();
}

#[test]
fn a_body_that_is_not_as_long_as_was_said_has_no_proper_end() {
    for (length, data) in [("9", &b"body"[..]), ("3", b"body")] {
        let server = strict();
        let gateway = Gateway::to(server.address(), &[]);
        let mut wire = open(gateway.address);
        let fields = [&GOOD[..], &[("content-length", length)]].concat();
        wire.send(headers(1, 0, &fields));
        wire.send(frame(kind::DATA, END_STREAM, 1, data));
        canary(&mut wire, 3);
        assert!(
            server
                .seen()
                .iter()
                .all(|seen| seen.head.line.contains("canary"))
        );
        drop(wire);
        gateway.stop();
    }
}

#[test]
fn floods_are_stopped_and_hold_nothing() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &[]);
    let continuation = frame(kind::CONTINUATION, 0, 1, &[0; 1_000]);
    let reset = |stream: u32| {
        [
            headers(stream, END_STREAM, &GOOD),
            frame(kind::RST_STREAM, 0, stream, &[0, 0, 0, 8]),
        ]
        .concat()
    };
    let floods: [(&str, Box<dyn Fn(u32) -> Vec<u8>>); 3] = [
        (
            "continuations",
            Box::new(move |number| match number {
                0 => frame(kind::HEADERS, END_STREAM, 1, &block(&GOOD)),
                _ => continuation.clone(),
            }),
        ),
        ("resets", Box::new(move |number| reset(number * 2 + 1))),
        (
            "pings",
            Box::new(|_| frame(kind::PING, 0, 0, &[7; 8]).repeat(10)),
        ),
    ];
    for (name, flood) in floods {
        println!("{name}");
        let mut wire = open(gateway.address);
        for number in 0..2_000_u32 {
            if wire.try_send(flood(number)).is_err() {
                break;
            }
        }
        drop(wire);
        assert!(canary(&mut open(gateway.address), 1), "{name}");
        assert!(gateway.peak_memory_kib() < 80 * 1024, "{name}");
    }
    gateway.stop();
}
