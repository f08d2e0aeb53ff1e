//! Sessions of streamable HTTP, 2025-03-26 to 2025-11-25.

use std::sync::Arc;
use tapewright_schemas::event::{InPlaceCause, SessionEnd, What};

use http::{HeaderMap, Response, StatusCode};
use tapewright_schemas::envelope::{Envelope, Kind, for_each_message};

use super::answer::{accepted, events, given, status};
use super::check::{self, Refusal, single};
use super::child::Child;
use super::endpoint::{FrontRequest, Refused, not_allowed};
use super::events::{Events, Show, priming};
use super::exchange::FrontExchange;
use super::post::{AnswerContext, Message, untaken};
use super::reading::Reading;
use super::shared::Front;
use super::switchboard::{ProtocolStyle, StreamId};
use crate::bridge::client::SESSION;
use crate::bridge::mirror;
use crate::bridge::stream::LAST_EVENT;
use crate::http::body::Outbound;

impl Front {
    /// Handles a message of a session, or one that starts a session.
    pub(crate) async fn session_post(
        self: &Arc<Self>,
        head: &HeaderMap,
        exchange: &FrontExchange,
        message: &Message<'_>,
    ) -> Result<Response<Outbound>, Refused> {
        let begins =
            matches!(&message.kind, Kind::Request { method, .. } if method == "initialize");
        let name = single(head, &SESSION).map_err(|refusal| message.refuse(refusal))?;
        if begins && name.is_none() {
            return self.begin_session(exchange, message).await;
        }
        let child = self
            .of_session(head)
            .map_err(|refusal| message.refuse(refusal))?;
        exchange.belongs_to(child.notes.keys.session);
        if !has_request(message.line) {
            child.board().observe(message.line);
            let sent = child.send(message.line).await;
            sent.map_err(|_| message.refuse(gone()))?;
            return Ok(given(exchange, accepted(), None));
        }
        self.ask(&child, exchange, message, None).await
    }

    async fn begin_session(
        self: &Arc<Self>,
        exchange: &FrontExchange,
        message: &Message<'_>,
    ) -> Result<Response<Outbound>, Refused> {
        let begun = self.begin(ProtocolStyle::Session).await;
        let (name, child) = begun.map_err(|refusal| message.refuse(refusal))?;
        exchange.belongs_to(child.notes.keys.session);
        // A client that leaves before it gets the id of its session can never use it.
        let mut unnamed = Unnamed {
            front: self,
            name: Some(&name),
        };
        let response = self.ask(&child, exchange, message, Some(&name)).await?;
        if response.headers().contains_key(SESSION) {
            unnamed.name = None;
        }
        Ok(response)
    }

