//! Bodies in transit: frame by frame, as they arrive.

mod ahead;
pub(crate) mod events;
mod gate;
mod source;
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

/// Why a body is cut off. Its reader sees a connection that ends in the middle, never a normal end.
pub type BodyError = Box<dyn Error + Send + Sync>;

/// A body that tapewright sends, to either side.
pub struct Outbound(Kind);

enum Kind {
    /// Bytes made by tapewright.
    Own(Option<Bytes>),
    /// The body from the other side, recorded while it passes.
    Passing(Box<Tapped>),
    /// Any other stream.
    Streaming(UnsyncBoxBody<Bytes, BodyError>),
}

impl fmt::Debug for Outbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Bodies contain secrets.
        out.debug_struct("Outbound").finish_non_exhaustive()
    }
}

impl Outbound {
    /// No body.
    #[must_use]
    pub fn empty() -> Self {
        Self(Kind::Own(None))
    }

    /// A complete body.
    #[must_use]
    pub fn whole(bytes: Bytes) -> Self {
        Self(Kind::Own(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    /// A body that is produced over time.
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
