//! HTTP exchanges, as rules see them.

pub(crate) mod conduit;
pub(crate) mod session;

use tapewright_schemas::event::Event;

use self::conduit::Conduit;
use crate::revision::Revisions;
use crate::session::Session;

/// One HTTP exchange at the moment when a rule looks at it.
pub(crate) struct HttpCase<'a> {
    pub(crate) event: &'a Event,
    pub(crate) conduit: &'a Conduit,
    pub(crate) session: &'a Session,
    /// The revisions that the exchange may be of.
    pub(crate) revisions: Revisions,
}
