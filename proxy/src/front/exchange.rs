//! One HTTP exchange with a client, on the tape.
//!
//! Its messages stand with their session, on the conduit of the server's process; the
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

/// Why we speak in the server's place.
pub(crate) struct Reason {
    pub(crate) why: InPlace,
    pub(crate) cause: Option<InPlaceCause>,
    /// What the cause is about.
    pub(crate) about: Option<String>,
}

impl Reason {
    /// Nothing more is known of it.
    pub(crate) fn plain(why: InPlace) -> Self {
        Self {
            why,
            cause: None,
            about: None,
        }
    }
}

/// One HTTP exchange, on the tape.
#[derive(Clone)]
pub(crate) struct FrontExchange(Arc<Log>);

impl FrontExchange {
    /// A request has come.
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

    /// Its session is known.
    pub(crate) fn belongs_to(&self, session: SessionKey) {
        self.0.decide(session);
    }

    /// The request was read to its end, or not.
    pub(crate) fn read(&self, reason: CloseReason) {
        self.0.note(Direction::ToServer, EventBody::Closed(reason));
    }

    /// The answer begins. `ours` says why we speak in the server's place.
    pub(crate) fn answers<B>(&self, response: &Response<B>, ours: Option<Reason>) {
        // Whatever was not decided belongs to no session.
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

    /// Something of its bodies, which is no message.
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

    /// Notes that the client left before there was an answer, unless told otherwise.
    pub(crate) fn unanswered(&self) -> Unanswered {
        Unanswered(Some(self.clone()))
    }

    /// Something of the answer is not as it could have been.
    pub(crate) fn lacks(&self, what: What) {
        let faulted = Effect::plain(what).about(None);
        self.0
            .note(Direction::ToClient, EventBody::Faulted(faulted));
    }
}

/// Notes the end of an answer when it is dropped.
pub(crate) struct Ended {
    exchange: FrontExchange,
    reason: CloseReason,
}

impl Ended {
    /// The answer was given to its end.
    pub(crate) fn complete(&mut self) {
        self.reason = CloseReason::EndOfInput;
    }

    /// We break it off.
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

/// Notes, when it is dropped, that the client left before there was an answer.
pub(crate) struct Unanswered(Option<FrontExchange>);

impl Unanswered {
    /// There is an answer.
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
