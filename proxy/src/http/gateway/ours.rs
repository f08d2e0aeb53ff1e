//! Answers made by tapewright. They are marked, and never look like the server's.

use std::borrow::Cow;
use std::error::Error;
use std::io;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_schemas::event::{Fields, InPlace, InPlaceCause, ResponseHead};

use crate::http::body::Outbound;
use crate::http::fields;
use crate::http::listen::{CHALLENGE, Refused};
use crate::http::origin::{ConnectError, SendError};

/// The header field of every answer made by tapewright.
pub(crate) const MARK: &str = "x-tapewright";

/// An answer in the server's place.
#[derive(Debug)]
pub(crate) struct LocalAnswer {
    pub(crate) status: StatusCode,
    pub(crate) why: InPlace,
    pub(crate) cause: Option<InPlaceCause>,
    /// Details of the cause.
    pub(crate) about: Option<String>,
    /// The message for the client, without secrets.
    pub(crate) words: String,
}

impl LocalAnswer {
    pub(crate) fn new(
        status: StatusCode,
        why: InPlace,
        cause: InPlaceCause,
        words: impl Into<String>,
    ) -> Self {
        Self {
            status,
            why,
            cause: Some(cause),
            about: None,
            words: words.into(),
        }
    }

    /// An answer made by a fault.
    pub(crate) fn of_fault(status: StatusCode, words: &str) -> Self {
        Self {
            status,
            why: InPlace::Fault,
            cause: None,
            about: None,
            words: words.to_owned(),
        }
    }

    /// Adds details of the cause.
    pub(crate) fn about(self, what: impl Into<String>) -> Self {
        let about = Some(what.into());
        Self { about, ..self }
    }

    /// A request that tapewright does not understand.
    pub(crate) fn bad_request(cause: InPlaceCause, words: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, InPlace::BadRequest, cause, words)
    }

    /// A head that could not be read. hyper sends its own answer.
    pub(crate) fn unreadable(is_too_long: bool) -> Self {
        if is_too_long {
            let (status, why) = (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                InPlace::TooLong,
            );
            let words = "the head is too long, or has too many fields";
            return Self::new(status, why, InPlaceCause::HeadTooLong, words);
        }
        Self::bad_request(InPlaceCause::HeadUnreadable, "the head is not HTTP")
    }

    /// A fault dropped the message.
    pub(crate) fn dropped() -> Self {
        Self::of_fault(StatusCode::ACCEPTED, "a fault dropped the message")
    }

    /// There was no exchange with the server, or it was cut off.
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
        let (cause, about) = told(error);
        let ours = Self::new(status, why, cause, chain(error));
        Self { about, ..ours }
    }

    /// The status for a failed connection; 403 for one that is not allowed.
    pub(crate) fn status_of(error: &io::Error) -> StatusCode {
        match error.kind() {
            io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// The client is not allowed.
    pub(crate) fn refused(why: Refused) -> Self {
        Self::new(
            why.status(),
            InPlace::NotAllowed,
            why.cause(),
            why.to_string(),
        )
    }

    /// The head, for the tape.
    pub(crate) fn head(&self) -> ResponseHead {
        ResponseHead {
            status: self.status.as_u16(),
            version: Cow::default(),
            fields: Fields::default(),
            ours: Some(self.why),
            ours_cause: self.cause,
            ours_about: self.about.clone(),
        }
    }

    /// The answer. A refusal is a JSON-RPC error without an id, which the protocol allows there;
    /// everything else is plain text, which no client mistakes for the server's.
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

/// Why an exchange failed, and the address that it is about.
fn told(error: &SendError) -> (InPlaceCause, Option<String>) {
    let (cause, authority) = match error {
        SendError::Connect(error) => {
            let (cause, authority) = match error {
                ConnectError::Tcp { authority, source } => {
                    let blocked = source.kind() == io::ErrorKind::PermissionDenied;
                    let cause = if blocked {
                        InPlaceCause::Blocked
                    } else {
                        InPlaceCause::ConnectionFailed
                    };
                    (cause, authority)
                }
                ConnectError::TimedOut { authority, .. } => {
                    (InPlaceCause::ConnectTimeout, authority)
                }
                ConnectError::Refused { authority, .. } => (InPlaceCause::TlsRefused, authority),
                ConnectError::Ended { authority, .. } => (InPlaceCause::TlsEnded, authority),
                ConnectError::Tls { authority, .. } => (InPlaceCause::TlsNotAccepted, authority),
                ConnectError::Http { authority, .. } => (InPlaceCause::NoHttp, authority),
            };
            (cause, Some(authority.clone()))
        }
        SendError::Broken(_) => (InPlaceCause::ConnectionBroke, None),
        SendError::Flooded => (InPlaceCause::InterimFlood, None),
    };
    let alert = match error {
        SendError::Connect(ConnectError::Refused { alert, .. }) => Some(alert.clone()),
        _ => error.source().map(chain),
    };
    let about: Vec<String> = authority.into_iter().chain(alert).collect();
    (cause, (!about.is_empty()).then(|| about.join(": ")))
}

/// An error and its causes on one line.
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
        ..ResponseHead::default()
    }
}
