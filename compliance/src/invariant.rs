//! The definition of an invariant: one entry of the table.

use std::fmt;

use tapewright_schemas::event::Direction;

use crate::carrier::Carriers;
use crate::checker::{Case, Closing, Out};
use crate::code::Code;
use crate::facts::Transport;
use crate::finding::Severity;
use crate::http::HttpCase;
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::Revisions;

/// One property of a session.
pub struct Invariant {
    /// Its code.
    pub code: Code,
    /// Its category: `lifecycle`, `capability`, …
    pub category: &'static str,
    /// The property in one sentence, without a full stop.
    pub property: &'static str,
    /// The revisions that have it, and how binding it is there.
    pub levels: Levels,
    /// The carriers of messages that can violate it; it is checked for no other.
    pub carriers: Carriers,
    /// The sides that can be responsible.
    pub who: Responsible,
    /// The knowledge that it needs.
    pub basis: Basis,
    /// Its source: page and section of the specification, and the first revision with it.
    pub source: &'static str,
    /// Why it matters, and its exceptions.
    pub why: &'static str,
    /// A session that holds it, in the notation of [`crate::script`].
    pub holds: &'static str,
    /// A session that breaks it.
    pub breaks: &'static str,
    /// When and how it is checked.
    pub(crate) checks: &'static [Check],
}

impl fmt::Debug for Invariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.code)
    }
}

/// The revisions that have an invariant, by how binding it is.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// MUST.
    pub must: Revisions,
    /// SHOULD.
    pub should: Revisions,
    /// Follows from a schema or from two rules together.
    pub derived: Revisions,
}

/// The peers that can break an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Responsible {
    /// Either.
    Both,
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The knowledge that a verdict needs, which gaps, faults and exchanges without a session take
/// away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The message alone.
    Message,
    /// The request and its response, or one HTTP exchange.
    Exchange,
    /// What crossed on the same pipe, or in the same HTTP exchange.
    Conduit,
    /// The earlier messages of its sender in the session.
    Sent,
    /// The messages of both sides in the session.
    Session,
}

/// When and how an invariant is checked.
pub(crate) enum Check {
    /// For every line, body or event in this direction, before it is parsed.
    Payload(Directions, fn(&Case<'_>, &mut Out<'_>)),
    /// For every message.
    Message(fn(&Case<'_>, &mut Out<'_>)),
    /// For the client's requests, until the handshake is completed.
    Opening(fn(&Case<'_>, &mut Out<'_>)),
    /// For these requests.
    Request(Directions, Methods, fn(&Case<'_>, &mut Out<'_>)),
    /// For these notifications.
    Notification(Directions, Methods, fn(&Case<'_>, &mut Out<'_>)),
    /// For responses to these requests; the direction is that of the request.
    Response(Directions, Methods, fn(&Case<'_>, &mut Out<'_>)),
    /// For every response, even one that answers no request.
    AnyResponse(fn(&Case<'_>, &mut Out<'_>)),
    /// For every response with an error, even one that answers no request.
    Error(fn(&Case<'_>, &mut Out<'_>)),
    /// When the head of an HTTP request is known together with its message.
    HttpRequest(fn(&HttpCase<'_>, &mut Out<'_>)),
    /// When the head of an HTTP response is known.
    HttpResponse(fn(&HttpCase<'_>, &mut Out<'_>)),
    /// For every event of a stream.
    Sse(fn(&HttpCase<'_>, &mut Out<'_>)),
    /// When an HTTP exchange ends.
    HttpEnd(fn(&HttpCase<'_>, &mut Out<'_>)),
    /// At the end of the session.
    End(fn(&Closing<'_>, &mut Out<'_>)),
    /// Like the inner check if a message is not plain in these ways; otherwise it holds.
    Holds(Plain, &'static Self),
    /// Like the inner check if a message is not plain in these ways; otherwise it does not apply.
    Silent(Plain, &'static Self),
}

/// The directions of messages that a check applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directions {
    Any,
    ToServer,
    ToClient,
}

/// Some methods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Methods {
    All,
    Of(&'static [Method]),
}

impl Levels {
    /// Undefined; the start of a chain.
    pub const NOWHERE: Self = Self {
        must: Revisions::NONE,
        should: Revisions::NONE,
        derived: Revisions::NONE,
    };

