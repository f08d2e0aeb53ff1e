//! Messages of a server.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, is_error_of_ours};
use tapewright_schemas::event::{Direction, Offset, Peer};
use tapewright_schemas::json;

use super::error::ClientError;

/// A message other than a request of the client and its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its time on the clock of the client.
    pub at: Offset,
    /// To the client: a notification, a request of the server, a stray response, or noise. To the
    /// server: the client's answer to such a request.
    pub dir: Direction,
    /// Its text, without the line end.
    pub message: Bytes,
}

/// The answer to a request, and the messages before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// When the request was sent, on the clock of the client.
    pub sent: Offset,
    /// When the answer was received.
    pub at: Offset,
    /// The whole response, verbatim.
    pub message: Bytes,
    /// The messages since the last reply, in order. Those before this request was sent have an
    /// earlier time.
    pub between: Vec<Passed>,
}

impl Reply {
    /// Source text of the result, if it is one.
    #[must_use]
    pub fn result(&self) -> Option<&[u8]> {
        match Envelope::of_json(&self.message).kind {
            Kind::Response { result, .. } => result,
            _ => None,
        }
    }

    /// Source text of the error, if it is one.
    #[must_use]
    pub fn error(&self) -> Option<&[u8]> {
        match Envelope::of_json(&self.message).kind {
            Kind::Response { error, .. } => error,
            _ => None,
        }
    }

    /// The error that a bridge reports in its server's place; `None` for the server's own answers.
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

    /// The response time.
    #[must_use]
    pub fn took(&self) -> Duration {
        Duration::from_micros(self.at.since(self.sent).0)
    }
}
