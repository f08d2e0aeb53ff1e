//! The inputs, and the expected result of each.

/// The expected result of an input.
pub(super) enum Expected {
    /// An answer with one of these statuses, and the end of the connection; nothing reaches the
    /// server. Status 0: only the end.
    Refused(&'static [u16]),
    /// The same, but the connection continues: the request was understood.
    Denied(u16),
    /// The server sees this many requests, and the connection continues.
    Passed(usize),
    /// The server sees one request, and the connection ends with its answer.
    PassedLast,
    /// The server sees a body without an end.
    Broken,
}

use Expected::{Broken, Denied, Passed, PassedLast, Refused};

pub(super) const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n";

/// Inputs by name. `HOST` is replaced by the gateway's address, `SMUGGLED` by a request.
pub(super) const TABLE: &[(&str, &str, Expected)] = &[
    // Two framings.
    (
        "length and coding",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nSMUGGLED",
        PassedLast,
    ),
    (
        "coding and length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nSMUGGLED",
        PassedLast,
    ),
    (
        "two lengths",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\nContent-Length: 4\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "one length twice",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
        Passed(1),
    ),
    (
        "a list of lengths",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4, 4\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "a positive length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: +4\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "a negative length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -4\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "a length in hex",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0x4\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "a length with a space",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4 4\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "a length with a comment",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4;x\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "an empty length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: \r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "an overflowing length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999999999\r\n\r\nbody",
        Refused(&[400]),
    ),
    (
        "the longest length",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 18446744073709551615\r\n\r\nbody",
        Refused(&[400, 413, 431]),
    ),
    // Codings.
    (
        "chunked, identity",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "identity",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: identity\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "gzip, chunked",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        Denied(501),
    ),
    (
        "chunked, chunked",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        Denied(501),
    ),
    (
        "identity and chunked",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Denied(501),
    ),
    (
        "almost chunked",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "chunked in quotes",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "chunked after a vertical tab",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "chunked after spaces",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: \t  chunked \r\n\r\n0\r\n\r\n",
        Passed(1),
    ),
    (
        "chunked in capitals",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n",
        Passed(1),
    ),
    (
        "a space before the colon",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "a coding in HTTP/1.0",
        "POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    (
        "a folded coding",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nSMUGGLED",
        Refused(&[400]),
    ),
    // Fields.
    (
        "a folded field",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a field before the first",
        "GET / HTTP/1.1\r\n X: a\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a bare CR in a value",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\rY: b\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "NUL in a value",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "NUL in a name",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX\0: a\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "no colon",
        "GET / HTTP/1.1\r\nHost: HOST\r\nXYZ\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "no name",
        "GET / HTTP/1.1\r\nHost: HOST\r\n: a\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a name that is no token",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX(y): a\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a name with a space",
        "GET / HTTP/1.1\r\nHost: HOST\r\nX y: a\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "bare LF at the end of lines",
        "GET / HTTP/1.1\nHost: HOST\nX: a\n\n",
        Passed(1),
    ),
    (
        "bare LF that hides a field",
        "POST / HTTP/1.1\r\nHost: HOST\r\nX: a\nContent-Length: 4\r\n\r\nbody",
        Passed(1),
    ),
    // Request lines.
    (
        "two spaces",
        "GET  / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a space in the target",
        "GET /a b HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a tab in the target",
        "GET /a\tb HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a control character in the target",
        "GET /\x01 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "no target",
        "GET HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a method that is no token",
        "GE(T / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "no method",
        " / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    ("HTTP/0.9", "GET /\r\n\r\n", Refused(&[400])),
    (
        "HTTP/1.2",
        "GET / HTTP/1.2\r\nHost: HOST\r\n\r\n",
        Refused(&[400, 505]),
    ),
    (
        "HTTP/2.0 in words",
        "GET / HTTP/2.0\r\nHost: HOST\r\n\r\n",
        Refused(&[400, 505]),
    ),
    (
        "HTTP/3.0",
        "GET / HTTP/3.0\r\nHost: HOST\r\n\r\n",
        Refused(&[400, 505]),
    ),
    (
        "a version in small letters",
        "GET / http/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "a version with a space",
        "GET / HTTP/1.1 \r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "empty lines first",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Passed(1),
    ),
    (
        "something before the method",
        "\0GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Refused(&[400]),
    ),
    (
        "TLS",
        "\x16\x03\x01\x02\0\x01\0\x01\u{7c}\x03\x03abcdefgh\r\n\r\n",
        Refused(&[400]),
    ),
    // The destination.
    (
        "an absolute target that is ours",
        "GET http://HOST/a HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Passed(1),
    ),
    (
        "an absolute target elsewhere",
        "GET http://evil.example/a HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    (
        "an absolute target of ours for another host",
        "GET http://HOST/a HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        Denied(403),
    ),
    (
        "a target with a user",
        "GET http://user:pass@HOST/a HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    (
        "a target with a user alone",
        "GET http://user@localhost/a HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    (
        "a target that is only an authority",
        "GET evil.example:80 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    ("no host", "GET / HTTP/1.1\r\nX: a\r\n\r\n", Denied(403)),
    (
        "no host in HTTP/1.0",
        "GET / HTTP/1.0\r\n\r\n",
        Refused(&[403]),
    ),
    (
        "two hosts",
        "GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    (
        "two hosts, one evil",
        "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n",
        Denied(403),
    ),
    (
        "an empty host",
        "GET / HTTP/1.1\r\nHost: \r\n\r\n",
        Denied(403),
    ),
    (
        "a host with a user",
        "GET / HTTP/1.1\r\nHost: user@localhost\r\n\r\n",
        Denied(403),
    ),
    (
        "a host with a path",
        "GET / HTTP/1.1\r\nHost: localhost/x\r\n\r\n",
        Denied(403),
    ),
    (
        "a host with a large port",
        "GET / HTTP/1.1\r\nHost: localhost:99999\r\n\r\n",
        Denied(403),
    ),
    (
        "a list of hosts",
        "GET / HTTP/1.1\r\nHost: localhost, evil.example\r\n\r\n",
        Denied(403),
    ),
    (
        "a host that only begins like ours",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n",
        Denied(403),
    ),
    (
        "a host that is no text",
        "GET / HTTP/1.1\r\nHost: localhost\u{e9}\r\n\r\n",
        Denied(403),
    ),
    (
        "CONNECT",
        "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(501),
    ),
    (
        "CONNECT elsewhere",
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        Denied(403),
    ),
    // Chunks.
    (
        "a chunk size with junk",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4x\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "a chunk size in hex notation",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "a negative chunk size",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "an overflowing chunk size",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000004\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "no chunk size",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "a chunk that is too long",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbodyX\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "a chunk that ends in LF alone",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "an extension with LF",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4;a\nb\r\nbody\r\n0\r\n\r\nSMUGGLED",
        Broken,
    ),
    (
        "an extension",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4;a=\"b\"\r\nbody\r\n0\r\n\r\n",
        Passed(1),
    ),
    (
        "a last chunk without its end",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nSMUGGLED",
        Broken,
    ),
    (
        "trailers that would frame",
        "POST / HTTP/1.1\r\nHost: HOST\r\nTrailer: Content-Length, Host\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nContent-Length: 99\r\nHost: evil\r\n\r\n",
        Passed(1),
    ),
    // Other protocols.
    (
        "WebSocket",
        "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n",
        Passed(1),
    ),
    (
        "h2c",
        "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
        Passed(1),
    ),
    (
        "a preface that is none",
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\nSMUGGLED",
        Refused(&[0, 400, 505]),
    ),
    (
        "a preface and then HTTP/1.1",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nSMUGGLED",
        Refused(&[0]),
    ),
    (
        "a body that looks like a request",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 45\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ab",
        Passed(1),
    ),
    (
        "an unknown expectation",
        "POST / HTTP/1.1\r\nHost: HOST\r\nExpect: the-impossible\r\nContent-Length: 4\r\n\r\nbody",
        Passed(1),
    ),
];
