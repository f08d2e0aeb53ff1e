//! Which side left first, and therefore why a request was never answered.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::open::{Marks, Open};
use crate::era::Era;
use crate::event::tokens::tokens;
use crate::event::{CloseReason, ConduitId, Direction, Event, EventBody, Scope};

/// Follows how each conduit ends.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    first: HashMap<ConduitId, Left, RandomState>,
}

/// Which side left a conduit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Client,
    Server,
}

/// The maximum number of conduits that are remembered.
const LIMIT: usize = 65_536;

impl Ends {
    /// Handles the next event.
    pub(crate) fn observe(&mut self, event: &Event) {
        let who = match &event.body {
            EventBody::Closed(reason) => who_left(event.dir, *reason),
            EventBody::Exited(_) => Left::Server,
            _ => return,
        };
        if self.first.len() < LIMIT {
            self.first.entry(event.conduit).or_insert(who);
        }
    }

    /// Why this request has no response.
    pub(crate) fn why(&self, open: &Open) -> NoAnswer {
        if open.marks.has(Marks::CANCELLED) {
            return NoAnswer::Cancelled;
        }
        if let Some((reason, status)) = open.over
            && let Some(why) = over(open.era, open.scope, reason, status)
        {
            return why;
        }
        self.of(open.conduit)
    }

    /// Why requests on a conduit have no response, as far as its end shows.
    pub(crate) fn of(&self, conduit: ConduitId) -> NoAnswer {
        match self.first.get(&conduit) {
            Some(Left::Server) => NoAnswer::PeerGone,
            Some(Left::Client) | None => NoAnswer::StillPending,
        }
    }
}

tokens! {
    /// Why a request was never answered.
    pub enum NoAnswer {
        /// Its sender gave it up.
        Cancelled = "cancelled",
        /// The client left.
        ClientGone = "client gone",
        /// Its HTTP exchange failed.
        Failed = "failed",
        /// Its HTTP exchange ended with an error status.
        HttpError = "http error",
        /// Its HTTP exchange ended without a response to it.
        NoResponse = "no response",
        /// The peer that should have answered left.
        PeerGone = "peer gone",
        /// The recording ended first, or it is unknown.
        StillPending = "still pending",
    }
}

/// Why the HTTP exchange that carried a request brought no response; `None` when the
/// response may still come on another one.
pub(crate) fn over(
    era: Option<Era>,
    scope: Scope,
    reason: CloseReason,
    status: u16,
) -> Option<NoAnswer> {
    Some(match reason {
        // Closing the stream is how the stateless era cancels (2026-07-28,
        // basic/transports).
        CloseReason::ReceiverGone if era == Some(Era::Stateless) => NoAnswer::Cancelled,
        CloseReason::ReceiverGone => NoAnswer::ClientGone,
        CloseReason::Aborted => NoAnswer::PeerGone,
        CloseReason::Failed | CloseReason::Policy => NoAnswer::Failed,
        CloseReason::Stopped => NoAnswer::StillPending,
        CloseReason::EndOfInput if status >= 400 => NoAnswer::HttpError,
        CloseReason::EndOfInput if scope.is_sessionless() => NoAnswer::NoResponse,
        CloseReason::EndOfInput => return None,
    })
}

fn who_left(dir: Direction, reason: CloseReason) -> Left {
    match (dir, reason) {
        (Direction::ToServer, CloseReason::EndOfInput)
        | (Direction::ToClient, CloseReason::ReceiverGone) => Left::Client,
        _ => Left::Server,
    }
}
