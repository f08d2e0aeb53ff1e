//! Decides what happens to each message.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    ConduitId, Direction, Effect, Offset, Release, Replacement, SessionKey, Until, What,
};

/// Decides what happens to each message.
///
/// While [`is_idle`](Self::is_idle) returns true, messages are neither held nor examined: an empty
/// rule set costs nothing.
pub trait Policy: Holds + Send {
    /// Whether every message would pass.
    fn is_idle(&self) -> bool;

    /// Decides about one whole message. Called once per message, in order.
    fn decide(&mut self, now: Offset, dir: Direction, message: &Message<'_>) -> Decision;

    /// The policy for one conversation, which shares only its rules with others.
    #[must_use]
    fn for_conduit(&self, _conduit: ConduitId, _session: SessionKey) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// Decides how long held messages are held.
pub trait Holds {
    /// Whether a message must still be held under a ticket.
    fn hold(&self, _now: Offset, _ticket: Ticket) -> Hold {
        Hold::Over(Release::Unknown)
    }

    /// Returns a ticket when its holder no longer needs it.
    fn give_back(&self, _ticket: Ticket) {}

    /// Increases whenever a ticket may end earlier than planned.
    fn changes(&self) -> u64 {
        0
    }

    /// When a ticket is due, as far as is known.
    fn due(&self, _ticket: Ticket) -> Option<Offset> {
        None
    }
}

/// One whole message.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its parsed envelope.
    pub envelope: &'a Envelope<'a>,
    /// Its bytes, with the end of its line.
    pub line: &'a Bytes,
}

impl Message<'_> {
    /// A line without its end.
    #[must_use]
    pub fn text_of(line: &[u8]) -> &[u8] {
        let text = line.strip_suffix(b"\n");
        text.map_or(line, |text| text.strip_suffix(b"\r").unwrap_or(text))
    }
}

/// Identifies held messages until their time or fault is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Whether a message must still be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// No, and the direction ends here.
    Cut,
    /// Yes; if the stream ends first, it is never forwarded.
    Lasting,
    /// No, for this reason.
    Over(Release),
    /// Yes; if the stream ends first, it is forwarded.
    Passing,
}

/// The decision about one message, and its effect on the tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The effect; `None` for a message that passed.
    pub effect: Option<Effect>,
    /// A held message may be forwarded now, after this message.
    pub releases: bool,
}

impl Decision {
    /// The message passes.
    pub const PASS: Self = Self {
        verdict: Verdict::Pass,
        effect: None,
        releases: false,
    };

    /// The ticket under which the message is held, with or without everything after it.
    #[must_use]
    pub fn ticket(&self) -> Option<Ticket> {
        match &self.verdict {
            Verdict::Hold { ticket, .. } => Some(*ticket),
            Verdict::Play(steps) => steps.iter().find_map(Step::ticket),
            Verdict::Drop | Verdict::Pass => None,
        }
    }
}

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Self {
        let effect = verdict.effect().map(Effect::plain);
        Self {
            verdict,
            effect,
            releases: false,
        }
    }
}

/// The verdict about one message. Every verdict but [`Pass`](Self::Pass) becomes a separate event,
/// so that no judge blames a peer for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The message is not forwarded.
    Drop,
    /// The message is forwarded when the ticket is over; later ones may overtake it.
    Hold {
        /// Determines when.
        ticket: Ticket,
        /// The latest time, as far as is known.
        due: Option<Offset>,
    },
    /// The message is forwarded unchanged.
    Pass,
    /// These steps replace the message; later messages wait for them.
    Play(Vec<Step>),
}

/// One step of what replaces a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A side action is carried out.
    Side(SideAction),
    /// This direction ends here.
    Cut,
    /// Nothing is forwarded until the ticket is over.
    Hold(Ticket),
    /// These bytes are forwarded; for a response, at least its head is sent.
    Send(Bytes),
    /// Nothing is read from the sender until the ticket is over.
    Stall(Ticket),
    /// Nothing is forwarded for this time, or until the ticket is over.
    Wait {
        /// The duration.
        time: Duration,
        /// The ticket, if the wait can end early.
        ticket: Option<Ticket>,
    },
}

impl Step {
    /// The ticket that later messages wait for.
    #[must_use]
    pub fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Hold(ticket) | Self::Stall(ticket) => Some(*ticket),
            Self::Wait { ticket, .. } => *ticket,
            Self::Side(_) | Self::Cut | Self::Send(_) => None,
        }
    }
}

/// An action of a fault that is not a message on the lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideAction {
    /// The client gets the answer in a way that a line cannot express.
    Answer {
        /// The answer, without the end of its line.
        line: Bytes,
        /// How it is delivered.
        given: Delivery,
    },
    /// The server's process exits with this status.
    Exit(u8),
    /// The client gets these bytes on the stream for logs.
    Log(Bytes),
}

/// How an answer is delivered to a client that uses HTTP while its server uses lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is repeated this many times.
    Again(u8),
    /// After a text that is not a message.
    Behind(Bytes),
    /// This many bytes of it, after which the connection is cut; `None` for no response at all.
    Cut(Option<usize>),
    /// Replaced by this text, which cannot be recognized as an answer to its request.
    Instead(Bytes),
    /// It is replaced by an HTTP status.
    Status {
        /// The status.
        status: u16,
        /// `Retry-After`, in seconds.
        retry_after: Option<u64>,
    },
}

impl Verdict {
    /// The effect on the tape; `None` for a message that passed.
    #[must_use]
    pub fn effect(&self) -> Option<What> {
        Some(match self {
            Self::Drop => What::Dropped { too_many: false },
            Self::Hold { .. } => What::Held {
                until: Until::Removed,
            },
            Self::Pass => return None,
            Self::Play(_) => What::Replaced {
                by: Replacement::Other,
                code: None,
            },
        })
    }
}

/// The policy without rules: everything passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transparent;

impl Holds for Transparent {}

impl Policy for Transparent {
    fn is_idle(&self) -> bool {
        true
    }

    fn decide(&mut self, _now: Offset, _dir: Direction, _message: &Message<'_>) -> Decision {
        Decision::PASS
    }
}