    /// MUST in these.
    #[must_use]
    pub const fn must(mut self, revisions: Revisions) -> Self {
        self.must = revisions;
        self
    }

    /// SHOULD in these.
    #[must_use]
    pub const fn should(mut self, revisions: Revisions) -> Self {
        self.should = revisions;
        self
    }

    /// Derived in these.
    #[must_use]
    pub const fn derived(mut self, revisions: Revisions) -> Self {
        self.derived = revisions;
        self
    }

    /// All revisions that have it.
    #[must_use]
    pub const fn revisions(self) -> Revisions {
        self.must.and(self.should).and(self.derived)
    }

    /// How binding it is if the revision may be any of these: the least binding counts.
    #[must_use]
    pub fn severity(self, possible: Revisions) -> Severity {
        if self.derived.meets(possible) {
            Severity::Derived
        } else if self.should.meets(possible) {
            Severity::Should
        } else {
            Severity::Must
        }
    }

    /// The levels that it has anywhere, the most binding first.
    pub fn each(self) -> impl Iterator<Item = (Severity, Revisions)> {
        [
            (Severity::Must, self.must),
            (Severity::Should, self.should),
            (Severity::Derived, self.derived),
        ]
        .into_iter()
        .filter(|(_, revisions)| *revisions != Revisions::NONE)
    }
}

/// How much of what a rule examines is in a capture: the client's messages, and the server's
/// answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureCoverage {
    /// None of it.
    Nothing,
    /// The messages of one side.
    Partly,
    /// All of it.
    Whole,
}

impl Invariant {
    /// How much of what it examines is in a capture of this transport.
    pub(crate) fn kept(&self, transport: Transport) -> CaptureCoverage {
        let http = self.carriers.meets(Carriers::HTTP) && transport != Transport::Stdio;
        let lines = self.carriers.meets(Carriers::LINE) && transport != Transport::Http;
        if self.carriers != Carriers::ANY {
            // On another transport it does not apply, and that is visible.
            return if http || lines {
                CaptureCoverage::Nothing
            } else {
                CaptureCoverage::Whole
            };
        }
        let each = self.checks.iter().map(Check::kept);
        each.reduce(|one, other| {
            if one == other {
                one
            } else {
                CaptureCoverage::Partly
            }
        })
        .unwrap_or(CaptureCoverage::Whole)
    }
}

impl Check {
    fn kept(&self) -> CaptureCoverage {
        match self {
            Self::Request(way, ..) | Self::Notification(way, ..) => match way {
                Directions::Any => CaptureCoverage::Partly,
                Directions::ToServer => CaptureCoverage::Whole,
                Directions::ToClient => CaptureCoverage::Nothing,
            },
            // The direction is that of the request.
            Self::Response(Directions::ToClient, ..) => CaptureCoverage::Nothing,
            Self::Response(..)
            | Self::Payload(..)
            | Self::Message(_)
            | Self::Opening(_)
            | Self::AnyResponse(_)
            | Self::Error(_)
            | Self::End(_) => CaptureCoverage::Whole,
            Self::HttpRequest(_) | Self::HttpResponse(_) | Self::Sse(_) | Self::HttpEnd(_) => {
                CaptureCoverage::Nothing
            }
            Self::Holds(_, check) | Self::Silent(_, check) => check.kept(),
        }
    }
}

impl Directions {
    /// Whether this direction is included.
    pub(crate) fn has(self, dir: Direction) -> bool {
        match self {
            Self::Any => true,
            Self::ToServer => dir == Direction::ToServer,
            Self::ToClient => dir == Direction::ToClient,
        }
    }
}

impl Responsible {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "client or server",
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
