//! Peers over HTTP that a test scripts byte by byte, and the gateway between them.

mod either;
pub(crate) mod frames;
mod gateway;
mod strict;
pub(crate) mod tls;
mod wire;

pub(crate) use either::{Exchange, Over, Server, Speaks, runtime, step};
pub(crate) use gateway::{Gateway, Recorded, tunnel};
pub(crate) use strict::{Seen, Strict};
pub(crate) use wire::{Crowded, End, Head, PATIENCE, Upstream, Wire, find};

use std::net::SocketAddr;

/// A server and a gateway in front of it.
pub(crate) fn pair(options: &[&str]) -> (Upstream, Gateway) {
    let upstream = Upstream::start();
    let gateway = Gateway::to(upstream.address(), options);
    (upstream, gateway)
}

/// A request with `Host` and further fields, each with its line end.
pub(crate) fn request(line: &str, host: SocketAddr, fields: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")
}

/// A POST of JSON.
pub(crate) fn post(host: SocketAddr, fields: &str, body: &str) -> String {
    let length = body.len();
    let fields = format!("Content-Type: application/json\r\n{fields}Content-Length: {length}\r\n");
    request("POST /mcp", host, &fields) + body
}

/// A response with a body of JSON.
pub(crate) fn json(status: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// One chunk of a body.
pub(crate) fn chunk(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    let mut out = format!("{:x}\r\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
    out
}
