//! An event stream in which faults are in force: each event is passed on, or acted on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use http_body_util::BodyExt as _;
use tapewright_engine::SseEvent;
use tapewright_engine::fault::{Act, Until, after};
use tapewright_engine::policy::Hold;
use tapewright_schemas::event::{Effect, MessageNumber, Offset, Unable, What};

use super::aim::message_event;
use super::cutter::{Cutter, Piece};
use super::hold::wait;
use super::late::Late;
use super::leaving::Leaving;
use super::outcome::Outcome;
use super::play::{Channel, Player, Sender, channel};
use super::{Aimed, CutOff, Scene};
use crate::http::body::Outbound;
use crate::http::gateway::Exchange;
use crate::http::listen::Phase;

impl Scene {
    /// Whether no fault is in force.
    pub(super) fn is_calm(&self) -> bool {
        self.book().is_idle()
    }

    /// What the client gets of an event stream from its piece `first` on; it is made on a
    /// task of its own, until the client leaves.
    pub(super) fn stream(
        self,
        exchange: Arc<Exchange>,
        amid: bool,
        first: Bytes,
        body: Outbound,
    ) -> Channel {
        let (out, channel) = channel();
        let gateway = Arc::clone(&self.gateway);
        gateway.tasks.clone().spawn(async move {
            let mut phase = gateway.phase.clone();
            let leaving = out.clone();
            let stage = Stage {
                scene: self,
                exchange,
                cutter: Cutter::new(amid),
                out,
                late: Late::default(),
                came: Offset::default(),
                last_due: Offset::default(),
            };
            tokio::select! {
                _ = stage.run(first, body) => {}
                () = leaving.closed() => {}
                _ = phase.wait_for(|phase| *phase == Phase::Stopping) => {}
            }
        });
        channel
    }

    /// Reads a stream to its end, so that it is recorded, for as long as we run. The client
    /// has got something else in its place, and the tape is told so behind the answer.
    pub(super) fn drain(self, mut aimed: Aimed, what: What, mut body: Outbound) {
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
            // The answer may never come: what was done is told all the same.
            if !told {
                self.tell(&aimed, what.clone());
            }
        });
    }
}

/// One stream, and what of it is held.
struct Stage {
    scene: Scene,
    exchange: Arc<Exchange>,
    cutter: Cutter,
    out: Sender,
    late: Late,
    // When the piece came that is looked at.
    came: Offset,
    // When the last event is due that must not be overtaken.
    last_due: Offset,
}

impl Stage {
    /// Passes the stream on. None when nobody listens any more, or it was cut.
    async fn run(mut self, first: Bytes, mut body: Outbound) -> Option<()> {
        let gateway = Arc::clone(&self.scene.gateway);
        self.data(&first).await?;
        let mut open = true;
        while open || !self.late.is_empty() {
            tokio::select! {
                event = self.late.next(&gateway), if !self.late.is_empty() => {
                    self.pass(event, None).await?;
                }
                frame = body.frame(), if open => match frame {
                    // Trailers of a stream in which faults act are lost; they are on the tape.
                    Some(Ok(frame)) => {
                        if let Ok(data) = frame.into_data() {
                            self.data(&data).await?;
                        }
                    }
                    Some(Err(error)) => {
                        let rest = self.cutter.give_up();
                        self.pass(rest, None).await?;
                        self.out.send(Err(error)).await.ok()?;
                        return None;
                    }
                    None => {
                        open = false;
                        let rest = self.cutter.give_up();
                        self.pass(rest, None).await?;
                    }
                },
            }
        }
        Some(())
    }

