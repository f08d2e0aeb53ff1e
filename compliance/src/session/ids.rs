//! The requests of one direction of a session.

use tapewright_schemas::conversation::{Handle, OldestFirst};

use super::pending_request::PendingRequest;

/// The requests of one direction of a session that await their response.
///
/// The session's [`MessagePairs`] match answers with requests.
///
/// [`MessagePairs`]: tapewright_schemas::conversation::MessagePairs
#[derive(Debug, Default)]
pub(crate) struct Requests {
    in_flight: OldestFirst<PendingRequest>,
    /// Whether there was any request.
    any: bool,
    /// A request was cancelled while it was in flight.
    pub(crate) any_cancelled: bool,
}

impl Requests {
    /// A request that awaits its response.
    pub(crate) fn get(&self, handle: Handle) -> Option<&PendingRequest> {
        self.in_flight.get(handle)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut PendingRequest> {
        self.in_flight.get_mut(handle)
    }

    /// A request is cancelled.
    pub(crate) fn cancel(&mut self, handle: Handle) -> Option<&mut PendingRequest> {
        let asked = self.in_flight.get_mut(handle)?;
        self.any_cancelled = true;
        Some(asked)
    }

    /// Takes a request out of flight.
    pub(crate) fn take(&mut self, handle: Handle) -> Option<PendingRequest> {
        self.in_flight.remove(handle)
    }

    /// Puts a request in flight.
    pub(crate) fn insert(&mut self, handle: Handle, asked: PendingRequest) {
        self.any = true;
        self.in_flight.insert(handle, asked);
    }

    /// The requests in flight, in order.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &PendingRequest> {
        self.in_flight.iter().map(|(_, asked)| asked)
    }

    /// The number of requests in flight.
    pub(crate) fn in_flight_count(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether there was any request.
    pub(crate) fn has_any(&self) -> bool {
        self.any
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }
}
