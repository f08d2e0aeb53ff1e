//! What a rule sees.

use tapewright_schemas::event::{Direction, Event};

use crate::finding::Side;
use crate::message::Message;
use crate::method::Method;
use crate::session::asked::Asked;
use crate::session::{Answer, Session, Sort};

/// One message at the moment when a rule looks at it.
pub(crate) struct Case<'a> {
    pub(crate) event: &'a Event,
    pub(crate) message: &'a Message<'a>,
    /// The session before this message.
    pub(crate) session: &'a Session,
    /// Of a response: what it answers.
    pub(crate) answer: Answer<'a>,
    /// Of an HTTP exchange: the status of the response so far.
    pub(crate) status: Option<u16>,
    /// Of an HTTP exchange: the request resumes a stream.
    pub(crate) resumes: bool,
    /// Of an HTTP exchange: it is a POST.
    pub(crate) posted: bool,
}

impl<'a> Case<'a> {
    /// The request that a response answers.
    pub(crate) fn asked(&self) -> Option<&'a Asked> {
        match self.answer {
            Answer::Pairs(asked) => Some(asked),
            _ => None,
        }
    }

    /// Who sent the message.
    pub(crate) fn sender(&self) -> Side {
        Side::sender(self.message.dir)
    }

    pub(crate) fn method(&self) -> Method {
        self.message.method
    }

    pub(crate) fn dir(&self) -> Direction {
        self.message.dir
    }

    /// Whether it may belong to a request of another exchange, and there is no session to
    /// find it by.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let alone = self.session.sort == Sort::Exchange;
        alone && (self.message.dir == Direction::ToServer || !self.posted)
    }

    /// Whether it travels over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self.session.sort, Sort::Exchange | Sort::Http)
    }

    /// Whether the response is one that an HTTP error status carries.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}

/// A session at its end.
pub(crate) struct Closing<'a> {
    pub(crate) session: &'a Session,
    /// The recording goes on to the end of the session.
    pub(crate) whole: bool,
}
