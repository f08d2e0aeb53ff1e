//! The pieces of a line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr2;
use serde::Serialize;

use crate::era::Era;
use crate::event::{Carrier, Direction, Exit, Exited, LineEnd, Maker, Offset, Origin};
use crate::json::{self, push_number};

/// Why a message is not recorded on the tape as JSON.
pub(super) const NOT_JSON: &str = "not_json";
pub(super) const NOT_UTF8: &str = "not_utf8";
pub(super) const SPACED: &str = "spaced";
pub(super) const TOO_DEEP: &str = "too_deep";
pub(super) const TOO_LONG: &str = "too_long";

/// Whether a JSON text can be written to a line unchanged, and read back exactly.
pub(super) fn fits_a_line(text: &[u8]) -> bool {
    text.trim_ascii().len() == text.len() && memchr2(b'\n', b'\r', text).is_none()
}

pub(super) fn push_bytes(name: &str, bytes: &[u8], why: &str, out: &mut Vec<u8>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        push_text(name, text, out);
        push_text("why", why, out);
    } else {
        push_base64("base64", bytes, out);
        push_text("why", NOT_UTF8, out);
    }
}

pub(super) fn push_base64(name: &str, bytes: &[u8], out: &mut Vec<u8>) {
    push_text(name, &STANDARD.encode(bytes), out);
}

pub(super) fn push_dir(dir: Direction, out: &mut Vec<u8>) {
    out.extend_from_slice(match dir {
        Direction::ToServer => b",\"dir\":\"to_server\"",
        Direction::ToClient => b",\"dir\":\"to_client\"",
    });
}

pub(super) fn push_era(era: Option<Era>, out: &mut Vec<u8>) {
    if let Some(era) = era {
        push_word("era", era.name(), out);
    }
}

/// Appends the origin of a message; the most common values are omitted.
pub(super) fn push_origin(origin: Origin, out: &mut Vec<u8>) {
    if let Some(number) = origin.number {
        out.extend_from_slice(b",\"number\":");
        push_number(number.get(), out);
    }
    if origin.carrier != Carrier::default() {
        push_word("via", origin.carrier.name(), out);
    }
    if origin.maker != Maker::default() {
        push_word("by", origin.maker.name(), out);
    }
    if origin.named {
        out.extend_from_slice(b",\"event\":\"message\"");
    }
}

pub(super) fn push_line_end(end: LineEnd, out: &mut Vec<u8>) {
    match end {
        LineEnd::Lf => {}
        LineEnd::CrLf => push_word("eol", "crlf", out),
        LineEnd::None => push_word("eol", "none", out),
    }
}

pub(super) fn push_exit(exited: Exited, out: &mut Vec<u8>) {
    let (name, number) = match exited.how {
        Exit::Code(code) => ("code", code),
        Exit::Signal(signal) => ("signal", signal),
    };
    out.extend_from_slice(b",\"exited\":{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    if number < 0 {
        out.push(b'-');
    }
    push_number(number.unsigned_abs().into(), out);
    if exited.ours != Offset::default() {
        out.extend_from_slice(b",\"ours_us\":");
        push_number(exited.ours.0, out);
    }
    out.push(b'}');
}

pub(super) fn push_text(name: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    json::escape(text, out);
    out.push(b'"');
}

/// Appends a member whose value is one of our words, which have nothing to escape.
#[inline]
pub(super) fn push_word(name: &str, word: &str, out: &mut Vec<u8>) {
    out.reserve(name.len() + word.len() + 6);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

/// Appends a member whose value serde writes.
pub(super) fn push_value(name: &str, value: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        // Structs of strings and numbers always have a JSON text.
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// Appends a member with the length of a payload and its first bytes.
pub(super) fn push_clipped(length: u64, head: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"clipped\":{\"len\":");
    push_number(length, out);
    out.extend_from_slice(b",\"head\":\"");
    json::escape(&String::from_utf8_lossy(head), out);
    out.extend_from_slice(b"\"}");
}
