//! What a server says.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, is_error_of_ours};
use tapewright_schemas::event::{Direction, Offset, Peer};
use tapewright_schemas::json;

use super::error::ClientError;

/// A message that crossed beside a request and its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When, on the clock of the client.
    pub at: Offset,
    /// To the client: a notification, a request of the server, a stray response, or noise.
    /// To the server: our answer to such a request.
    pub dir: Direction,
    /// Its text, without the line end.
    pub message: Bytes,
}

/// The answer to a request, and what came before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// When the request was sent, on the clock of the client.
    pub sent: Offset,
    /// When the answer came.
    pub at: Offset,
    /// The whole envelope, as the server wrote it.
    pub message: Bytes,
    /// What crossed since the last reply, in order. What came before this request was sent
    /// has an earlier time.
    pub between: Vec<Passed>,
}

impl Reply {
    /// Source text of the result, when it is one.
    #[must_use]
    pub fn result(&self) -> Option<&[u8]> {
        match Envelope::of_json(&self.message).kind {
            Kind::Response { result, .. } => result,
            _ => None,
        }
    }

    /// Source text of the error, when it is one.
    #[must_use]
    pub fn error(&self) -> Option<&[u8]> {
        match Envelope::of_json(&self.message).kind {
            Kind::Response { error, .. } => error,
            _ => None,
        }
    }

    /// The failure that a bridge tells in the place of its server; `None` for an answer of
    /// the server's own.
    pub(super) fn failure_of_bridge(&self, peer: &Peer) -> Option<ClientError> {
        let Peer::Server { .. } = peer else {
            return None;
        };
        let error = self.error()?;
        let ours = is_error_of_ours(error);
        let why = RequestId::of_source(json::find(error, &["message"])?);
        let status = json::find(error, &["data", "status"]);
        let status = status.and_then(|status| std::str::from_utf8(status).ok()?.parse().ok());
        match why {
            RequestId::Text(why) if ours => {
                let why = why.strip_prefix("tapewright: ").unwrap_or(&why).to_owned();
                Some(ClientError::Bridge { why, status })
            }
            _ => None,
        }
    }

    /// How long the answer took.
    #[must_use]
    pub fn took(&self) -> Duration {
        Duration::from_micros(self.at.since(self.sent).0)
    }
}
