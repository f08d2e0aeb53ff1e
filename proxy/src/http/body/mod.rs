//! Bodies on their way: frame by frame, as they come.

mod ahead;
pub(crate) mod events;
mod gate;
mod stall;
mod tapped;

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;

pub(crate) use self::gate::Gate;
pub(crate) use self::stall::Stalled;
pub(crate) use self::tapped::Tapped;

/// Why a body breaks off. Its reader sees a connection that ends in the
/// middle, never by a proper end.
pub type BodyError = Box<dyn Error + Send + Sync>;

/// A body that we send, to either side.
pub struct Outbound(Kind);

enum Kind {
    /// Bytes of our own.
    Own(Option<Bytes>),
    /// What the other side sends, recorded as it passes.
    Passing(Box<Tapped>),
    /// Whatever else streams.
    Streaming(UnsyncBoxBody<Bytes, BodyError>),
}

impl fmt::Debug for Outbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Bodies hold secrets.
        out.debug_struct("Outbound").finish_non_exhaustive()
    }
}

impl Outbound {
    /// No body.
    #[must_use]
    pub fn empty() -> Self {
        Self(Kind::Own(None))
    }

    /// A body that is there already.
    #[must_use]
    pub fn whole(bytes: Bytes) -> Self {
        Self(Kind::Own(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    /// A body that comes by and by.
    #[must_use]
    pub fn streaming<B>(body: B) -> Self
    where
        B: Body<Data = Bytes, Error = BodyError> + Send + 'static,
    {
        Self(Kind::Streaming(UnsyncBoxBody::new(body)))
    }

    pub(crate) fn passing(body: Box<Tapped>) -> Self {
        Self(Kind::Passing(body))
    }
}

impl Body for Outbound {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.0 {
            Kind::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Passing(body) => Pin::new(body.as_mut()).poll_frame(context),
            Kind::Streaming(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Own(bytes) => bytes.is_none(),
            Kind::Passing(body) => body.is_end_stream(),
            Kind::Streaming(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Own(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Passing(body) => body.size_hint(),
            Kind::Streaming(body) => body.size_hint(),
        }
    }
}