    async fn data(&mut self, data: &[u8]) -> Option<()> {
        self.came = self.scene.log.came();
        self.cutter.push(data);
        let last = self.scene.log.last_message(self.scene.dir);
        for Numbered {
            piece,
            fields,
            number,
        } in numbered(&mut self.cutter, last)
        {
            match (piece, fields) {
                (Piece::Event(event), Some(fields)) => self.event(event, &fields, number).await?,
                (Piece::Event(rest) | Piece::Rest(rest), _) => self.pass(rest, None).await?,
            }
        }
        if self.cutter.held_bytes() > self.scene.log.limit_bytes() {
            let why = Unable::TooLong;
            let effect = Effect::plain(What::NotDone { why });
            self.scene.note(effect, None);
            let begin = self.cutter.give_up();
            self.pass(begin, None).await?;
        }
        Some(())
    }

    /// Passes one event on, or acts on it.
    async fn event(
        &mut self,
        event: Bytes,
        fields: &SseEvent,
        number: Option<MessageNumber>,
    ) -> Option<()> {
        let calm = self.scene.is_calm();
        let met = || self.scene.met(&self.exchange, &event, (fields, number));
        let Some((aimed, carried)) = (!calm).then(met).flatten() else {
            return self.pass(event, number).await;
        };
        match aimed.act(carried.text()) {
            Act::Delay { time, in_order } => self.delay(&aimed, event, time, in_order).await?,
            Act::Hold(Until::Removed) => match self.scene.held(&aimed) {
                Some(held) => self.late.add(event, held, None),
                None => self.pass(event, number).await?,
            },
            _ => {
                self.wait_for_wedge(number).await?;
                match self.scene.act(&aimed, &carried).await {
                    Outcome::Cut => {
                        drop(self.out.send(Err(Box::new(CutOff))).await);
                        return None;
                    }
                    Outcome::Nothing => {}
                    Outcome::Pass => self.pass(event, number).await?,
                    Outcome::Play(moves) => {
                        let player = Player::new(self.scene.clone(), aimed);
                        player.play(moves, &self.out).await?;
                    }
                }
            }
        }
        Some(())
    }

    /// Passes an event on later; what comes behind it may overtake it.
    async fn delay(
        &mut self,
        aimed: &Aimed,
        event: Bytes,
        time: Duration,
        in_order: bool,
    ) -> Option<()> {
        // Counted from when it came: of a thousand events in one piece the last is not to
        // wait for longer than the first.
        let mut due = after(self.came, time);
        if in_order {
            due = due.max(self.last_due);
            self.last_due = due;
        }
        let time = Duration::from_micros(due.since(self.came).0);
        match self.scene.delayed(aimed, time, due) {
            Some(delayed) => self.late.add(event, delayed, Some(due)),
            None => self.pass(event, aimed.message).await?,
        }
        Some(())
    }

    /// Passes bytes on, unless the session is to be silent.
    async fn pass(&mut self, bytes: Bytes, number: Option<MessageNumber>) -> Option<()> {
        if bytes.is_empty() {
            return Some(());
        }
        self.wait_for_wedge(number).await?;
        self.out.send(Ok(Frame::data(bytes))).await.ok()
    }

    /// Waits for as long as a fault wants the session to be silent; None when the stream is
    /// cut then.
    async fn wait_for_wedge(&self, number: Option<MessageNumber>) -> Option<()> {
        let scene = &self.scene;
        while let Some(held) = scene.wedge() {
            scene.note(Effect::plain(What::Behind { holder: None }), number);
            let leaving = Leaving::new(scene, None, number);
            let due = scene.book().due_at(held.ticket());
            let over = wait(&scene.gateway, held.ticket(), due).await;
            if over == Hold::Cut {
                leaving.cut();
                drop(self.out.send(Err(Box::new(CutOff))).await);
                return None;
            }
            leaving.over(over);
        }
        Some(())
    }
}

/// A piece of a stream; of a message also what it says, and its number.
struct Numbered {
    piece: Piece,
    fields: Option<SseEvent>,
    number: Option<MessageNumber>,
}

/// The pieces that are whole by now. The last message among them is the last one that the
/// tape has seen: the stream is cut there in the same way, and read no further meanwhile.
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
