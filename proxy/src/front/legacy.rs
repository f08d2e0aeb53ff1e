//! HTTP+SSE, the transport of 2024-11-05: an event stream at `/sse`, whose first event contains the
//! endpoint for messages.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{CloseReason, InPlaceCause, SessionEnd};

use super::answer::{events, given, typed};
use super::check::{self, Refusal};
use super::endpoint::{FrontRequest, Refused, plain};
use super::events::{Events, Show};
use super::reading::Reading;
use super::shared::Front;
use super::switchboard::ProtocolStyle;
use crate::http::body::Outbound;

impl Front {
    /// Starts a session with its stream. The session ends with the stream.
    pub(crate) async fn legacy_stream(
        self: &Arc<Self>,
        asked: &FrontRequest,
    ) -> Result<Response<Outbound>, Refusal> {
        check::takes_events(&asked.head.headers)?;
        let (name, child) = self.begin(ProtocolStyle::Legacy).await?;
        asked.exchange.belongs_to(child.notes.keys.session);
        let ends = Ends {
            front: Arc::clone(self),
            name: name.clone(),
        };
        let opened = child.board().open_general();
        let opened = opened
            .ok_or_else(|| Refusal::bad(InPlaceCause::StreamTaken, "the stream is already open"))?;
        let prelude = format!("event: endpoint\ndata: /messages?sessionId={name}\n\n");
        let show = Show {
            prelude: Some(Bytes::from(prelude)),
            numbered: false,
            learn: None,
            keep_alive: self.settings.keep_alive,
        };
        let reading = Reading { child, opened };
        let body = Events::new(reading, show, asked.exchange.ended()).with(ends);
        let response = events(Outbound::streaming(body));
        asked.exchange.answers(&response, None);
        Ok(response)
    }

    /// Handles a message; its answer is sent on the stream.
    pub(crate) async fn legacy_post(
        self: &Arc<Self>,
        asked: FrontRequest,
    ) -> Result<Response<Outbound>, Refused> {
        let FrontRequest {
            head,
            body,
            exchange,
            ..
        } = asked;
        let query = head.uri.query().unwrap_or_default();
        let mut members = query.split('&').filter_map(|member| member.split_once('='));
        let name = members.find(|(name, _)| *name == "sessionId");
        let Some((_, name)) = name else {
            return Err(plain(Refusal::bad(
                InPlaceCause::NoSessionId,
                "sessionId is missing",
            )));
        };
        let child = self.session(name, ProtocolStyle::Legacy).ok_or_else(|| {
            let why = "unknown session; open /sse";
            plain(Refusal::new(StatusCode::NOT_FOUND, InPlaceCause::NoSession, why).coded(-32_001))
        })?;
        exchange.belongs_to(child.notes.keys.session);
        check::brings_json(&head.headers).map_err(plain)?;
        let held = self.read(body).await.map_err(|refusal| {
            exchange.read(CloseReason::Aborted);
            plain(refusal)
        })?;
        exchange.read(CloseReason::EndOfInput);
        if let Kind::Malformed(why) = Envelope::parse(&held.bytes).kind {
            let words = format!("the body is not a JSON-RPC message: {why}");
            let refusal = Refusal::bad(InPlaceCause::NotJsonRpc, words);
            return Err(plain(refusal.coded(-32_700).about(&why.name())));
        }
        let sent = child.send(&held.bytes).await;
        sent.map_err(|_| {
            plain(Refusal::bad(
                InPlaceCause::SessionEnded,
                "the session has ended",
            ))
        })?;
        let body = Bytes::from_static(b"Accepted");
        let response = typed(StatusCode::ACCEPTED, "text/plain; charset=utf-8", body);
        Ok(given(&exchange, response, None))
    }
}

/// Ends a session when its stream ends.
pub(crate) struct Ends {
    front: Arc<Front>,
    name: String,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.front.end(&self.name, SessionEnd::StreamClosed);
    }
}