    async fn ask(
        &self,
        child: &Arc<Child>,
        exchange: &FrontExchange,
        message: &Message<'_>,
        begins: Option<&str>,
    ) -> Result<Response<Outbound>, Refused> {
        let opened = child.board().open(message.line, !message.accepts.events);
        let opened = opened.map_err(|why| message.refuse(untaken(why)))?;
        let reading = Reading {
            child: Arc::clone(child),
            opened,
        };
        let sent = child.send(message.line).await;
        sent.map_err(|_| message.refuse(gone()))?;
        let refused = |line: &[u8]| {
            matches!(
                Envelope::parse(line).kind,
                Kind::Response { error: Some(_), .. }
            )
        };
        // A refused session has no id.
        let status = |line: &[u8]| match begins {
            Some(_) if refused(line) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let giving = AnswerContext {
            exchange,
            accepts: message.accepts,
            begins,
            status: &status,
            learn: None,
        };
        Ok(self.give(reading, giving).await)
    }

    /// Opens the stream for messages that the server sends without a request, or resumes one that
    /// was cut.
    pub(crate) fn get(
        self: &Arc<Self>,
        asked: &FrontRequest,
    ) -> Result<Response<Outbound>, Refusal> {
        let head = &asked.head.headers;
        not_stateless(head)?;
        check::takes_events(head)?;
        let child = self.of_session(head)?;
        let exchange = &asked.exchange;
        exchange.belongs_to(child.notes.keys.session);
        self.is_serving()?;
        let last = single(head, &LAST_EVENT)?;
        let (opened, after) = match last {
            None => {
                let opened = child.board().open_general();
                let opened = opened.ok_or_else(|| {
                    let why = "this session already has a stream";
                    Refusal::new(StatusCode::CONFLICT, InPlaceCause::StreamTaken, why)
                })?;
                (opened, 0)
            }
            Some(last) => {
                let why = "no such event in the streams of this session";
                let unknown = || Refusal::bad(InPlaceCause::EventUnknown, why);
                let (stream, after) = event_id(last).ok_or_else(unknown)?;
                let resumed = child.board().resume(stream, after);
                let (opened, missed) = resumed.ok_or_else(unknown)?;
                if missed > 0 {
                    exchange.lacks(What::EventsGone { count: missed });
                }
                (opened, after)
            }
        };
        let primed = child
            .board()
            .version()
            .is_some_and(|version| version >= "2025-11-25");
        let show = Show {
            prelude: primed.then(|| priming(opened.stream, after, self.settings.retry)),
            numbered: true,
            learn: None,
            keep_alive: self.settings.keep_alive,
        };
        let reading = Reading { child, opened };
        let body = Events::new(reading, show, exchange.ended());
        let response = events(Outbound::streaming(body));
        exchange.answers(&response, None);
        Ok(response)
    }

    /// Ends a session.
    pub(crate) fn delete(
        self: &Arc<Self>,
        asked: &FrontRequest,
    ) -> Result<Response<Outbound>, Refusal> {
        let head = &asked.head.headers;
        not_stateless(head)?;
        let child = self.of_session(head)?;
        asked.exchange.belongs_to(child.notes.keys.session);
        if let Some(name) = single(head, &SESSION)? {
            self.end(name, SessionEnd::Deleted);
        }
        let response = status(StatusCode::NO_CONTENT);
        Ok(given(&asked.exchange, response, None))
    }

    /// The session of a request.
    fn of_session(&self, head: &HeaderMap) -> Result<Arc<Child>, Refusal> {
        let Some(name) = single(head, &SESSION)? else {
            let why = "Mcp-Session-Id is missing; start a session with initialize";
            return Err(Refusal::bad(InPlaceCause::NoSessionId, why));
        };
        let child = self
            .session(name, ProtocolStyle::Session)
            .ok_or_else(gone)?;
        let negotiated = child.board().version().map(str::to_owned);
        check::version(head, negotiated.as_deref())?;
        Ok(child)
    }
}

/// Ends a session whose client never received its id.
struct Unnamed<'a> {
    front: &'a Front,
    name: Option<&'a str>,
}

impl Drop for Unnamed<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name {
            self.front.end(name, SessionEnd::NeverBegun);
        }
    }
}

fn gone() -> Refusal {
    let why = "unknown session; start a new one with initialize";
    Refusal::new(StatusCode::NOT_FOUND, InPlaceCause::NoSession, why).coded(-32_001)
}

/// The stateless era has POST only.
fn not_stateless(head: &HeaderMap) -> Result<(), Refusal> {
    match single(head, &mirror::VERSION)? {
        Some(version) if check::is_stateless(version) => Err(not_allowed()),
        _ => Ok(()),
    }
}

/// The stream and the number in an event's id.
fn event_id(id: &str) -> Option<(StreamId, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

fn has_request(body: &[u8]) -> bool {
    let mut found = false;
    for_each_message(body, |message| {
        found |= matches!(Envelope::parse(message).kind, Kind::Request { .. });
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_name_stream_and_number() {
        assert_eq!(event_id("3-17"), Some((3, 17)));
        assert_eq!(event_id("0-0"), Some((0, 0)));
        for other in [
            "",
            "3",
            "3-",
            "-1",
            "a-b",
            "3-17-1",
            "99999999999999999999-1",
        ] {
            assert_eq!(event_id(other), None, "{other}");
        }
    }
}
