//! The progress of a session: the handshake.

use super::Moment;
use crate::method::Method;

/// The handshake of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    /// The client's first request of the handshake era, except for pings.
    pub(crate) first: Option<(u64, Method)>,
    /// Whether the client sent any message with a method.
    pub(crate) spoke: bool,
    /// The first `initialize`.
    pub(crate) asked: Option<Moment>,
    /// The first response to an `initialize`, and whether it was a result.
    pub(crate) answered: Option<(Moment, bool)>,
    /// The first `initialize` that was answered with a result.
    pub(crate) agreed: Option<Moment>,
    /// The first `notifications/initialized`.
    pub(crate) initialized: Option<Moment>,
    /// The first request that came although the handshake was not complete.
    pub(crate) hasty: Option<u64>,
}

impl Lifecycle {
    /// Whether the client has opened the session, and has completed the handshake or skipped it.
    pub(crate) fn is_settled(&self) -> bool {
        self.first.is_some() && (self.initialized.is_some() || self.hasty.is_some())
    }

    /// Whether an `initialize` is pending.
    pub(crate) fn is_waiting(&self) -> bool {
        self.asked.is_some() && self.answered.is_none()
    }
}
