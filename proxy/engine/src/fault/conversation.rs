//! The state of faults in one conversation.

use tapewright_schemas::conversation::{IdKey, Pairing};
use tapewright_schemas::envelope::{Envelope, Kind as MessageKind, for_each_message};
use tapewright_schemas::event::{Direction, Offset, Scope, SessionKey, What};
use tapewright_schemas::json;

use super::carried::Carried;
use super::carry::{Chosen, FaultMatch};
use super::fault_set::{FaultSet, Hit};
use super::kinds::FaultTarget;
use super::memory::{Key, Memory};
use super::selector::Subject;
use crate::policy::{Decision, Message, Verdict};

/// The state of faults in one conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    // Chosen requests without an answer so far.
    awaited: Pairing<Awaited>,
    memory: Memory,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            awaited: Pairing::without_memory(),
            memory: Memory::default(),
        }
    }
}

#[derive(Debug)]
struct Awaited {
    hit: Hit,
    id: Vec<u8>,
    cancelled: bool,
}

impl Conversation {
    /// The decision about one message.
    pub(crate) fn decide(
        &mut self,
        fault_set: &FaultSet,
        session: SessionKey,
        now: Offset,
        dir: Direction,
        message: &Message<'_>,
    ) -> Decision {
        let releases = self.memory.next(fault_set, now, dir);
        let decision = self.fate(fault_set, session, now, dir, message);
        Decision {
            releases,
            ..decision
        }
    }

    fn fate(
        &mut self,
        fault_set: &FaultSet,
        session: SessionKey,
        now: Offset,
        dir: Direction,
        message: &Message<'_>,
    ) -> Decision {
        let text = Message::text_of(message.line);
        let mut chosen = None;
        if let MessageKind::Batch { .. } = message.envelope.kind {
            for_each_message(text, |one| {
                let found = self.one(fault_set, session, now, dir, &Envelope::parse(one), one);
                chosen = chosen.take().or(found);
            });
        } else {
            chosen = self.one(fault_set, session, now, dir, message.envelope, text);
        }
        let Some(chosen) = chosen else {
            return Decision::PASS;
        };
        if chosen.keeps_cancellation() {
            return Decision {
                releases: false,
                verdict: Verdict::Drop,
                effect: Some(chosen.hit.effect(What::CancellationKept)),
            };
        }
        let meeting = FaultMatch {
            fault_set,
            now,
            dir,
            carried: &Carried::line(message.line),
            chosen: &chosen,
        };
        meeting.decide(&mut self.memory)
    }

    /// Examines one message, and returns the fault that acts on it now.
    fn one(
        &mut self,
        fault_set: &FaultSet,
        session: SessionKey,
        now: Offset,
        dir: Direction,
        envelope: &Envelope<'_>,
        text: &[u8],
    ) -> Option<Chosen> {
        let subject = |method, is_request| Subject {
            method,
            text,
            dir,
            session,
            is_request,
        };
        match &envelope.kind {
            MessageKind::Request { id, method, .. } => {
                let hit = fault_set.choose(now, &subject(method, true))?;
                let id_text = json::find(text, &["id"]).unwrap_or(b"null").to_vec();
                let key = (dir, IdKey::exact(id));
                if hit.on() == FaultTarget::Request {
                    return Some(Chosen::of(hit, key, id_text));
                }
                let awaited = Awaited {
                    hit,
                    id: id_text,
                    cancelled: false,
                };
                drop(self.awaited.ask(Scope::default(), dir, id, awaited));
                None
            }
            MessageKind::Notification { method, .. } => {
                if method == "notifications/cancelled"
                    && let Some(chosen) = self.cancelled(fault_set, now, dir, text)
                {
                    return Some(chosen);
                }
                let hit = fault_set.choose(now, &subject(method, false))?;
                Some(Chosen::new(hit, None))
            }
            MessageKind::Response { id, .. } => {
                let key = (dir.opposite(), IdKey::exact(id));
                let awaited = self.awaited.take(Scope::default(), key.0, id)?;
                // The fault may have been removed before the answer arrived.
                if !fault_set.is_in_force(&awaited.hit) {
                    return None;
                }
                let mut chosen = Chosen::of(awaited.hit, key, awaited.id);
                chosen.cancelled = awaited.cancelled;
                Some(chosen)
            }
            _ => None,
        }
    }

    /// Handles a cancelled request: an answer held until the cancellation may be sent, and a
    /// missing one is ensured.
    fn cancelled(
        &mut self,
        fault_set: &FaultSet,
        now: Offset,
        dir: Direction,
        text: &[u8],
    ) -> Option<Chosen> {
        let id = json::find(text, &["params", "requestId"])?;
        let key = (dir, IdKey::exact_of(id));
        if self.memory.cancelled(fault_set, now, key) {
            return None;
        }
        let asked = self.awaited.cancel(Scope::default(), dir, key.1)?;
        let awaited = self.awaited.get_mut(asked)?;
        if awaited.hit.kind().name != "late-after-cancel" {
            return None;
        }
        awaited.cancelled = true;
        let mut chosen = Chosen::new(awaited.hit.clone(), None);
        chosen.cancelled = true;
        Some(chosen)
    }
}

impl Chosen {
    fn of(hit: Hit, key: Key, id: Vec<u8>) -> Self {
        let mut chosen = Self::new(hit, Some(id));
        chosen.key = Some(key);
        chosen
    }

    /// Whether this is a cancellation that is withheld from the server.
    fn keeps_cancellation(&self) -> bool {
        self.cancelled && self.key.is_none()
    }
}
