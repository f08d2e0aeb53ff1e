//! What a session remembers of its HTTP exchanges.

use crate::revision::Revisions;

/// What a session remembers of its HTTP exchanges.
#[derive(Debug, Default)]
pub(crate) struct HttpSession {
    /// What the version header says, where there was no handshake.
    pub(crate) revisions: Option<Revisions>,
}
