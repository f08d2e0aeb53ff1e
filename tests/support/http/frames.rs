//! HTTP/2 frame by frame, including frames that no library sends.

use std::net::SocketAddr;

use super::Wire;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Kinds of frames (RFC 9113 §6).
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a length")
        .to_be_bytes();
    let mut out = length[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// Fields as literals without an index (RFC 7541 §6.2.2), regardless of their values.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        for text in [name, value] {
            let bytes: Vec<u8> = text.chars().map(|char| char as u32 as u8).collect();
            assert!(bytes.len() < 127, "a length of one byte");
            out.push(u8::try_from(bytes.len()).expect("short"));
            out.extend(bytes);
        }
    }
    out
}

/// A connection of HTTP/2, opened.
pub(crate) fn open(gateway: SocketAddr) -> Wire {
    let mut wire = Wire::connect(gateway);
    wire.send([PREFACE, &frame(kind::SETTINGS, 0, 0, &[])].concat());
    wire
}

/// The next frame: type, stream, payload; `None` at the end of the connection.
pub(crate) fn next(wire: &mut Wire) -> Option<(u8, u32, Vec<u8>)> {
    let head = wire.try_take(9).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    let payload = wire.try_take(length as usize).ok()?;
    Some((head[3], stream & 0x7fff_ffff, payload))
}
