//! Connections that end abnormally.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};

use crate::http::body::{BodyError, Outbound};

/// An extension that makes a connection end without the response that carries it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault cut the connection")]
pub(crate) struct CutOff;

/// No response at all: the connection ends.
pub(crate) fn cut_off() -> Response<Outbound> {
    let mut response = Response::new(Outbound::empty());
    response.extensions_mut().insert(CutOff);
    response
}

/// A body of a few bytes, after which the connection is cut.
pub(crate) struct CutBehind {
    part: Bytes,
}

impl CutBehind {
    pub(crate) fn new(part: Bytes) -> Self {
        Self { part }
    }
}

impl Body for CutBehind {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        Poll::Ready(Some(Err(Box::new(CutOff))))
    }
}
