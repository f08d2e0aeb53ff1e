//! Bodies that come as a fault wants them to.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use tapewright_engine::fault::{Move, after};
use tapewright_engine::policy::{Hold, Step};
use tokio::sync::mpsc;

use super::hold::{DUE, Held, wait};
use super::{Aimed, CutOff, Scene};
use crate::http::body::{BodyError, Outbound};
use crate::http::gateway::Gateway;
use crate::http::listen::Phase;

/// A body, as far as it could be held.
pub(crate) enum Collected {
    /// All of it.
    Whole(Bytes),
    /// Its beginning, and the rest: it is longer than what is held.
    Long(Bytes, Outbound),
    /// Its beginning; then it broke off.
    Broken(Bytes, BodyError),
}

/// Reads a body to its end, within limits.
pub(crate) async fn collect(mut body: Outbound, limit_bytes: usize) -> Collected {
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
    pub(crate) fn into_body(self, gateway: &Arc<Gateway>) -> Outbound {
        let (begin, rest) = match self {
            Self::Whole(whole) => return Outbound::whole(whole),
            Self::Long(begin, rest) => (begin, Ok(rest)),
            Self::Broken(begin, error) => (begin, Err(error)),
        };
        let (sender, body) = channel();
        gateway.tasks.spawn(async move {
            if sender.send(Ok(Frame::data(begin))).await.is_err() {
                return;
            }
            let mut rest = match rest {
                Ok(rest) => rest,
                Err(error) => return drop(sender.send(Err(error)).await),
            };
            while let Some(frame) = rest.frame().await {
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
        });
        Outbound::streaming(body)
    }
}

/// Plays moves as a body.
pub(crate) struct Player {
    scene: Scene,
    aimed: Aimed,
}

impl Player {
    pub(super) fn new(scene: Scene, aimed: Aimed) -> Self {
        Self { scene, aimed }
    }

    /// The body; it is played on a task of its own, until the client leaves.
    pub(crate) fn start(self, moves: Vec<Move>) -> Outbound {
        let (sender, body) = channel();
        let gateway = Arc::clone(&self.scene.gateway);
        gateway.tasks.clone().spawn(async move {
            let mut phase = gateway.phase.clone();
            tokio::select! {
                _ = self.play(moves, &sender) => {}
                () = sender.closed() => {}
                _ = phase.wait_for(|phase| *phase == Phase::Stopping) => {}
            }
        });
        Outbound::streaming(body)
    }

    /// Plays moves; none when nobody listens any more, or the connection is cut.
    pub(crate) async fn play(&self, moves: Vec<Move>, sender: &Sender) -> Option<()> {
        let gateway = &self.scene.gateway;
        let (book, clock, hit) = (&gateway.faults, gateway.clock, &self.aimed.hit);
        let mut at = clock.now();
        for one in moves {
            match one {
                Move::Hold => {
                    let held = Held::new(book, hit, None, Hold::Lasting, DUE);
                    if let Some(held) = held {
                        let leaving = self.scene.leaving(&self.aimed);
                        leaving.over(wait(gateway, held.ticket(), None).await);
                    }
                }
                Move::Step(Step::Wait { time, .. }) => {
                    // What one wait was late is not added to the next.
                    at = after(at, time);
                    let held = Held::new(book, hit, Some(at), Hold::Passing, DUE);
                    if let Some(held) = held {
                        wait(gateway, held.ticket(), Some(at)).await;
                    }
                }
                Move::Step(Step::Send(bytes)) => {
                    if !bytes.is_empty() {
                        sender.send(Ok(Frame::data(bytes))).await.ok()?;
                    }
                }
                Move::Step(Step::Cut) => {
                    drop(sender.send(Err(Box::new(CutOff))).await);
                    return None;
                }
                Move::Step(Step::Aside(_) | Step::Hold(_) | Step::Stall(_)) => {}
            }
        }
        Some(())
    }
}

pub(crate) type Sender = mpsc::Sender<Result<Frame<Bytes>, BodyError>>;

/// A body whose frames come from a [`Sender`].
pub(crate) struct Channel(mpsc::Receiver<Result<Frame<Bytes>, BodyError>>);

/// A body, and where its frames come from.
pub(crate) fn channel() -> (Sender, Channel) {
    let (sender, receiver) = mpsc::channel(1);
    (sender, Channel(receiver))
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
