//! An exchange that waits for its response.

use std::sync::Arc;

use tapewright_schemas::event::{CloseReason, Direction, EventBody};

use super::observe::GatewayExchange;
use crate::http::metrics::InFlight;
use crate::http::sessions::SESSIONLESS;

/// Detects that the client left before there was a response: the future that waits for the response
/// is dropped, which also ends the request to the server.
pub(super) struct Waiting(pub(super) Option<(Arc<GatewayExchange>, InFlight)>);

impl Waiting {
    /// Ends the wait, since there is a response.
    pub(super) fn over(mut self) -> InFlight {
        self.0
            .take()
            .map_or_else(InFlight::default, |(_, in_flight)| in_flight)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((exchange, in_flight)) = self.0.take() {
            exchange.settle(SESSIONLESS);
            let reason = exchange.gateway.left(CloseReason::ReceiverGone);
            let closed = EventBody::Closed(reason);
            exchange.log.note(Direction::ToClient, closed);
            in_flight.end();
        }
    }
}
