//! Handles a message of a client: its era, and how it is answered.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use tapewright_schemas::envelope::{Envelope, Kind, Malformed};
use tapewright_schemas::event::{CloseReason, InPlace, InPlaceCause};
use tokio::time::timeout;

use super::answer::{events, given, message};
use super::check::{self, Accepts, Refusal, single};
use super::delivery::AbnormalEnd;
use super::endpoint::{FrontRequest, Refused, plain};
use super::events::{Events, Learn, Show, priming};
use super::exchange::{FrontExchange, Reason};
use super::reading::Reading;
use super::shared::Front;
use super::switchboard::{Form, NotAccepted, ProtocolStyle};
use crate::bridge::client::SESSION;
use crate::bridge::line::id_source;
use crate::bridge::mirror;
use crate::http::body::Outbound;
use crate::http::fault::{self, CutBehind};

/// A message of a client, and the content types that the client accepts.
pub(crate) struct Message<'a> {
    pub(crate) line: &'a Bytes,
    pub(crate) kind: Kind<'a>,
    pub(crate) accepts: Accepts,
}

impl Message<'_> {
    /// The source text of its id, if it is a request.
    pub(crate) fn id(&self) -> Option<Vec<u8>> {
        match &self.kind {
            Kind::Request { id, .. } => Some(id_source(id)),
            _ => None,
        }
    }

    /// A refusal of this message.
    pub(crate) fn refuse(&self, refusal: Refusal) -> Refused {
        (refusal, self.id())
    }
}

/// How to send an answer.
pub(crate) struct AnswerContext<'a> {
    pub(crate) exchange: &'a FrontExchange,
    pub(crate) accepts: Accepts,
    /// The id of the session that starts with this answer.
    pub(crate) begins: Option<&'a str>,
    /// Determines the status of an answer that is one message.
    pub(crate) status: &'a (dyn Fn(&[u8]) -> StatusCode + Sync),
    pub(crate) learn: Option<Learn>,
}

impl Front {
    /// Handles a message.
    pub(crate) async fn post(
        self: &Arc<Self>,
        asked: FrontRequest,
    ) -> Result<Response<Outbound>, Refused> {
        let FrontRequest {
            client,
            head,
            body,
            exchange,
        } = asked;
        check::brings_json(&head.headers).map_err(plain)?;
        let accepts = check::accepts(&head.headers).map_err(plain)?;
        let held = self.read(body).await.map_err(|refusal| {
            exchange.read(CloseReason::Aborted);
            plain(refusal)
        })?;
        exchange.read(CloseReason::EndOfInput);
        let kind = Envelope::parse(&held.bytes).kind;
        if let Kind::Malformed(why) = kind {
            return Err(plain(malformed(why)));
        }
        let message = Message {
            line: &held.bytes,
            kind,
            accepts,
        };
        let version = single(&head.headers, &mirror::VERSION).map_err(plain)?;
        if is_stateless(&message.kind, version) {
            let who = self.credential(client, &head);
            return self
                .stateless_post(&head.headers, &exchange, who, &message)
                .await;
        }
        self.session_post(&head.headers, &exchange, &message).await
    }

    /// Sends the answer that a client waits for.
    pub(crate) async fn give(
        &self,
        reading: Reading,
        giving: AnswerContext<'_>,
    ) -> Response<Outbound> {
        let AnswerContext {
            exchange,
            accepts,
            begins,
            status,
            learn,
        } = giving;
        let form = if !accepts.json {
            Form::Events
        } else if accepts.events {
            let patience = self.settings.patience;
            let form = timeout(patience, reading.form()).await;
            form.unwrap_or(Form::Events)
        } else {
            match reading.form().await {
                Form::Events => Form::Whole(reading.array().await),
                other => other,
            }
        };
        let mut response = match form {
            Form::Ends(fate) => return doomed(exchange, fate),
            Form::Whole(line) => {
                if let Some(learn) = learn {
                    learn(&line);
                }
                message(status(&line), line)
            }
            Form::Events => {
                let response = match self.stream(reading, exchange, learn) {
                    Ok(response) => response,
                    Err(fate) => return doomed(exchange, fate),
                };
                return with_session(response, begins, |response| {
                    exchange.answers(response, None);
                });
            }
        };
        if response.status() == StatusCode::OK {
            response = with_session(response, begins, |_| {});
        }
        given(exchange, response, None)
    }

