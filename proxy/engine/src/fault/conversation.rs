//! What faults have in hand on one conversation.

use std::collections::HashMap;
use std::time::Duration;

use tapewright_schemas::conversation::{IdKey, Pairing};
use tapewright_schemas::envelope::{Envelope, Kind as MessageKind, for_each_message};
use tapewright_schemas::event::{Direction, Offset, Release, Scope, SessionKey, What};
use tapewright_schemas::json;

use super::act::Call;
use super::book::{Book, Hit};
use super::carry::Scene;
use super::kinds::On;
use super::selector::Subject;
use crate::outbox::after;
use crate::policy::{Decision, Message, Ticket, Verdict};

/// A request: which way it travelled, and its id.
pub(super) type Key = (Direction, IdKey);

/// What faults have in hand on one conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    // Chosen requests whose answer is to come.
    awaited: Pairing<Awaited>,
    // What is held until its request is cancelled.
    pub(super) until_cancelled: HashMap<Key, (Ticket, Duration)>,
    // What is held until the next message of the direction.
    pub(super) until_next: [Vec<Ticket>; 2],
    // When the last message that must not be overtaken is due.
    pub(super) last_due: [Offset; 2],
    pub(super) tickets: Vec<Ticket>,
    // How many of these were live when they were last counted.
    pub(super) live_tickets: usize,
    pub(super) live_cancelled: usize,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            awaited: Pairing::without_memory(),
            until_cancelled: HashMap::new(),
            until_next: Default::default(),
            last_due: Default::default(),
            tickets: Vec::new(),
            live_tickets: 0,
            live_cancelled: 0,
        }
    }
}

#[derive(Debug)]
struct Awaited {
    hit: Hit,
    id: Vec<u8>,
    cancelled: bool,
}

/// A fault, and the id of what it acts on.
pub(super) struct Chosen {
    pub(super) hit: Hit,
    pub(super) key: Option<Key>,
    id: Option<Vec<u8>>,
    pub(super) cancelled: bool,
}

impl Conversation {
    /// The fate of one message.
    pub(crate) fn decide(
        &mut self,
        book: &Book,
        session: SessionKey,
        now: Offset,
        dir: Direction,
        message: &Message<'_>,
    ) -> Decision {
        let next = self.until_next.get_mut(dir as usize).map(std::mem::take);
        let releases = next.as_ref().is_some_and(|next| !next.is_empty());
        for ticket in next.into_iter().flatten() {
            book.due(ticket, now, Release::Next);
        }
        let decision = self.fate(book, session, now, dir, message);
        Decision {
            releases,
            ..decision
        }
    }

    fn fate(
        &mut self,
        book: &Book,
        session: SessionKey,
        now: Offset,
        dir: Direction,
        message: &Message<'_>,
    ) -> Decision {
        let (text, end) = message.parts();
        let mut chosen = None;
        if let MessageKind::Batch { .. } = message.envelope.kind {
            for_each_message(text, |one| {
                let found = self.one(book, session, now, dir, &Envelope::parse(one), one);
                chosen = chosen.take().or(found);
            });
        } else {
            chosen = self.one(book, session, now, dir, message.envelope, text);
        }
        let Some(chosen) = chosen else {
            return Decision::PASS;
        };
        let Some(hit) = chosen.acting() else {
            return Decision {
                releases: false,
                verdict: Verdict::Drop,
                effect: Some(chosen.hit.effect(What::CancellationKept)),
            };
        };
        let call = Call {
            kind: hit.kind(),
            values: hit.values(),
            dice: hit.dice,
            text,
            end,
            id: chosen.id.as_deref(),
        };
        let act = (hit.kind().act)(&call);
        let scene = Scene {
            book,
            now,
            dir,
            line: message.line,
            chosen: &chosen,
        };
        let (verdict, what) = scene.carry_out(self, act);
        Decision {
            releases: false,
            effect: Some(hit.effect(what)),
            verdict,
        }
    }

    /// Looks at one message; the fault that acts on it now.
    fn one(
        &mut self,
        book: &Book,
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
                let hit = book.choose(now, &subject(method, true))?;
                let id_text = json::find(text, &["id"]).unwrap_or(b"null").to_vec();
                let key = (dir, IdKey::exact(id));
                if hit.on() == On::Request {
                    return Some(Chosen::new(hit, Some(key), Some(id_text)));
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
                    && let Some(chosen) = self.cancelled(book, now, dir, text)
                {
                    return Some(chosen);
                }
                let hit = book.choose(now, &subject(method, false))?;
                Some(Chosen::new(hit, None, None))
            }
            MessageKind::Response { id, .. } => {
                let key = (dir.opposite(), IdKey::exact(id));
                let awaited = self.awaited.take(Scope::default(), key.0, id)?;
                // It may have been taken away while the answer was on its way.
                if !book.is_in_force(&awaited.hit) {
                    return None;
                }
                let mut chosen = Chosen::new(awaited.hit, Some(key), Some(awaited.id));
                chosen.cancelled = awaited.cancelled;
                Some(chosen)
            }
            _ => None,
        }
    }

    /// A request was cancelled: an answer that waits for it may come, and one that is still
    /// to come is made sure of.
    fn cancelled(
        &mut self,
        book: &Book,
        now: Offset,
        dir: Direction,
        text: &[u8],
    ) -> Option<Chosen> {
        let id = json::find(text, &["params", "requestId"])?;
        let key = (dir, IdKey::exact_of(id));
        if let Some((ticket, wait)) = self.until_cancelled.remove(&key) {
            book.due(ticket, after(now, wait), Release::Cancelled);
            return None;
        }
        let asked = self.awaited.cancel(Scope::default(), dir, key.1)?;
        let awaited = self.awaited.get_mut(asked)?;
        if awaited.hit.kind().name != "late-after-cancel" {
            return None;
        }
        awaited.cancelled = true;
        Some(Chosen {
            hit: awaited.hit.clone(),
            key: None,
            id: None,
            cancelled: true,
        })
    }
}

impl Chosen {
    fn new(hit: Hit, key: Option<Key>, id: Option<Vec<u8>>) -> Self {
        Self {
            hit,
            key,
            id,
            cancelled: false,
        }
    }

    /// The fault, unless this is a cancellation that is kept from the server.
    fn acting(&self) -> Option<&Hit> {
        let kept = self.cancelled && self.key.is_none();
        (!kept).then_some(&self.hit)
    }
}
