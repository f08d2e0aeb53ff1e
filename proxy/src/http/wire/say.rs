//! Encodes heads and trailers.

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::http::fields;
use crate::http::names::Names;

/// The last chunk of a body without trailers (RFC 9112 §7.1).
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Appends an interim response (RFC 9110 §15.2).
pub(super) fn interim(status: StatusCode, fields: &HeaderMap, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    let reason = status.canonical_reason().unwrap_or_default();
    out.extend_from_slice(reason.as_bytes());
    out.extend_from_slice(b"\r\n");
    let mut fields = fields.clone();
    let names = Names::of(&fields);
    fields::strip(&mut fields, names);
    // It has no body, regardless of its fields (RFC 9110 §8.6).
    fields.remove(header::CONTENT_LENGTH);
    fields.remove(header::TE);
    push(&fields, out);
    out.extend_from_slice(b"\r\n");
}

/// The last chunk with its trailers (RFC 9112 §7.1.2); `None` if there are none.
pub(super) fn last_chunk(trailers: &HeaderMap) -> Option<Bytes> {
    let mut out = b"0\r\n".to_vec();
    push(trailers, &mut out);
    if out.len() == LAST_CHUNK.len() - 2 {
        return None;
    }
    out.extend_from_slice(b"\r\n");
    Some(out.into())
}

fn push(fields: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in fields {
        if !is_one_line(value) {
            continue;
        }
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// Whether a value is a single line. The type guarantees it, but this is checked because of its
/// importance.
fn is_one_line(value: &HeaderValue) -> bool {
    let ends = |byte: &u8| matches!(byte, b'\r' | b'\n' | b'\0');
    !value.as_bytes().iter().any(ends)
}

/// Whether a field may be a trailer. Fields that frame or route a message, authenticate its sender
/// or determine how its body is read may not (RFC 9110 §6.5.1): the message was already processed
/// without that field, and a recipient that merges it into the head is deceived.
pub(crate) fn may_trail(name: &HeaderName) -> bool {
    const NEVER: &[HeaderName] = &[
        header::AUTHORIZATION,
        header::CACHE_CONTROL,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::CONTENT_RANGE,
        header::CONTENT_TYPE,
        header::COOKIE,
        header::EXPECT,
        header::HOST,
        header::MAX_FORWARDS,
        header::ORIGIN,
        header::SET_COOKIE,
        header::TRAILER,
    ];
    !NEVER.contains(name) && !fields::is_of_one_hop(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn an_interim_response_has_its_fields_and_frames_nothing() {
        let mut out = Vec::new();
        let fields = of(&[
            ("link", "</a>"),
            ("link", "</b>"),
            ("content-length", "7"),
            ("transfer-encoding", "chunked"),
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
        ]);
        interim(StatusCode::EARLY_HINTS, &fields, &mut out);
        interim(StatusCode::from_u16(199).unwrap(), &of(&[]), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nlink: </b>\r\n\r\nHTTP/1.1 199 \r\n\r\n"
        );
    }

    #[test]
    fn trailers_stand_in_the_last_chunk() {
        assert_eq!(last_chunk(&of(&[])), None);
        let chunk = last_chunk(&of(&[("x-a", "1"), ("x-a", "2"), ("x-b", "")]));
        assert_eq!(chunk.unwrap(), "0\r\nx-a: 1\r\nx-a: 2\r\nx-b: \r\n\r\n");
    }

    #[test]
    fn what_heads_decide_by_does_not_trail() {
        for name in [
            "content-length",
            "transfer-encoding",
            "te",
            "host",
            "connection",
            "upgrade",
        ] {
            assert!(!may_trail(&HeaderName::from_static(name)), "{name}");
        }
        for name in ["server-timing", "grpc-status", "etag", "x-checksum"] {
            assert!(may_trail(&HeaderName::from_static(name)), "{name}");
        }
    }
}