    fn stream(
        &self,
        reading: Reading,
        exchange: &FrontExchange,
        learn: Option<Learn>,
    ) -> Result<Response<Outbound>, AbnormalEnd> {
        let stream = reading.opened.stream;
        let (numbered, primed) = {
            let mut board = reading.child.board();
            if let Some(fate) = board.begin(stream) {
                return Err(fate);
            }
            let numbered = board.manner() == ProtocolStyle::Session;
            // Clients of older revisions parse every event as a message.
            let primed = board
                .version()
                .is_some_and(|version| version >= "2025-11-25");
            (numbered, numbered && primed)
        };
        let show = Show {
            prelude: primed.then(|| priming(stream, 0, self.settings.retry)),
            numbered,
            learn,
            keep_alive: self.settings.keep_alive,
        };
        let body = Events::new(reading, show, exchange.ended());
        Ok(events(Outbound::streaming(body)))
    }
}

/// The response for an answer that a fault withholds.
fn doomed(exchange: &FrontExchange, fate: AbnormalEnd) -> Response<Outbound> {
    let response = match fate {
        AbnormalEnd::Status(status, retry_after) => {
            let response = fault::status_of(status, retry_after);
            return given(exchange, response, Some(Reason::plain(InPlace::Fault)));
        }
        AbnormalEnd::Cut(None) => fault::cut_off(),
        AbnormalEnd::Cut(Some(part)) => {
            let mut response = message(StatusCode::OK, Bytes::new());
            *response.body_mut() = Outbound::streaming(CutBehind::new(part));
            exchange.answers(&response, None);
            response
        }
    };
    exchange.ended().cut();
    response
}

/// Adds the id of the session that starts with an answer.
fn with_session(
    mut response: Response<Outbound>,
    name: Option<&str>,
    note: impl FnOnce(&Response<Outbound>),
) -> Response<Outbound> {
    if let Some(mut name) = name.and_then(|name| HeaderValue::from_str(name).ok()) {
        name.set_sensitive(true);
        response.headers_mut().insert(SESSION, name);
    }
    note(&response);
    response
}

/// Whether a message is of the stateless era: by its content or, if that has no place for it, by
/// its header fields.
fn is_stateless(kind: &Kind<'_>, version: Option<&str>) -> bool {
    let by_head = version.is_some_and(check::is_stateless);
    match kind {
        Kind::Request { method, params, .. } => {
            mirror::version(*params).is_some() || method == "server/discover" || by_head
        }
        Kind::Notification { params, .. } => mirror::version(*params).is_some() || by_head,
        _ => by_head,
    }
}

fn malformed(why: Malformed) -> Refusal {
    let code = match why {
        Malformed::NotAnEnvelope | Malformed::NotAnObject => -32_600,
        _ => -32_700,
    };
    let words = format!("the body is not a JSON-RPC message: {why}");
    let refusal = Refusal::bad(InPlaceCause::NotJsonRpc, words);
    refusal.coded(code).about(&why.name())
}

/// The refusal of a message that the switchboard did not accept.
pub(crate) fn untaken(why: NotAccepted) -> Refusal {
    let new = |status, cause| Refusal::new(status, cause, why.to_string());
    match why {
        NotAccepted::Repeated => {
            new(StatusCode::BAD_REQUEST, InPlaceCause::IdRepeated).coded(-32_600)
        }
        NotAccepted::TooMany => new(
            StatusCode::SERVICE_UNAVAILABLE,
            InPlaceCause::TooManyExchanges,
        ),
        NotAccepted::Over => new(StatusCode::NOT_FOUND, InPlaceCause::ServerEnded).coded(-32_001),
    }
}
