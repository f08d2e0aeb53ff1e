//! HTTP exchanges, as rules see them.

pub(crate) mod conduit;
pub(crate) mod session;

use tapewright_schemas::event::SseNote;

use self::conduit::Conduit;
use self::session::SessionIds;
use crate::message::Message;
use crate::revision::Revisions;
use crate::session::{Moment, Session};

/// One HTTP exchange at the time of its check by a rule.
pub(crate) struct HttpCase<'a> {
    pub(crate) moment: Moment,
    pub(crate) conduit: &'a Conduit,
    pub(crate) session: &'a Session,
    /// Data from outside this session.
    pub(crate) world: &'a SessionIds,
    /// The message of the request, if it is the first one.
    pub(crate) message: Option<&'a Message<'a>>,
    /// The event of a stream.
    pub(crate) note: Option<&'a SseNote>,
    /// The revisions that the exchange may be of.
    pub(crate) revisions: Revisions,
}
