//! What becomes of a response that is held: it is passed on, or the client leaves first.

use std::sync::Arc;

use tapewright_engine::policy::Hold;
use tapewright_schemas::event::{
    Direction, Effect, EventBody, FaultRef, MessageNumber, Offset, Release, What,
};
use tokio::sync::watch;

use super::{Aimed, Scene};
use crate::clock::Clock;
use crate::http::listen::Phase;
use crate::http::tap::Log;

/// Notes, when it is dropped, that the client left while its response was held, unless
/// told otherwise.
pub(super) struct Leaving {
    log: Arc<Log>,
    clock: Clock,
    phase: watch::Receiver<Phase>,
    dir: Direction,
    fault: Option<FaultRef>,
    message: Option<MessageNumber>,
    since: Offset,
    settled: bool,
}

impl Leaving {
    pub(super) fn new(
        scene: &Scene,
        aimed: Option<&Aimed>,
        message: Option<MessageNumber>,
    ) -> Self {
        let (log, gateway) = (&scene.log, &scene.gateway);
        let clock = gateway.clock;
        Self {
            log: Arc::clone(log),
            since: clock.now(),
            clock,
            phase: gateway.phase.clone(),
            dir: scene.dir,
            fault: aimed.map(|aimed| aimed.hit.named()),
            message,
            settled: false,
        }
    }

    /// The response is passed on.
    pub(super) fn over(mut self, over: Hold) {
        self.settled = true;
        let why = match over {
            Hold::Over(why) => why,
            Hold::Cut | Hold::Lasting | Hold::Passing => Release::Unknown,
        };
        let ends = *self.phase.borrow() != Phase::Serving;
        let why = if ends { Release::End } else { why };
        self.note(|after| What::Released {
            after,
            why,
            all: false,
        });
    }

    /// The response was passed on when it was due: nothing more is to be told.
    pub(super) fn in_time(mut self) {
        self.settled = true;
    }

    /// The connection is cut, which leaves the client without a response.
    pub(super) fn cut(mut self) {
        self.settled = true;
        self.note(|after| What::CutOff { after });
    }

    fn note(&self, what: impl FnOnce(Offset) -> What) {
        let what = what(self.clock.now().since(self.since));
        let fault = self.fault.clone();
        let faulted = Effect { fault, what }.about(self.message);
        self.log.note(self.dir, EventBody::Faulted(faulted));
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let ours = *self.phase.borrow() == Phase::Stopping;
        self.note(|after| {
            if ours {
                What::RecorderEnded { after }
            } else {
                What::Left { after }
            }
        });
    }
}
