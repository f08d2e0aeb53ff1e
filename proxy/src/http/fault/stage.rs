//! Tracks what faults hold of one body, and records the effects.

use bytes::Bytes;
use http::response::Parts;
use http::{Response, header};
use http_body::Frame;
use tapewright_engine::Outbox;
use tapewright_engine::fault::{Carried, Chosen, FaultMatch, Memory};
use tapewright_engine::policy::{Decision, Verdict};
use tapewright_schemas::event::{Effect, EventBody, FaultRef, MessageNumber, Offset, Unable, What};

use super::channel::{Channel, Sender};
use super::holds::pause;
use super::{CutOff, MatchedFault, Scene, cut_off};
use crate::http::body::Outbound;
use crate::http::listen::Phase;

/// One body under faults: the held parts, and what may leave. When it is dropped, the messages
/// still held are recorded.
pub(super) struct Stage {
    pub(super) scene: Scene,
    outbox: Outbox,
    memory: Memory,
    kept: Option<WithheldRequest>,
}

/// A request that is withheld from the server, and whose client waits for the answer.
struct WithheldRequest {
    fault: FaultRef,
    message: Option<MessageNumber>,
    since: Offset,
}

impl Stage {
    pub(super) fn new(scene: Scene) -> Self {
        Self {
            scene,
            outbox: Outbox::default(),
            memory: Memory::default(),
            kept: None,
        }
    }

    /// Forwards a message or other bytes, unless the session is silent.
    pub(super) fn pass(&mut self, number: Option<MessageNumber>, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        let now = self.scene.now();
        self.wait_for_session(now);
        self.outbox.take(now, number, Decision::PASS, bytes);
        self.tell(number.is_some());
    }

    /// Holds a response as long as its session is silent; returns false if it is cut.
    pub(super) async fn pass_response(&mut self, number: Option<MessageNumber>) -> bool {
        let now = self.scene.now();
        self.wait_for_session(now);
        let decision = Decision::PASS;
        self.outbox.take(now, number, decision, Bytes::new());
        self.tell(true);
        !self.settle().await
    }

    /// Applies a fault to a message that arrived at this time; returns false if it is dropped.
    pub(super) fn meet(&mut self, now: Offset, aimed: &MatchedFault, carried: &Carried) -> bool {
        let fault_set = self.scene.fault_set();
        if !fault_set.is_in_force(&aimed.hit) {
            self.pass(aimed.message, carried.whole().clone());
            return true;
        }
        let chosen = Chosen::new(aimed.hit.clone(), Some(aimed.id.clone()));
        let meeting = FaultMatch {
            fault_set,
            now,
            dir: self.scene.dir,
            carried,
            chosen: &chosen,
        };
        let decision = meeting.decide(&mut self.memory);
        self.decided(now, aimed, decision, carried.whole().clone())
    }

    fn decided(
        &mut self,
        now: Offset,
        aimed: &MatchedFault,
        decision: Decision,
        whole: Bytes,
    ) -> bool {
        // A message held on its own is released into the silence; everything else waits for its end
        // here.
        if !matches!(decision.verdict, Verdict::Hold { .. }) {
            self.wait_for_session(now);
        }
        let effect = decision.effect.as_ref().map(|effect| &effect.what);
        let silences = matches!(effect, Some(What::HeldAll { .. }));
        let wedge = decision.ticket().filter(|_| silences);
        let goes_on = decision.verdict != Verdict::Drop;
        self.outbox.take(now, aimed.message, decision, whole);
        self.tell(true);
        if let Some(ticket) = wedge {
            let (scene, wedges) = (&self.scene, &self.scene.gateway.wedges);
            if !wedges.add(scene.talk.clone(), ticket, scene.fault_set()) {
                let why = Unable::TooManyWedged;
                scene.note(Effect::plain(What::NotDone { why }), None);
            }
        }
        goes_on
    }

    /// Waits until the client leaves, since there is no answer to a dropped message.
    pub(super) async fn never(&mut self, aimed: &MatchedFault) {
        self.kept = Some(WithheldRequest {
            fault: aimed.hit.named(),
            message: aimed.message,
            since: self.scene.now(),
        });
        std::future::pending::<()>().await;
    }

    /// Waits together with its session, even without traffic.
    pub(super) fn fall_silent(&mut self) {
        let now = self.scene.now();
        self.wait_for_session(now);
        self.tell(false);
    }

