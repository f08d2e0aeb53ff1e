//! Forwards a link under a policy, without naming the policy's type everywhere.

use std::sync::Arc;
use tapewright_engine::policy::Policy;

use crate::stdio::session::{Ends, Mailbox, Outcome, SessionError, carry};
use crate::upstream::Link;

/// Forwards one link to its end. Blocks.
pub(crate) type Carry =
    Arc<dyn Fn(Link, Ends, Mailbox<'_>) -> Result<Outcome, SessionError> + Send + Sync>;

/// Forwards links under a policy, with a clone of it for each.
pub(crate) fn with<P: Policy + Clone + Sync + 'static>(policy: P) -> Carry {
    Arc::new(move |link, ends, mailbox| carry(link, ends, &policy, mailbox))
}
