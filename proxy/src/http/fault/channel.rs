//! Bodies made by a separate task, and bodies that are first read whole.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use tokio::sync::mpsc;

use crate::http::body::{BodyError, Outbound};
use crate::http::gateway::Gateway;
use crate::http::listen::Phase;

pub(super) type Sender = mpsc::Sender<Result<Frame<Bytes>, BodyError>>;

/// A body whose frames come from a [`Sender`].
pub(super) struct Channel(mpsc::Receiver<Result<Frame<Bytes>, BodyError>>);

impl Channel {
    /// A body made by a task, until the client leaves or the gateway stops.
    pub(super) fn of<F>(gateway: &Arc<Gateway>, task: impl FnOnce(Sender) -> F) -> Self
    where
        F: Future<Output = Option<()>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(1);
        let listening = sender.clone();
        let body = task(sender);
        let mut phase = gateway.phase.clone();
        gateway.tasks.spawn(async move {
            tokio::select! {
                _ = body => {}
                () = listening.closed() => {}
                _ = phase.wait_for(|phase| *phase == Phase::Stopping) => {}
            }
        });
        Self(receiver)
    }
}

impl Body for Channel {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0.poll_recv(context)
    }
}

/// A body, as far as it could be held.
pub(super) enum Collected {
    /// The whole body.
    Whole(Bytes),
    /// Its beginning, and the rest, if it exceeds the limit.
    Long(Bytes, Outbound),
    /// Its beginning, after which it was cut off.
    Broken(Bytes, BodyError),
}

/// Reads a whole body, within limits.
pub(super) async fn collect(mut body: Outbound, limit_bytes: usize) -> Collected {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                // Trailers of a held response are lost; they are on the tape.
                if let Ok(data) = frame.into_data() {
                    whole.extend_from_slice(&data);
                }
            }
            Err(error) => return Collected::Broken(whole.freeze(), error),
        }
        if whole.len() > limit_bytes {
            return Collected::Long(whole.freeze(), body);
        }
    }
    Collected::Whole(whole.freeze())
}

impl Collected {
    /// The body again.
    pub(super) fn into_body(self, gateway: &Arc<Gateway>) -> Outbound {
        let (begin, rest) = match self {
            Self::Whole(whole) => return Outbound::whole(whole),
            Self::Long(begin, rest) => (begin, Ok(rest)),
            Self::Broken(begin, error) => (begin, Err(error)),
        };
        Outbound::streaming(Channel::of(gateway, |sender| async move {
            sender.send(Ok(Frame::data(begin))).await.ok()?;
            let mut rest = match rest {
                Ok(rest) => rest,
                Err(error) => return sender.send(Err(error)).await.ok(),
            };
            while let Some(frame) = rest.frame().await {
                sender.send(frame).await.ok()?;
            }
            Some(())
        }))
    }
}
