//! Messages to send: pieces of the recording, with names of this session in between.

use std::collections::VecDeque;

use bytes::Bytes;

/// One message to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The message in pieces, without a line feed.
    pub parts: Vec<Bytes>,
    /// The kind of message.
    pub kind: OutputKind,
    /// Source text of the id of the live request that it answers or belongs to. A message
    /// without one goes on the stream of the session itself.
    pub request: Option<Bytes>,
    /// The code of an error response, which determines the HTTP status in some eras.
    pub error_code: Option<i64>,
    /// It mentions paths of both sides, which must not be mapped.
    pub(crate) keeps_paths: bool,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Not a message of the protocol, but a line that the recorded server printed. Never sent over
    /// HTTP.
    Noise,
    /// A notification.
    Notification,
    /// A request of the server.
    Request,
    /// A response.
    Response,
}

impl Output {
    /// A message in one piece that belongs to no request.
    pub(crate) fn new(kind: OutputKind, message: impl Into<Bytes>) -> Self {
        Self {
            parts: vec![message.into()],
            kind,
            request: None,
            error_code: None,
            keeps_paths: false,
        }
    }

    /// A response made by tapewright.
    pub(crate) fn response(id: &[u8], member: &str, value: &str, code: Option<i64>) -> Self {
        let text = [
            br#"{"jsonrpc":"2.0","id":"#,
            id,
            b",\"",
            member.as_bytes(),
            b"\":",
            value.as_bytes(),
            b"}",
        ]
        .concat();
        Self {
            request: Some(Bytes::copy_from_slice(id)),
            error_code: code,
            ..Self::new(OutputKind::Response, text)
        }
    }

    /// The answer to invalid JSON (JSON-RPC 2.0 §5.1).
    pub(crate) fn parse_error() -> Self {
        let error = r#"{"code":-32700,"message":"the message is not JSON in UTF-8"}"#;
        Self {
            request: None,
            ..Self::response(b"null", "error", error, Some(-32700))
        }
    }

    /// The answer to valid JSON that is not a message.
    pub(crate) fn invalid_request() -> Self {
        let error =
            r#"{"code":-32600,"message":"the message is not a request, notification or response"}"#;
        Self {
            request: None,
            ..Self::response(b"null", "error", error, Some(-32600))
        }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message as one piece.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self.parts.as_slice() {
            [one] => one.clone(),
            parts => parts.concat().into(),
        }
    }
}

/// Joins the responses from an index on into one array, the answer to a batch (JSON-RPC 2.0 §6).
pub(super) fn join(outputs: &mut VecDeque<Output>, from: usize) {
    let tail = outputs.split_off(from.min(outputs.len()));
    let (responses, others): (Vec<_>, Vec<_>) = tail
        .into_iter()
        .partition(|output| output.kind == OutputKind::Response);
    outputs.extend(others);
    if responses.is_empty() {
        return;
    }
    let keeps_paths = responses.iter().any(|response| response.keeps_paths);
    let mut parts = Vec::new();
    for (place, response) in responses.into_iter().enumerate() {
        parts.push(Bytes::from_static(if place == 0 { b"[" } else { b"," }));
        parts.extend(response.parts);
    }
    parts.push(Bytes::from_static(b"]"));
    outputs.push_back(Output {
        parts,
        kind: OutputKind::Response,
        request: None,
        error_code: None,
        keeps_paths,
    });
}
