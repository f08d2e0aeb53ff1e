//! An event stream with active faults: each event is forwarded, or a fault acts on it.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use tapewright_engine::SseEvent;
use tapewright_engine::fault::Act;
use tapewright_schemas::event::{Effect, MessageNumber, Unable, What};

use super::aim::message_event;
use super::channel::{Channel, Sender};
use super::cutter::{Cutter, Piece};
use super::stage::Stage;
use super::{MatchedFault, Scene};
use crate::http::body::Outbound;
use crate::http::gateway::GatewayExchange;
use crate::http::listen::Phase;

impl Scene {
    /// Whether no fault is active.
    pub(super) fn is_calm(&self) -> bool {
        self.fault_set().is_idle()
    }

    /// The client's version of an event stream, starting with the piece `first`; a separate task
    /// produces it until the client leaves.
    pub(super) fn stream(
        self,
        exchange: Arc<GatewayExchange>,
        amid: bool,
        first: Bytes,
        body: Outbound,
    ) -> Channel {
        let gateway = Arc::clone(&self.gateway);
        Channel::of(&gateway, |out| {
            let stream = Stream {
                stage: Stage::new(self),
                exchange,
                cutter: Cutter::new(amid),
                out,
            };
            stream.run(first, body)
        })
    }

    /// Reads a stream to its end, so that it is recorded, as long as the gateway runs. The client
    /// has got a replacement, whose effect is recorded after the answer.
    pub(super) fn drain(self, mut aimed: MatchedFault, what: What, mut body: Outbound) {
        let gateway = Arc::clone(&self.gateway);
        let mut phase = gateway.phase.clone();
        gateway.tasks.spawn(async move {
            let mut told = false;
            let read = async {
                let mut cutter = Cutter::new(false);
                while let Some(Ok(frame)) = body.frame().await {
                    let Some(data) = frame.into_data().ok().filter(|_| !told) else {
                        continue;
                    };
                    cutter.push(&data);
                    let pieces = numbered(&mut cutter, self.log.last_message(self.dir));
                    let answer = pieces.iter().find(|one| match &one.piece {
                        Piece::Event(event) => aimed.is_answered_by(event),
                        Piece::Rest(_) => false,
                    });
                    if let Some(answer) = answer {
                        aimed.message = answer.number;
                    }
                    if answer.is_some() || cutter.held_bytes() > self.log.limit_bytes() {
                        told = true;
                        self.tell(&aimed, what.clone());
                    }
                }
            };
            tokio::select! {
                () = read => {}
                _ = phase.wait_for(|phase| *phase != Phase::Serving) => {}
            }
            // The answer may never come: record the effect anyway.
            if !told {
                self.tell(&aimed, what.clone());
            }
        });
    }
}

/// One stream, and what is held of it.
struct Stream {
    stage: Stage,
    exchange: Arc<GatewayExchange>,
    cutter: Cutter,
    out: Sender,
}

impl Stream {
    /// Forwards the stream. Returns `None` if the receiver is gone, or it was cut.
    async fn run(mut self, first: Bytes, mut body: Outbound) -> Option<()> {
        let gateway = Arc::clone(&self.stage.scene.gateway);
        let mut silenced = gateway.wedges.silenced();
        self.data(&first);
        self.stage.fall_silent();
        let mut open = true;
        loop {
            self.stage.flush(&self.out).await?;
            if !open && self.stage.holds_nothing() {
                return Some(());
            }
            tokio::select! {
                () = &mut silenced => {
                    silenced = gateway.wedges.silenced();
                    self.stage.fall_silent();
                }
                () = self.stage.pause(), if !self.stage.holds_nothing() => {}
                frame = body.frame(), if open && !self.stage.is_stalled() => match frame {
                    // Trailers of a stream with active faults are lost; they are on the tape.
                    Some(Ok(frame)) => {
                        if let Ok(data) = frame.into_data() {
                            self.data(&data);
                        }
                    }
                    Some(Err(error)) => {
                        self.end();
                        self.stage.flush(&self.out).await?;
                        self.out.send(Err(error)).await.ok()?;
                        return None;
                    }
                    None => {
                        open = false;
                        self.end();
                    }
                },
            }
        }
    }

    fn data(&mut self, data: &[u8]) {
        let (log, dir) = (Arc::clone(&self.stage.scene.log), self.stage.scene.dir);
        self.cutter.push(data);
        let last = log.last_message(dir);
        for Numbered {
            piece,
            fields,
            number,
        } in numbered(&mut self.cutter, last)
        {
            match (piece, fields) {
                (Piece::Event(event), Some(fields)) => self.event(event, &fields, number),
                (Piece::Event(rest) | Piece::Rest(rest), _) => self.stage.pass(None, rest),
            }
        }
        if self.cutter.held_bytes() > log.limit_bytes() {
            let why = Unable::TooLong;
            let effect = Effect::plain(What::NotDone { why });
            self.stage.scene.note(effect, None);
            self.end();
        }
    }

    /// Forwards one event, or lets a fault act on it.
    fn event(&mut self, event: Bytes, fields: &SseEvent, number: Option<MessageNumber>) {
        let scene = &self.stage.scene;
        let calm = scene.is_calm();
        let met = || scene.met(&self.exchange, &event, fields, number);
        match (!calm).then(met).flatten() {
            None => self.stage.pass(number, event),
            Some((aimed, _)) if matches!(aimed.act(), Act::Status { .. }) => {
                scene.not_done(&aimed, Unable::HasBegun);
                self.stage.pass(number, event);
            }
            Some((aimed, carried)) => {
                // Relative to its arrival: of a thousand events in one piece, the last must not
                // wait for longer than the first.
                let came = scene.log.came();
                self.stage.meet(came, &aimed, &carried);
            }
        }
    }

    /// Ends the current event.
    fn end(&mut self) {
        let rest = self.cutter.give_up();
        self.stage.pass(None, rest);
    }
}

/// A piece of a stream; for a message also its fields and number.
struct Numbered {
    piece: Piece,
    fields: Option<SseEvent>,
    number: Option<MessageNumber>,
}

/// The complete pieces so far. The last message among them is the last one on the tape: the tape
/// splits the stream in the same way, and reading pauses meanwhile.
fn numbered(cutter: &mut Cutter, last: Option<MessageNumber>) -> Vec<Numbered> {
    let pieces = std::iter::from_fn(|| cutter.next());
    let mut all: Vec<Numbered> = pieces
        .map(|piece| {
            let fields = match &piece {
                Piece::Event(event) => message_event(event),
                Piece::Rest(_) => None,
            };
            Numbered {
                piece,
                fields,
                number: None,
            }
        })
        .collect();
    let mut number = last;
    for one in all.iter_mut().rev().filter(|one| one.fields.is_some()) {
        one.number = number;
        number = number.and_then(|number| MessageNumber::new(number.get() - 1));
    }
    all
}
