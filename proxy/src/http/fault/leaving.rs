//! What becomes of a response that is held: it is passed on, or the client leaves first.

use std::sync::Arc;

use tapewright_schemas::event::{Direction, Effect, EventBody, Offset};
use tokio::sync::watch;

use super::{Aimed, named};
use crate::clock::Clock;
use crate::http::gateway::Gateway;
use crate::http::listen::Phase;
use crate::http::tap::Log;

/// Notes, when it is dropped, that the client left while its response was held, unless
/// told otherwise.
pub(super) struct Leaving {
    log: Arc<Log>,
    clock: Clock,
    phase: watch::Receiver<Phase>,
    fault: Option<String>,
    // Behind the time, where several requests may be meant: which one it is.
    of: String,
    since: Offset,
    settled: bool,
}

impl Leaving {
    pub(super) fn new(log: &Arc<Log>, gateway: &Gateway, aimed: Option<&Aimed>) -> Self {
        let clock = gateway.clock;
        let id = aimed.map(|aimed| aimed.id.as_slice());
        let of = match id.filter(|id| *id != b"null") {
            Some(id) => format!(", id {}", String::from_utf8_lossy(id)),
            None => String::new(),
        };
        Self {
            log: Arc::clone(log),
            since: clock.now(),
            clock,
            phase: gateway.phase.clone(),
            fault: aimed.map(named),
            of,
            settled: false,
        }
    }

    /// The response is passed on.
    pub(super) fn passed(mut self) {
        self.settled = true;
        self.note(Effect::PASSED_ON);
    }

    /// The response was passed on when it was due: nothing more is to be told.
    pub(super) fn in_time(mut self) {
        self.settled = true;
    }

    /// The connection is cut, which leaves the client without a response.
    pub(super) fn cut(mut self) {
        self.settled = true;
        self.note("the connection is cut after ");
    }

    fn note(&self, begin: &str) {
        let waited = self.clock.now().since(self.since).0 / 1_000;
        let of = if begin == Effect::PASSED_ON {
            self.of.as_str()
        } else {
            ""
        };
        let what = format!("{begin}{waited} ms{of}");
        let fault = self.fault.as_deref();
        let effect = Effect { fault, what: &what }.to_string();
        self.log
            .note(Direction::ToClient, EventBody::Faulted { effect });
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let ours = *self.phase.borrow() == Phase::Stopping;
        self.note(if ours {
            "never passed on: the recorder ended after "
        } else {
            Effect::LEFT
        });
    }
}
