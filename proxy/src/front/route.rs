//! Chooses the stream for a message of the server.
//!
//! | message | stream |
//! |---|---|
//! | a response | of its request |
//! | progress | of the request with the token |
//! | with a subscription id (2026-07-28) | of that `subscriptions/listen` |
//! | `notifications/cancelled` of the server | that of the request it cancels |
//! | a change of lists or resources | the general one, if the client reads it |
//! | other | of the only pending request; of several: the general one if read, else the latest |
//!
//! Messages without a stream are stored for the general one. No message is sent on two streams.

use bytes::Bytes;
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::Unroutable;
use tapewright_schemas::json;

use super::stream::Stream;
use super::switchboard::{GENERAL, ProtocolStyle, StreamId, Switchboard};
use crate::bridge::line::{one_line, text_of};

/// Messages that could not be sent to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Why this message has no stream.
    pub(crate) message: Option<Unroutable>,
    /// The number of earlier ones that were dropped to make room.
    pub(crate) earlier: u64,
}

impl Switchboard {
    /// Routes the next line of the server, without its line end.
    pub(crate) fn route(&mut self, line: &Bytes) -> Loss {
        let Some(line) = one_line(line) else {
            return Loss::default();
        };
        let message = match self.place(&line) {
            Ok(stream) => self.push(stream, line.clone()),
            Err(why) => Some(why),
        };
        self.answered(&line);
        Loss {
            message,
            earlier: self.tidy(),
        }
    }

    pub(super) fn push(&mut self, stream: StreamId, line: Bytes) -> Option<Unroutable> {
        match self.streams.get_mut(&stream) {
            Some(stream) if !stream.void => {
                stream.push(line);
                None
            }
            _ => Some(Unroutable::ClientGone),
        }
    }

    /// Handles the answers in a line that was already queued: the last one ends its stream.
    pub(super) fn answered(&mut self, line: &[u8]) {
        for_each_message(line, |message| {
            let Kind::Response { id, result, .. } = Envelope::parse(message).kind else {
                return;
            };
            let key = IdKey::exact(&id);
            if self.initialize == Some(key) {
                self.initialize = None;
                let version = result.and_then(|result| json::find(result, &["protocolVersion"]));
                self.version = version.and_then(text_of).map(std::borrow::Cow::into_owned);
            }
            self.settle(key);
        });
    }

    pub(super) fn place(&mut self, line: &[u8]) -> Result<StreamId, Unroutable> {
        let envelope = Envelope::parse(line);
        if self.manner == ProtocolStyle::Legacy {
            return match envelope.kind {
                Kind::Malformed(_) => Err(Unroutable::Noise),
                _ => Ok(GENERAL),
            };
        }
        match &envelope.kind {
            Kind::Response { id, .. } => self.place_of(id).ok_or(Unroutable::Unasked),
            Kind::Batch { .. } => self.place_batch(line).ok_or(Unroutable::Unasked),
            Kind::Request { id, .. } => {
                if self.manner == ProtocolStyle::Stateless {
                    return Err(Unroutable::RequestOfServer);
                }
                let stream = self.related();
                self.asked.enter(id, stream);
                Ok(stream)
            }
            Kind::Notification { method, params } => self.place_notification(method, *params),
            _ => Err(Unroutable::Noise),
        }
    }

    fn place_of(&self, id: &RequestId<'_>) -> Option<StreamId> {
        self.requests.get(id).copied()
    }

    fn place_batch(&self, line: &[u8]) -> Option<StreamId> {
        let mut place = None;
        for_each_message(line, |message| {
            if let Kind::Response { id, .. } = Envelope::parse(message).kind {
                place = place.or_else(|| self.place_of(&id));
            }
        });
        place
    }

    fn place_notification(
        &mut self,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<StreamId, Unroutable> {
        let member = |path: &[&str]| {
            let source = json::find(params?, path)?;
            Some(IdKey::exact_of(source))
        };
        if method == "notifications/progress"
            && let Some(token) = member(&["progressToken"])
            && let Some(stream) = self.tokens.get(token)
        {
            return Ok(*stream);
        }
        if let Some(listener) = member(&["_meta", "io.modelcontextprotocol/subscriptionId"]) {
            return self
                .requests
                .get(listener)
                .copied()
                .ok_or(Unroutable::Unasked);
        }
        if method == "notifications/cancelled"
            && let Some(request) = member(&["requestId"])
        {
            if let Some(stream) = self.asked.take(request) {
                return Ok(stream);
            }
            // A server of the stateless era ends a subscription in this way.
            if let Some(stream) = self.requests.get(request) {
                return Ok(*stream);
            }
        }
        if self.manner == ProtocolStyle::Stateless {
            return self.place_stateless(method);
        }
        Ok(if is_of_session(method) {
            self.unrelated()
        } else {
            self.related()
        })
    }

    /// A message without any reference belongs to the only possible request.
    fn place_stateless(&self, method: &str) -> Result<StreamId, Unroutable> {
        let logs = method == "notifications/message";
        let mut open = self.open_streams();
        let fits = |stream: &Stream| !logs || stream.logs;
        let mut fitting = open.by_ref().filter(|(_, stream)| fits(stream));
        match (fitting.next(), fitting.next()) {
            (Some((id, _)), None) => Ok(id),
            (None, _) => Err(Unroutable::Unasked),
            _ => Err(Unroutable::Ambiguous),
        }
    }

    /// The stream for a message that most likely belongs to a request.
    fn related(&self) -> StreamId {
        let read = self.open_streams().filter(|(_, stream)| stream.is_read());
        let read: Vec<StreamId> = read.map(|(id, _)| id).collect();
        match read.as_slice() {
            [only] => *only,
            [] => {
                // A stream that was cut, and that its client may resume.
                let mut open = self.open_streams();
                match (open.next(), open.next()) {
                    (Some((only, _)), None) if !self.is_general_read() => only,
                    _ => GENERAL,
                }
            }
            [.., latest] if !self.is_general_read() => *latest,
            _ => GENERAL,
        }
    }

    /// The stream for a message that belongs to no request.
    fn unrelated(&self) -> StreamId {
        if self.heard {
            return GENERAL;
        }
        // A client that has never requested the general stream may never do so.
        let mut read = self.open_streams().filter(|(_, stream)| stream.is_read());
        read.next_back().map_or(GENERAL, |(id, _)| id)
    }

    fn is_general_read(&self) -> bool {
        self.streams.get(&GENERAL).is_some_and(Stream::is_read)
    }

    /// The streams of pending requests that can carry more than the answer.
    fn open_streams(&self) -> impl DoubleEndedIterator<Item = (StreamId, &Stream)> {
        self.streams.iter().filter_map(|(id, stream)| {
            let open = *id != GENERAL && !stream.ended && !stream.quiet && !stream.void;
            open.then_some((*id, stream))
        })
    }
}

/// Whether a notification is about the server as a whole.
fn is_of_session(method: &str) -> bool {
    method.ends_with("/list_changed")
        || matches!(
            method,
            "notifications/resources/updated"
                | "notifications/tasks/status"
                | "notifications/elicitation/complete"
        )
}
