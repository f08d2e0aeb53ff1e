//! Event streams that are forwarded unexamined until a fault is active.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::Scene;
use super::channel::Channel;
use super::cutter::Tail;
use super::wedges::Silenced;
use crate::http::body::{BodyError, Outbound};
use crate::http::gateway::GatewayExchange;

/// An event stream. From the first piece that arrives while a fault is active, its events are
/// examined one by one.
pub(super) struct Watched(State);

enum State {
    Calm {
        body: Outbound,
        tail: Tail,
        scene: Box<Scene>,
        exchange: Arc<GatewayExchange>,
        silenced: Silenced,
    },
    Stirred(Channel),
    Over,
}

impl Watched {
    pub(super) fn new(body: Outbound, scene: Scene, exchange: Arc<GatewayExchange>) -> Self {
        Self(State::Calm {
            body,
            tail: Tail::default(),
            scene: Box::new(scene),
            exchange,
            // First check whether its session is already silent.
            silenced: Box::pin(std::future::ready(())),
        })
    }

    /// Lets faults act from this piece on.
    fn stir(&mut self, first: Bytes) {
        let state = std::mem::replace(&mut self.0, State::Over);
        if let State::Calm {
            body,
            tail,
            scene,
            exchange,
            ..
        } = state
        {
            let amid = !tail.is_between();
            self.0 = State::Stirred(scene.stream(exchange, amid, first, body));
        }
    }
}

/// Whether the session has fallen silent.
fn is_silenced(scene: &Scene, silenced: &mut Silenced, context: &mut Context<'_>) -> bool {
    while silenced.as_mut().poll(context).is_ready() {
        *silenced = scene.gateway.wedges.silenced();
        if scene.is_silent() {
            return true;
        }
    }
    false
}

impl Body for Watched {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let is_silenced = match &mut self.0 {
            State::Calm {
                scene, silenced, ..
            } => is_silenced(scene, silenced, context),
            _ => false,
        };
        let first = match &mut self.0 {
            State::Stirred(channel) => return Pin::new(channel).poll_frame(context),
            State::Over => return Poll::Ready(None),
            State::Calm { .. } if is_silenced => Bytes::new(),
            State::Calm {
                body, tail, scene, ..
            } => {
                let frame = ready!(Pin::new(body).poll_frame(context));
                let data = match frame {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => data,
                        Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                    },
                    other => return Poll::Ready(other),
                };
                if scene.is_calm() {
                    tail.push(&data);
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                data
            }
        };
        self.stir(first);
        self.poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            State::Calm { body, .. } => body.is_end_stream(),
            State::Stirred(_) => false,
            State::Over => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        // A fault may change the length.
        SizeHint::default()
    }
}
