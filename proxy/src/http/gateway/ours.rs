//! What we answer ourselves. It says so, and never looks like the server's word.

use std::borrow::Cow;
use std::error::Error;
use std::io;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_schemas::event::{Fields, InPlace, ResponseHead};

use crate::http::body::Outbound;
use crate::http::fields;
use crate::http::listen::{CHALLENGE, Refused};
use crate::http::origin::{ConnectError, SendError};

/// The field that every answer of ours carries.
pub(crate) const MARK: &str = "x-tapewright";

/// An answer in the server's place.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) status: StatusCode,
    pub(crate) why: InPlace,
    /// What the client is told, in words that hold no secret.
    pub(crate) words: String,
}

impl Ours {
    pub(crate) fn new(status: StatusCode, why: InPlace, words: impl Into<String>) -> Self {
        Self {
            status,
            why,
            words: words.into(),
        }
    }

    /// A request that means nothing to us.
    pub(crate) fn bad_request(words: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, InPlace::BadRequest, words)
    }

    /// A fault took the message away.
    pub(crate) fn dropped() -> Self {
        let words = "a fault dropped the message";
        Self::new(StatusCode::ACCEPTED, InPlace::Fault, words)
    }

    /// No exchange with the server came about, or it broke.
    pub(crate) fn of_send(error: &SendError) -> Self {
        let status = match error {
            SendError::Connect(ConnectError::TimedOut { .. }) => StatusCode::GATEWAY_TIMEOUT,
            SendError::Connect(ConnectError::Tcp { source, .. }) => Self::status_of(source),
            _ => StatusCode::BAD_GATEWAY,
        };
        let why = match (error, status) {
            (_, StatusCode::FORBIDDEN) => InPlace::NotAllowed,
            (_, StatusCode::GATEWAY_TIMEOUT) => InPlace::TimedOut,
            (SendError::Connect(_), _) => InPlace::Unreachable,
            _ => InPlace::Broken,
        };
        Self::new(status, why, chain(error))
    }

    /// The status for a connection that did not come about; 403 for one that we do not make.
    pub(crate) fn status_of(error: &io::Error) -> StatusCode {
        match error.kind() {
            io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// The client may not talk to us.
    pub(crate) fn refused(why: Refused) -> Self {
        Self::new(why.status(), InPlace::NotAllowed, why.to_string())
    }

    /// The head, for the tape.
    pub(crate) fn head(&self) -> ResponseHead {
        ResponseHead {
            status: self.status.as_u16(),
            version: Cow::default(),
            fields: Fields::default(),
            ours: Some(self.why),
            ours_detail: Some(self.words.clone()),
        }
    }

    /// The answer. A refusal is an error of JSON-RPC without an id, which the protocol
    /// allows there; everything else is plain text, which no client takes for the server's.
    pub(crate) fn response(&self) -> Response<Outbound> {
        let asks = self.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED;
        let refusal = asks || self.status == StatusCode::FORBIDDEN;
        let (kind, body) = if refusal {
            let error = serde_json::json!({
                "jsonrpc": "2.0",
                "error": {"code": -32000, "message": format!("tapewright: {}", self.words)},
            });
            ("application/json", error.to_string())
        } else {
            (
                "text/plain; charset=utf-8",
                format!("tapewright: {}\n", self.words),
            )
        };
        let mut response = Response::new(Outbound::whole(Bytes::from(body)));
        *response.status_mut() = self.status;
        let head = response.headers_mut();
        head.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        if asks {
            let challenge = HeaderValue::from_static(CHALLENGE);
            head.insert(header::PROXY_AUTHENTICATE, challenge);
        }
        head.insert(
            MARK,
            HeaderValue::from_static("answered in the server's place"),
        );
        response
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// The head of a response of the server, for the tape.
pub(crate) fn head_of<B>(response: &Response<B>) -> ResponseHead {
    ResponseHead {
        status: response.status().as_u16(),
        version: fields::version_of(response.version()),
        fields: fields::to_vocabulary(response.headers()),
        ours: None,
        ours_detail: None,
    }
}
