//! In which ways a message is plain: determined once, so that most rules need not examine it.
//!
//! Nearly every message satisfies the conditions of many rules in ways that a quick check can show.
//! A rule declares the ways that it relies on by a check of the kind [`Check::Holds`] or
//! [`Check::Silent`], and only examines other messages. If the quick check fails, a message does
//! not count as plain: that costs a closer look, and changes no verdict.
//!
//! [`Check::Holds`]: crate::invariant::Check::Holds
//! [`Check::Silent`]: crate::invariant::Check::Silent

use std::ops::{BitAnd, BitOr};

use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::{Direction, Event, EventBody, LineEnd};

use crate::fields::is_plain_call;
use crate::id::Key;
use crate::message::{Form, Message};
use crate::method::Method;
use crate::revision::{R5, Revisions};
use crate::session::capabilities::{Capabilities, Capability};
use crate::session::tools::Listed;
use crate::session::{Answer, Session, SessionKind};
use crate::shapes::content::is_one_text_alone;
use crate::value::Value;

/// Ways in which a message is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plain(u16);

impl Plain {
    /// In no way.
    pub(crate) const NOT: Self = Self(0);
    /// It is a single request, notification or response, and its line is terminated.
    pub(crate) const ONE: Self = Self(1);
    /// Its `jsonrpc` is the string `2.0`.
    pub(crate) const VERSION: Self = Self(1 << 1);
    /// A request that has a string or an integer for its id.
    pub(crate) const ID: Self = Self(1 << 2);
    /// A request whose id certainly was not used before.
    pub(crate) const NEW: Self = Self(1 << 3);
    /// A request with a method that requests can have.
    pub(crate) const METHOD: Self = Self(1 << 4);
    /// A client's `tools/call` whose parameters are a `name` and `arguments`.
    pub(crate) const CALL: Self = Self(1 << 5);
    /// A response to a request that awaits it and was not given up.
    pub(crate) const ANSWER: Self = Self(1 << 6);
    /// A response with an object for its result, and no error.
    pub(crate) const RESULT: Self = Self(1 << 7);
    /// The answer to a client's `tools/call`, with one block of text and, at most, an `isError`
    /// that is right.
    pub(crate) const TEXT: Self = Self(1 << 8);
    /// A client's `tools/call`, or a successful answer to one, in a session whose handshake is
    /// answered and whose server has declared tools.
    pub(crate) const SERVED: Self = Self(1 << 9);
    /// The answer to a client's `tools/call` of a listed tool without an `outputSchema`, or without
    /// any list.
    pub(crate) const TOOL: Self = Self(1 << 10);
    /// A flag that no message has: the rule examines every one.
    pub(crate) const NEVER: Self = Self(1 << 15);

    /// The ways in which a message is plain, among `wanted`, before it is added to its session.
    /// `refused` marks a response that an HTTP error carries. Also sets `answers` of the message.
    pub(crate) fn of(
        message: &mut Message<'_>,
        event: &Event,
        session: &Session,
        refused: bool,
        wanted: Self,
    ) -> Self {
        let version = matches!(
            message.envelope.version,
            Some([b'"', b'2', b'.', b'0', b'"'])
        );
        let of_kind = match message.form {
            Form::Request => Self::of_request(message, session, wanted),
            Form::Response => Self::of_response(message, session, refused, wanted),
            Form::Notification => Self::NOT,
            Form::Batch | Form::Malformed => return Self::NOT,
        };
        let cut = matches!(
            &event.body,
            EventBody::Message {
                end: LineEnd::None,
                ..
            }
        );
        of_kind | Self::VERSION.when(version) | Self::ONE.when(!cut)
    }

    fn of_request(message: &Message<'_>, session: &Session, wanted: Self) -> Self {
        let fits = message.counts || wanted.has(Self::ID) && is_sound(message);
        let paired = &message.paired;
        let known = paired.again || paired.forgotten || paired.first.is_some();
        let new = message.key != Key::Null && !known;
        let calls = message.method == Method::ToolsCall && message.dir == Direction::ToServer;
        let plain = calls && wanted.has(Self::CALL);
        Self::ID.when(fits)
            | Self::NEW.when(new)
            | Self::METHOD.when(message.method < Method::Cancelled)
            | Self::CALL.when(plain && message.params().is_some_and(is_plain_call))
            | Self::SERVED.when(calls && is_served(session, message.revisions))
    }

    fn of_response(
        message: &mut Message<'_>,
        session: &Session,
        refused: bool,
        wanted: Self,
    ) -> Self {
        let result = message.result().filter(|_| message.error().is_none());
        let one = Self::RESULT.when(result.is_some());
        let Answer::Pairs(asked) = session.answer(message) else {
            return one;
        };
        message.answers = Some(asked.method);
        let alone = session.sort == SessionKind::Exchange || session.beside.is_some();
        let awaited = asked.cancelled.is_none() && !alone && !refused;
        let called = asked.method == Method::ToolsCall && message.dir == Direction::ToClient;
        let text = called && wanted.has(Self::TEXT) && result.is_some_and(is_one_text_alone);
        let served = result.is_some() && called && is_served(session, message.revisions);
        let free = called && is_free(session, asked.tool);
        one | Self::ANSWER.when(awaited)
            | Self::TEXT.when(text)
            | Self::SERVED.when(served)
            | Self::TOOL.when(free)
    }

    /// Whether it is plain in all of these ways.
    pub(crate) fn has(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }

    fn when(self, is_so: bool) -> Self {
        if is_so { self } else { Self::NOT }
    }
}

/// Whether the id of a request is a string or an integer.
fn is_sound(message: &Message<'_>) -> bool {
    match message.id() {
        Some(RequestId::Text(_)) => true,
        Some(RequestId::Number(text)) => Value(text.as_bytes()).is_integer(),
        _ => false,
    }
}

/// Whether nothing restricts the result of the called tool.
fn is_free(session: &Session, tool: Listed) -> bool {
    match tool {
        Listed::Absent => false,
        Listed::Known(key) => {
            let tool = session.tools.get(key);
            tool.is_none_or(|tool| tool.output_schema.is_none())
        }
        Listed::Unknown => !session.tools.is_unsure(),
    }
}

/// Whether a session has agreed to tool calls with messages of these revisions.
fn is_served(session: &Session, revisions: Revisions) -> bool {
    let life = &session.lifecycle;
    if session.declared.is_none() && revisions != R5 {
        return session.serves_tools && life.asked.is_some();
    }
    let tools = |one: &Capabilities| one.has(Capability::TOOLS);
    life.agreed.is_some()
        && life.asked.is_some()
        && life.answered.is_some()
        && !session.by_the_letter()
        && session.advertised(revisions).is_some_and(tools)
}

impl BitOr for Plain {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Plain {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests;