    /// Makes everything from now on wait as long as a fault silences the session.
    fn wait_for_session(&mut self, now: Offset) {
        let scene = &self.scene;
        if let Some(ticket) = scene.wedge()
            && !self.outbox.waits_for(ticket)
            && scene.fault_set().share(ticket)
        {
            let fault = scene.fault_set().fault_of(ticket);
            self.outbox.wait_for(now, ticket, fault);
        }
    }

    /// Whether reading from the sender is suspended.
    pub(super) fn is_stalled(&self) -> bool {
        self.outbox.is_stalled()
    }

    /// Whether nothing is held.
    pub(super) fn holds_nothing(&self) -> bool {
        self.outbox.holds_nothing()
    }

    /// Waits until something that is held may leave.
    pub(super) async fn pause(&self) {
        pause(&self.scene.gateway, self.outbox.due()).await;
    }

    /// Releases what has waited long enough; returns true if the connection is to be cut.
    fn turn(&mut self) -> bool {
        let scene = &self.scene;
        let cut = self.outbox.turn(scene.now(), &*scene.gateway);
        if cut {
            self.give_up(|after| What::CutOff { after });
        }
        self.tell(true);
        cut
    }

    /// Waits until something may leave, or nothing is held; returns true if the connection is to be
    /// cut.
    pub(super) async fn settle(&mut self) -> bool {
        loop {
            if self.turn() {
                return true;
            }
            if self.outbox.front().is_some() || self.outbox.holds_nothing() {
                return false;
            }
            self.pause().await;
        }
    }

    /// Forwards what may leave; returns `None` if the receiver is gone, or the connection is cut.
    pub(super) async fn flush(&mut self, out: &Sender) -> Option<()> {
        let cut = self.turn();
        while let Some(bytes) = self.outbox.pop() {
            if !bytes.is_empty() {
                out.send(Ok(Frame::data(bytes))).await.ok()?;
            }
        }
        if cut {
            drop(out.send(Err(Box::new(CutOff))).await);
            return None;
        }
        Some(())
    }

    /// The response, as soon as any of it may leave; `length` is that of its original body.
    pub(super) async fn respond(mut self, mut parts: Parts, length: usize) -> Response<Outbound> {
        let cut = self.settle().await;
        let first = self.outbox.pop();
        let is_all = self.outbox.holds_nothing() && self.outbox.front().is_none();
        let whole = first.clone().unwrap_or_default();
        if cut && first.is_none() {
            return cut_off();
        }
        if cut || !is_all || whole.len() != length {
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        let body = if !is_all || cut {
            Outbound::streaming(self.stream(whole, cut))
        } else {
            Outbound::whole(whole)
        };
        Response::from_parts(parts, body)
    }

    /// The rest, as a body.
    fn stream(mut self, first: Bytes, cut: bool) -> Channel {
        let gateway = std::sync::Arc::clone(&self.scene.gateway);
        Channel::of(&gateway, |out| async move {
            if !first.is_empty() {
                out.send(Ok(Frame::data(first))).await.ok()?;
            }
            loop {
                self.flush(&out).await?;
                if cut {
                    return out.send(Err(Box::new(CutOff))).await.ok();
                }
                if self.outbox.holds_nothing() {
                    return Some(());
                }
                self.pause().await;
            }
        })
    }

    /// Records the effects; that something waits is only recorded for messages.
    fn tell(&mut self, is_message: bool) {
        while let Some(faulted) = self.outbox.told() {
            let waits = matches!(faulted.effect.what, What::Behind { .. });
            if is_message || !waits {
                let scene = &self.scene;
                scene.log.note(scene.dir, EventBody::Faulted(faulted));
            }
        }
    }

    fn give_up(&mut self, what: impl Fn(Offset) -> What) {
        let gateway = &self.scene.gateway;
        self.outbox.abandon(gateway.clock.now(), &**gateway, what);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let ours = *self.scene.gateway.phase.borrow() == Phase::Stopping;
        let what = move |after| {
            if ours {
                What::RecorderEnded { after }
            } else {
                What::Left { after }
            }
        };
        self.give_up(what);
        self.tell(true);
        if let Some(WithheldRequest {
            fault,
            message,
            since,
        }) = self.kept.take()
        {
            let what = what(self.scene.now().since(since));
            let fault = Some(fault);
            self.scene.note(Effect { fault, what }, message);
        }
    }
}
