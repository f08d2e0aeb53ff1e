//! Faults on requests and notifications of clients: the server gets them late, or never.

use bytes::Bytes;
use http::{Response, header};
use tapewright_engine::fault::Carried;

use super::Scene;
use super::channel::collect;
use super::stage::Stage;
use crate::http::body::Outbound;
use crate::http::gateway::GatewayExchange;

impl Scene {
    /// Acts on the body of a request when it is complete, however long that takes; returns what is
    /// sent to the server, if anything. A dropped request waits until its client gives up.
    pub(crate) async fn forward(
        &self,
        exchange: &GatewayExchange,
        body: Outbound,
    ) -> Option<Outbound> {
        let body = collect(body, self.log.limit_bytes()).await;
        if let Some(mut aimed) = exchange.aimed_at_request() {
            aimed.message = self.log.last_message(self.dir);
            let mut stage = Stage::new(self.clone());
            // If it is sent at all, it is unchanged: only the time matters.
            let carried = Carried::body(&Bytes::new());
            if !stage.meet(self.now(), &aimed, &carried) {
                if aimed.is_awaited {
                    stage.never(&aimed).await;
                }
                return None;
            }
            stage.settle().await;
        }
        Some(body.into_body(&self.gateway))
    }
}

/// The client's response for a notification that is withheld from the server: 202 without a body
/// (2025-11-25, basic/transports, sending messages to the server).
pub(crate) fn accepted(mut response: Response<Outbound>) -> Response<Outbound> {
    response.headers_mut().remove(header::CONTENT_TYPE);
    *response.body_mut() = Outbound::empty();
    response
}
