//! Carrying a link with a policy, without naming the policy's type everywhere.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use tapewright_engine::policy::Policy;

use crate::clock::Clock;
use crate::record::Recorder;
use crate::stdio::session::{Ends, Notice, Outcome, SessionError, carry};
use crate::upstream::Link;

/// Carries one link to its end. Blocks.
pub(crate) type Carry = Arc<
    dyn Fn(Link, Ends, (SyncSender<Notice>, &Receiver<Notice>)) -> Result<Outcome, SessionError>
        + Send
        + Sync,
>;

/// Carries links under a policy, each of which gets a clone of it.
pub(crate) fn with<P: Policy + Clone + Sync + 'static>(
    policy: P,
    recorder: Arc<Recorder>,
    clock: Clock,
) -> Carry {
    Arc::new(move |link, ends, notices| carry(link, ends, &policy, &recorder, clock, notices))
}
