//! The input of a case, and its result.

use std::fmt::Debug;

use tapewright_schemas::conversation::{Outcome, shown};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{
    Carrier, ConduitId, Direction, Fields, RequestHead, ResponseHead, SessionKey, Side,
};

use super::doctor::Probed;

/// Looks for one case in the traffic.
pub(crate) trait Fold: Debug + Send {
    /// A message crossed.
    fn message(&mut self, _: &Seen<'_>, _: &mut Out) {}

    /// Handles the head of an HTTP response.
    fn response(&mut self, _: &HttpSeen<'_>, _: &ResponseHead, _: &mut Out) {}

    /// Handles the head of an HTTP request.
    fn request(&mut self, _: &HttpSeen<'_>, _: &RequestHead, _: &mut Out) {}

    /// Handles an HTTP body that is not a message.
    fn body(&mut self, _: &HttpSeen<'_>, _: &[u8], _: &mut Out) {}

    /// A request is over without an answer.
    fn unanswered(&mut self, _: &PendingRequest, _: Outcome, _: u16, _: &mut Out) {}

    /// A request without `Mcp-Method` was sent.
    fn probed(&mut self, _: Probed, _: &mut Out) {}

    /// At the end: checks that need the whole conversation.
    fn end(&mut self, _: &mut Out) {}

    /// Why it could not be decided.
    fn undecided(&self) -> String;
}

/// A message.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) seq: u64,
    pub(crate) dir: Direction,
    pub(crate) era: Era,
    pub(crate) session: SessionKey,
    pub(crate) conduit: ConduitId,
    pub(crate) carrier: Carrier,
    /// The head of the HTTP request that carried it, or that it answers.
    pub(crate) head: Option<&'a AskedHttp>,
    pub(crate) what: What<'a>,
}

/// The kind of a message.
#[derive(Debug)]
pub(crate) enum What<'a> {
    /// A request.
    Request {
        method: &'a str,
        params: Option<&'a [u8]>,
    },
    /// A notification.
    Notification {
        method: &'a str,
        params: Option<&'a [u8]>,
    },
    /// A result, and its request.
    Result {
        asked: &'a PendingRequest,
        result: &'a [u8],
    },
    /// An error, and its request.
    Error {
        asked: &'a PendingRequest,
        code: Option<i64>,
        error: &'a [u8],
    },
}

/// A request, with the data that is needed for its answer.
#[derive(Clone, Debug)]
pub(crate) struct PendingRequest {
    pub(crate) seq: u64,
    pub(crate) conduit: ConduitId,
    pub(crate) method: String,
    pub(crate) era: Era,
}

impl<'a> Seen<'a> {
    /// The method of a request or notification.
    pub(crate) fn method(&self) -> Option<&'a str> {
        match self.what {
            What::Request { method, .. } | What::Notification { method, .. } => Some(method),
            _ => None,
        }
    }

    /// The parameters of a request or notification.
    pub(crate) fn params(&self) -> Option<&'a [u8]> {
        match self.what {
            What::Request { params, .. } | What::Notification { params, .. } => params,
            _ => None,
        }
    }

    /// The result of a request of this method.
    pub(crate) fn result_of(&self, wanted: &str) -> Option<&'a [u8]> {
        match self.what {
            What::Result { asked, result } if asked.method == wanted => Some(result),
            _ => None,
        }
    }

    /// The sender.
    pub(crate) fn side(&self) -> Side {
        match self.dir {
            Direction::ToServer => Side::Client,
            Direction::ToClient => Side::Server,
        }
    }
}

/// A part of an HTTP exchange.
#[derive(Clone, Debug)]
pub(crate) struct HttpSeen<'a> {
    pub(crate) seq: u64,
    pub(crate) dir: Direction,
    /// The recorded head of the request that it belongs to.
    pub(crate) asked: Option<&'a AskedHttp>,
}

/// The relevant parts of the head of an HTTP request.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedHttp {
    pub(crate) seq: u64,
    pub(crate) method: String,
    /// Scheme, host and port, if the target or `Host` has them.
    pub(crate) host: String,
    /// The path, without the query.
    pub(crate) path: String,
    pub(crate) fields: Fields,
}

/// Evidence for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The number of the event; 0 for a live request outside the recording.
    pub event: u64,
    /// A JSON pointer within its message, or the name of a header.
    pub pointer: String,
    /// The side that must change.
    pub side: Side,
    /// What is wrong there.
    pub what: String,
}

/// The evidence that a case has found so far.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) fails: Vec<Evidence>,
    pub(crate) more: u64,
    pub(crate) passes: Vec<Evidence>,
    /// The client is tapewright: what it does is not judged.
    pub(crate) client_is_ours: bool,
}

/// The maximum amount of evidence for one case.
const MOST: usize = 20;

impl Out {
    /// Reports a required change.
    pub(crate) fn fail(&mut self, side: Side, event: u64, pointer: &str, what: &str) {
        if side == Side::Client && self.client_is_ours {
            return;
        }
        if self.fails.len() >= MOST {
            self.more += 1;
            return;
        }
        self.fails.push(evidence(side, event, pointer, what));
    }

    /// Records a pass.
    pub(crate) fn pass(&mut self, side: Side, event: u64, pointer: &str, what: &str) {
        let counts = side != Side::Client || !self.client_is_ours;
        if counts && self.passes.len() < 3 {
            self.passes.push(evidence(side, event, pointer, what));
        }
    }
}

fn evidence(side: Side, event: u64, pointer: &str, what: &str) -> Evidence {
    Evidence {
        event,
        pointer: pointer.to_owned(),
        side,
        what: shown(what),
    }
}
