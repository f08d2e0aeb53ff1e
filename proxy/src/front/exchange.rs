//! Records one HTTP exchange with a client.
//!
//! Its messages are recorded with their session, on the conduit of the server's process; the
//! exchange itself has its two heads and how each direction ended.

use std::sync::Arc;

use http::Response;
use http::request::Parts;
use tapewright_schemas::event::{
    CloseReason, Direction, Effect, EventBody, Head, InPlace, InPlaceCause, RequestHead,
    ResponseHead, SessionKey, What,
};

use crate::http::fields::{method_of, to_vocabulary, version_of};
use crate::http::gateway::peer;
use crate::http::listen::Client;
use crate::http::tap::Log;

/// Why tapewright answers in the server's place.
pub(crate) struct Reason {
    pub(crate) why: InPlace,
    pub(crate) cause: Option<InPlaceCause>,
    /// Details of the cause.
    pub(crate) about: Option<String>,
}

impl Reason {
    /// A reason without details.
    pub(crate) fn plain(why: InPlace) -> Self {
        Self {
            why,
            cause: None,
            about: None,
        }
    }
}

/// Records one HTTP exchange.
#[derive(Clone)]
pub(crate) struct FrontExchange(Arc<Log>);

impl FrontExchange {
    /// Records the start of a request.
    pub(crate) fn begin(log: Log, client: Client, head: &Parts) -> Self {
        let target = match head.uri.path_and_query() {
            Some(target) => target.as_str(),
            None => head.uri.path(),
        };
        let request = RequestHead {
            method: method_of(&head.method),
            target: target.to_owned(),
            version: version_of(head.version),
            fields: to_vocabulary(&head.headers),
        };
        let log = Arc::new(log);
        log.note_all(
            Direction::ToServer,
            [
                EventBody::Opened(peer(client)),
                EventBody::Head(Box::new(Head::Request(request))),
            ],
        );
        Self(log)
    }

    /// Sets its session.
    pub(crate) fn belongs_to(&self, session: SessionKey) {
        self.0.decide(session);
    }

    /// Records the end of the request's body.
    pub(crate) fn read(&self, reason: CloseReason) {
        self.0.note(Direction::ToServer, EventBody::Closed(reason));
    }

    /// Records the start of the answer. `ours` says why tapewright answers in the server's place.
    pub(crate) fn answers<B>(&self, response: &Response<B>, ours: Option<Reason>) {
        // If undecided, it is sessionless.
        self.0.decide(SessionKey::default());
        let (ours_cause, ours_about) = match &ours {
            Some(reason) => (reason.cause, reason.about.clone()),
            None => (None, None),
        };
        let head = ResponseHead {
            status: response.status().as_u16(),
            version: version_of(response.version()),
            fields: to_vocabulary(response.headers()),
            ours: ours.map(|reason| reason.why),
            ours_cause,
            ours_about,
        };
        self.0.note(
            Direction::ToClient,
            EventBody::Head(Box::new(Head::Response(head))),
        );
    }

    /// Records a part of its bodies that is not a message.
    pub(crate) fn says(&self, dir: Direction, body: EventBody) {
        self.0.note(dir, body);
    }

    /// Notes the end of the answer when it is dropped.
    pub(crate) fn ended(&self) -> Ended {
        Ended {
            exchange: self.clone(),
            reason: CloseReason::ReceiverGone,
        }
    }

    /// Records, unless disarmed, that the client left before there was an answer.
    pub(crate) fn unanswered(&self) -> Unanswered {
        Unanswered(Some(self.clone()))
    }

    /// Records that a part of the answer is missing.
    pub(crate) fn lacks(&self, what: What) {
        let faulted = Effect::plain(what).about(None);
        self.0
            .note(Direction::ToClient, EventBody::Faulted(faulted));
    }
}

/// Records the end of an answer when it is dropped.
pub(crate) struct Ended {
    exchange: FrontExchange,
    reason: CloseReason,
}

impl Ended {
    /// Notes that the answer was sent completely.
    pub(crate) fn complete(&mut self) {
        self.reason = CloseReason::EndOfInput;
    }

    /// Notes that the front cuts the answer off.
    pub(crate) fn cut(&mut self) {
        self.reason = CloseReason::Failed;
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let log = &self.exchange.0;
        log.note(Direction::ToClient, EventBody::Closed(self.reason));
    }
}

/// Records when dropped that the client left before there was an answer.
pub(crate) struct Unanswered(Option<FrontExchange>);

impl Unanswered {
    /// Disarms it, since there is an answer.
    pub(crate) fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(FrontExchange(log)) = self.0.take() {
            log.decide(SessionKey::default());
            let left = EventBody::Closed(CloseReason::ReceiverGone);
            log.note(Direction::ToClient, left);
        }
    }
}
