//! Connections that end without a proper end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};
use tokio::time::{Sleep, sleep};

use crate::http::body::{BodyError, Outbound};

/// Tells a connection to end without the response that carries this.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault cut the connection")]
pub(crate) struct CutOff;

/// How long what was sent has to leave us before the connection is cut.
pub(super) const LEAVE: Duration = Duration::from_millis(20);

/// No response at all: the connection ends.
pub(crate) fn cut_off() -> Response<Outbound> {
    let mut response = Response::new(Outbound::empty());
    response.extensions_mut().insert(CutOff);
    response
}

/// A body of a few bytes, behind which the connection is cut.
pub(crate) struct CutBehind {
    part: Bytes,
    leaves: Option<Pin<Box<Sleep>>>,
}

impl CutBehind {
    pub(crate) fn new(part: Bytes) -> Self {
        Self { part, leaves: None }
    }
}

impl Body for CutBehind {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        let leaves = self.leaves.get_or_insert_with(|| Box::pin(sleep(LEAVE)));
        ready!(leaves.as_mut().poll(context));
        Poll::Ready(Some(Err(Box::new(CutOff))))
    }
}
