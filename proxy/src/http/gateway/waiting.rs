//! An exchange whose response is waited for.

use std::sync::Arc;

use tapewright_schemas::event::{CloseReason, Direction, EventBody};

use super::observe::GatewayExchange;
use crate::http::metrics::InFlight;
use crate::http::sessions::SESSIONLESS;

/// Notices that the client left before there was a response: then the server is left, too,
/// because the future that waits for it is dropped.
pub(super) struct Waiting(pub(super) Option<(Arc<GatewayExchange>, InFlight)>);

impl Waiting {
    /// There is a response.
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
