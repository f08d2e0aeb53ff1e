//! The input of a rule.

use tapewright_schemas::event::{Carrier, Direction, Event};

use crate::carrier::Carriers;
use crate::finding::Side;
use crate::message::Message;
use crate::method::Method;
use crate::session::pending_request::PendingRequest;
use crate::session::{Answer, Session, SessionKind};

/// One message at the time of its check by a rule.
pub(crate) struct Case<'a> {
    pub(crate) event: &'a Event,
    pub(crate) message: &'a Message<'a>,
    /// The session before this message.
    pub(crate) session: &'a Session,
    /// For a response: the request that it answers.
    pub(crate) answer: Answer<'a>,
    /// For an HTTP exchange: the status of the response so far.
    pub(crate) status: Option<u16>,
    /// The carrier of the message.
    pub(crate) carrier: Carrier,
}

impl<'a> Case<'a> {
    /// The request that a response answers.
    pub(crate) fn asked(&self) -> Option<&'a PendingRequest> {
        match self.answer {
            Answer::Pairs(asked) => Some(asked),
            _ => None,
        }
    }

    /// The sender of the message.
    pub(crate) fn sender(&self) -> Side {
        Side::sender(self.message.dir)
    }

    pub(crate) fn method(&self) -> Method {
        self.message.method
    }

    pub(crate) fn dir(&self) -> Direction {
        self.message.dir
    }

    /// Whether it may belong to a request of another exchange, and there is no session to find it
    /// by.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let alone = self.session.sort == SessionKind::Exchange;
        alone
            && !matches!(
                self.carrier,
                Carrier::PostAnswer | Carrier::PostStream | Carrier::Listen
            )
    }

    /// Whether it is carried by HTTP.
    pub(crate) fn is_http(&self) -> bool {
        Carriers::HTTP.has(self.carrier)
    }

    /// Whether it is carried by a resumed stream.
    pub(crate) fn resumes(&self) -> bool {
        self.carrier == Carrier::ResumedStream
    }

    /// Whether the response is carried by an HTTP error status.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}

/// A session at its end.
pub(crate) struct Closing<'a> {
    pub(crate) session: &'a Session,
    /// The recording covers the session to its end.
    pub(crate) whole: bool,
}
