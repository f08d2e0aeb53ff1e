//! Examines a client's first bytes in a tunnel. Some clients, such as Node, also open tunnels for
//! `http`: these need no decryption, and are read like any other traffic.

use std::io::Cursor;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tapewright_schemas::slices::{Front as _, Part as _};
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, Chain, Join, ReadHalf, WriteHalf, join, split,
};
use tokio::time::timeout;

/// The client's end of a tunnel.
pub(super) struct Tunnel {
    stream: TokioIo<Upgraded>,
    seen: BytesMut,
}

/// The bytes from the client: those already examined, then the rest.
pub(super) type FromClient = Chain<Cursor<Bytes>, ReadHalf<TokioIo<Upgraded>>>;

/// The bytes to the client.
pub(super) type ToClient = WriteHalf<TokioIo<Upgraded>>;

/// The timeout for a client's first head.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a head is examined, in bytes.
const MOST: usize = 16 * 1024;

/// The maximum length of a method, in bytes; `UPDATEREDIRECTREF` is the longest registered one.
const LONGEST_METHOD: usize = 24;

impl Tunnel {
    pub(super) fn new(stream: Upgraded) -> Self {
        Self {
            stream: TokioIo::new(stream),
            seen: BytesMut::with_capacity(MOST),
        }
    }

    /// Whether the client uses HTTP/1 without TLS. The bytes read so far stay in the tunnel, even
    /// if this future is dropped.
    pub(super) async fn is_plain_http(&mut self) -> bool {
        let Self { stream, seen } = self;
        let decided = timeout(PATIENCE, decide(stream, seen)).await;
        decided.unwrap_or(false)
    }

    /// Whether the client has sent anything.
    pub(super) fn has_begun(&self) -> bool {
        !self.seen.is_empty()
    }

    pub(super) fn into_halves(self) -> (FromClient, ToClient) {
        let (read, write) = split(self.stream);
        (Cursor::new(self.seen.freeze()).chain(read), write)
    }

    pub(super) fn into_stream(self) -> Join<FromClient, ToClient> {
        let (read, write) = self.into_halves();
        join(read, write)
    }
}

async fn decide(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), seen: &mut BytesMut) -> bool {
    loop {
        if let Some(answer) = is_http(seen) {
            return answer;
        }
        // Safe to cancel: no received bytes are lost.
        match stream.read_buf(seen).await {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// Whether this is the beginning of an HTTP/1 request that can be handled; `None` if more bytes are
/// needed.
fn is_http(seen: &[u8]) -> Option<bool> {
    let start = seen.front(LONGEST_METHOD);
    let method = start.split(|byte| *byte == b' ').next()?;
    if !method.iter().all(u8::is_ascii_uppercase) {
        return Some(false);
    }
    if method.len() == start.len() {
        return (start.len() == LONGEST_METHOD).then_some(false);
    }
    // HTTP/2 without TLS, and a proxy behind a proxy.
    if matches!(method, b"" | b"PRI" | b"CONNECT") {
        return Some(false);
    }
    let Some(head) = seen.windows(4).position(|end| end == b"\r\n\r\n") else {
        return (seen.len() >= MOST).then_some(true);
    };
    // After an upgrade to another protocol there is no HTTP.
    let lines = seen.part(..head).split(|byte| *byte == b'\n');
    let upgrades = lines
        .filter_map(|line| line.get(.."upgrade:".len()))
        .any(|name| name.eq_ignore_ascii_case(b"upgrade:"));
    Some(!upgrades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_from_other_protocols_by_its_first_bytes() {
        let cases: [(&[u8], Option<bool>); 14] = [
            (b"", None),
            (b"POST", None),
            (b"POST /mcp HTTP/1.1\r\nHost: a\r\n", None),
            (b"POST /mcp HTTP/1.1\r\nHost: a\r\n\r\n{}", Some(true)),
            (b"GET / HTTP/1.0\r\n\r\n", Some(true)),
            (b"M-SEARCH * HTTP/1.1\r\n\r\n", Some(false)),
            (
                b"GET /ws HTTP/1.1\r\nuPgRaDe: websocket\r\n\r\n",
                Some(false),
            ),
            (
                b"GET / HTTP/1.1\r\nUpgrade-Insecure-Requests: 1\r\n\r\n",
                Some(true),
            ),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Some(false)),
            (b"CONNECT a:443 HTTP/1.1\r\n\r\n", Some(false)),
            (b"\x16\x03\x01", Some(false)),
            (b"SSH-2.0-x\r\n", Some(false)),
            (b" GET / HTTP/1.1\r\n\r\n", Some(false)),
            (b"ABCDEFGHIJKLMNOPQRSTUVWX", Some(false)),
        ];
        for (seen, expected) in cases {
            let text = String::from_utf8_lossy(seen);
            assert_eq!(is_http(seen), expected, "{text:?}");
        }
    }

    #[test]
    fn a_head_without_end_is_left_to_the_parser() {
        let long = [b"GET /".as_slice(), &vec![b'a'; MOST]].concat();
        assert_eq!(is_http(&long), Some(true));
    }
}
