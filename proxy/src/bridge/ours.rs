//! Errors that the bridge sends in the server's place, marked as its own.

use bytes::Bytes;
use tapewright_schemas::json;

/// A JSON-RPC error from tapewright, as one line: code −32000, and `data.origin` identifies the
/// sender.
///
/// `id` is the source text of the request's id.
#[must_use]
pub fn error(id: &[u8], message: &str, status: Option<u16>) -> Bytes {
    coded(id, -32_000, message, status)
}

/// A JSON-RPC error from tapewright with a code defined by the protocol.
pub(crate) fn coded(id: &[u8], code: i32, message: &str, status: Option<u16>) -> Bytes {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    line.extend_from_slice(id);
    line.extend_from_slice(b",\"error\":{\"code\":");
    line.extend_from_slice(code.to_string().as_bytes());
    line.extend_from_slice(b",\"message\":\"tapewright: ");
    json::escape(message, &mut line);
    line.extend_from_slice(b"\",\"data\":{\"origin\":\"tapewright\"");
    if let Some(status) = status {
        line.extend_from_slice(b",\"status\":");
        line.extend_from_slice(status.to_string().as_bytes());
    }
    line.extend_from_slice(b"}}}");
    Bytes::from(line)
}

/// The server's own error, under the id of the request that it answers: the body of an HTTP error
/// often has no id, or an invented one, and a client on stdio can only use the id to find the
/// failed request.
pub(crate) fn with_id(id: &[u8], error: &[u8]) -> Bytes {
    let parts = [
        b"{\"jsonrpc\":\"2.0\",\"id\":".as_slice(),
        id,
        b",\"error\":",
        error,
        b"}",
    ];
    Bytes::from(parts.concat())
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::envelope::{Envelope, Kind};

    use super::*;

    #[test]
    fn our_errors_are_responses_that_say_who_speaks() {
        let line = error(b"\"a\"", "the server said \"no\"", Some(502));
        let Kind::Response { error, .. } = Envelope::parse(&line).kind else {
            panic!("{line:?}");
        };
        let error = error.unwrap();
        let origin = json::find(error, &["data", "origin"]).unwrap();
        assert_eq!(origin, b"\"tapewright\"");
        assert_eq!(json::find(error, &["data", "status"]).unwrap(), b"502");
    }
}
