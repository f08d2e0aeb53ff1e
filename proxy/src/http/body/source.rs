//! A body as it arrives, or decoded.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::BodyError;
use crate::http::decode::{Decoder, SLICE};

/// The content of a body does not match its `Content-Encoding`, or is meant to exhaust its decoder.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body cannot be decoded")]
pub(super) struct BrokenContent;

/// A body from a peer, or its decoded content.
pub(super) struct Source {
    inner: Incoming,
    decoding: Option<Box<Decoding>>,
}

/// A decoder, and what it has not decoded yet.
struct Decoding {
    decoder: Decoder,
    rest: Bytes,
    // The body has ended, perhaps with trailer fields, which follow the rest.
    is_over: bool,
    trailers: Option<Frame<Bytes>>,
}

impl Source {
    pub(super) fn new(inner: Incoming, decoder: Option<Decoder>) -> Self {
        let decoding = decoder.map(|decoder| {
            Box::new(Decoding {
                decoder,
                rest: Bytes::new(),
                is_over: false,
                trailers: None,
            })
        });
        Self { inner, decoding }
    }
}

impl Decoding {
    /// Decodes a slice of the rest: the decoder limits the size of what it makes of one. At the end
    /// of the body, decodes what the decoder still holds.
    fn decode(&mut self) -> Result<Option<Frame<Bytes>>, BrokenContent> {
        let slice = self.rest.split_to(self.rest.len().min(SLICE));
        let plain = self.decoder.push(&slice);
        if self.decoder.lost().is_some() {
            return Err(BrokenContent);
        }
        Ok(Some(plain).filter(|it| !it.is_empty()).map(Frame::data))
    }

    fn take(&mut self, next: Option<Frame<Bytes>>) {
        match next.map(Frame::into_data) {
            Some(Ok(data)) => self.rest = data,
            Some(Err(trailers)) => {
                self.is_over = true;
                self.trailers = Some(trailers);
            }
            None => self.is_over = true,
        }
    }
}

impl Body for Source {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { inner, decoding } = &mut *self;
        let Some(decoding) = decoding else {
            return Pin::new(inner).poll_frame(context).map_err(Into::into);
        };
        loop {
            if decoding.rest.is_empty() {
                if decoding.is_over {
                    return Poll::Ready(decoding.trailers.take().map(Ok));
                }
                let next = ready!(Pin::new(&mut *inner).poll_frame(context)).transpose();
                decoding.take(next?);
            }
            if let Some(frame) = decoding.decode()? {
                return Poll::Ready(Some(Ok(frame)));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.decoding {
            None => self.inner.is_end_stream(),
            Some(it) => it.is_over && it.rest.is_empty() && it.trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.decoding {
            None => self.inner.size_hint(),
            Some(_) => SizeHint::default(),
        }
    }
}
