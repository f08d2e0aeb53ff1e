//! Calls of tools and their answers that are like the last ones, as nearly all messages of a busy session are.
//!
//! After a message for which no rule was run, most of what was determined for it holds for the next one of its kind, too,
//! as long as nothing else happens in between: the session, the era and the revisions, the rules that are concerned, and
//! in which ways a message is plain. So a [`Routine`] keeps the result, and for the next message only what may differ is
//! examined: its own members, and the request that it makes or answers. Any other message or event may change the
//! session, and ends the routine.

use tapewright_schemas::conversation::{Pair, plain_call};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{Carrier, Direction, EventBody, LineEnd, Maker, Scope, Seen};

use super::Checker;
use crate::facts::Transport;
use crate::id::Key;
use crate::message::Message;
use crate::revision::{R5, Revisions};
use crate::session::tools::Listed;
use crate::session::{Session, SessionKind};
use crate::shapes::content::is_one_text_alone;
use crate::value::Value;

/// What is known of calls and answers in a session in which nothing else has happened since they were judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Routine {
    setting: Setting,
    /// The number of the brief for calls, by which no rule is run.
    call: Option<usize>,
    /// The same for answers to calls of such a tool.
    answer: Option<(usize, Listed)>,
}

/// What the messages of a routine have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting {
    scope: Scope,
    carrier: Carrier,
    era: Era,
    revisions: Revisions,
}

/// A message that may be routine.
enum Usual<'a> {
    /// A call whose parameters are a `name` and `arguments`.
    Call { id: i64, name: &'a [u8] },
    /// A result of one text.
    Answer { id: i64 },
}

impl Checker {
    /// Enters a message if it is routine; returns whether it was.
    pub(super) fn enter_routine(&mut self, seen: &Seen<'_>) -> bool {
        let (Some(routine), Some(session)) = (&self.routine, self.sessions.last_mut()) else {
            return false;
        };
        if !routine.setting.is_of(seen) {
            return false;
        }
        let revisions = routine.setting.revisions;
        let (number, is_entered) = match (Usual::of(seen), routine.call, routine.answer) {
            (Some(Usual::Call { id, name }), Some(number), _) => {
                (number, session.enter_next_call(seen, id, name, revisions))
            }
            (Some(Usual::Answer { id }), _, Some((number, tool))) => {
                (number, session.enter_next_answer(seen, id, tool))
            }
            _ => return false,
        };
        if is_entered {
            session.silent.count(number);
        }
        is_entered
    }

    /// Whether messages can be routine: those of HTTP have more around them.
    pub(super) fn has_routine(&self) -> bool {
        self.facts.transport == Transport::Stdio && !self.sessionless && self.conduits.is_empty()
    }
}

impl Routine {
    /// What is routine after a message that was judged by the brief of this number, but is not entered yet; `before` was
    /// routine before it.
    pub(super) fn after(
        before: Option<Self>,
        session: &Session,
        seen: &Seen<'_>,
        message: &Message<'_>,
        number: usize,
    ) -> Option<Self> {
        let setting = Setting::of(seen, message.revisions)?;
        let is_steady = session.sort == SessionKind::Process
            && session.beside.is_none()
            && session.has_settled_era()
            && setting.revisions != R5;
        let handle = message.paired.handle.filter(|_| is_steady)?;
        let only_pairs = Pair {
            handle: Some(handle),
            ..Pair::default()
        };
        if message.paired != only_pairs {
            return None;
        }
        Some(match Usual::of(seen)? {
            // Its first one may be the first of its session, and changes what holds for answers.
            Usual::Call { .. } => Self {
                setting,
                call: Some(number),
                answer: None,
            },
            Usual::Answer { .. } => {
                let asked = session.requests(Direction::ToServer).get(handle);
                let asked = asked.filter(|asked| asked.is_plain_call())?;
                let before = before.filter(|before| before.setting == setting);
                Self {
                    setting,
                    call: before.and_then(|before| before.call),
                    answer: Some((number, asked.tool)),
                }
            }
        })
    }
}

impl Setting {
    /// The setting of a message by a peer whose line is terminated.
    fn of(seen: &Seen<'_>, revisions: Revisions) -> Option<Self> {
        let EventBody::Message { origin, .. } = &seen.event.body else {
            return None;
        };
        let setting = Self {
            scope: seen.event.scope(),
            carrier: origin.carrier,
            era: seen.era?,
            revisions,
        };
        setting.is_of(seen).then_some(setting)
    }

    /// Whether it is that of a message, but for the revisions.
    fn is_of(&self, seen: &Seen<'_>) -> bool {
        let EventBody::Message { origin, end, .. } = &seen.event.body else {
            return false;
        };
        origin.carrier == self.carrier
            && origin.maker == Maker::Peer
            && *end != LineEnd::None
            && seen.era == Some(self.era)
            && seen.event.scope() == self.scope
    }
}

impl<'a> Usual<'a> {
    fn of(seen: &Seen<'a>) -> Option<Self> {
        let message: &'a Envelope<'a> = seen.message;
        if message.version != Some(b"\"2.0\"") {
            return None;
        }
        let dir = seen.event.dir;
        match &message.kind {
            Kind::Request { id, method, params } => {
                let is_call = dir == Direction::ToServer && method == "tools/call";
                let name = plain_call(params.filter(|_| is_call)?)?;
                integer(id).map(|id| Self::Call { id, name })
            }
            Kind::Response { id, result, error } => {
                let is_result = dir == Direction::ToClient && error.is_none();
                let result = result.filter(|_| is_result).map(Value)?;
                let id = integer(id).filter(|_| is_one_text_alone(result))?;
                Some(Self::Answer { id })
            }
            _ => None,
        }
    }
}

/// An id that is an integer in its usual spelling.
fn integer(id: &RequestId<'_>) -> Option<i64> {
    match id {
        RequestId::Number(_) => match Key::exact(id) {
            Key::Integer(integer) => Some(integer),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
