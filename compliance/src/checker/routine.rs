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
    #[inline]
    pub(super) fn enter_routine(&mut self, seen: &Seen<'_>) -> bool {
        let (Some(routine), Some(session)) = (&self.routine, self.sessions.last_mut()) else {
            return false;
        };
        let is_alike = carrier(seen) == Some(routine.setting.carrier)
            && seen.era == Some(routine.setting.era)
            && seen.event.scope() == routine.setting.scope;
        let usual = if is_alike { Usual::of(seen) } else { None };
        let number = match (usual, routine.call, routine.answer) {
            (Some(Usual::Call { id, name }), Some(number), _) => {
                let is_next = session.enter_next_call(seen, id, name, routine.setting.revisions);
                is_next.then_some(number)
            }
            (Some(Usual::Answer { id }), _, Some((number, tool))) => {
                session.enter_next_answer(seen, id, tool).then_some(number)
            }
            _ => None,
        };
        if let Some(number) = number {
            session.silent.count(number);
        }
        number.is_some()
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
        let setting = Setting {
            scope: seen.event.scope(),
            carrier: carrier(seen)?,
            era: seen.era?,
            revisions: message.revisions,
        };
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

impl<'a> Usual<'a> {
    fn of(seen: &Seen<'a>) -> Option<Self> {
        let message: &'a Envelope<'a> = seen.message;
        if message.version != Some(b"\"2.0\"") {
            return None;
        }
        match (&message.kind, seen.event.dir) {
            (Kind::Request { id, method, params }, Direction::ToServer)
                if method == "tools/call" =>
            {
                let (id, name) = (integer(id)?, plain_call((*params)?)?);
                Some(Self::Call { id, name })
            }
            (Kind::Response { id, result, error }, Direction::ToClient) if error.is_none() => {
                let id = integer(id)?;
                is_one_text_alone(Value((*result)?)).then_some(Self::Answer { id })
            }
            _ => None,
        }
    }
}

/// The carrier of a message by a peer whose line is terminated.
fn carrier(seen: &Seen<'_>) -> Option<Carrier> {
    match &seen.event.body {
        EventBody::Message { origin, end, .. } => {
            let is_whole = origin.maker == Maker::Peer && *end != LineEnd::None;
            is_whole.then_some(origin.carrier)
        }
        _ => None,
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
