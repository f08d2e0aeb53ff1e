//! Faults on requests and notifications of clients: the server gets them later, or never.

use http::{Response, header};
use tapewright_engine::fault::Act;
use tapewright_schemas::event::What;

use super::play::collect;
use super::{Aimed, Scene};
use crate::http::body::Outbound;
use crate::http::gateway::Exchange;

impl Scene {
    /// Acts on the body of a request when it is whole, for as long as that takes; what goes
    /// on to the server, if anything does.
    pub(crate) async fn forward(&self, exchange: &Exchange, body: Outbound) -> Option<Outbound> {
        let body = collect(body, self.log.limit_bytes()).await;
        if let Some(mut aimed) = exchange.aimed_at_request() {
            aimed.message = self.log.last_message(self.dir);
            if !self.lets_pass(&aimed).await {
                return None;
            }
        }
        Some(body.into_body(&self.gateway))
    }

    /// Whether a request goes on, once it is known. A dropped one that asks for an answer
    /// waits for none until its client gives up.
    async fn lets_pass(&self, aimed: &Aimed) -> bool {
        match aimed.act(b"") {
            Act::Delay { time, .. } => self.delay(aimed, time).await,
            Act::Hold(_) => {
                if let Some(held) = self.held(aimed) {
                    self.hold(held).await;
                }
            }
            Act::Drop => {
                self.tell(aimed, What::Dropped { too_many: false });
                if aimed.is_awaited {
                    let _leaving = self.leaving(aimed);
                    std::future::pending::<()>().await;
                }
                return false;
            }
            _ => {}
        }
        true
    }
}

/// What a client gets for a notification that its server does not: 202 without a body
/// (2025-11-25, basic/transports, sending messages to the server).
pub(crate) fn accepted(mut response: Response<Outbound>) -> Response<Outbound> {
    response.headers_mut().remove(header::CONTENT_TYPE);
    *response.body_mut() = Outbound::empty();
    response
}
