//! What may be done to a message on its way.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    ConduitId, Direction, Effect, Offset, Release, Replacement, SessionKey, Until, What,
};

/// Decides the fate of each message.
///
/// While [`is_idle`](Self::is_idle) holds, messages are neither held nor looked at: an
/// empty rule set costs nothing.
pub trait Policy: Holds + Send {
    /// Whether every message would pass.
    fn is_idle(&self) -> bool;

    /// The fate of one whole message. Called once per message, in order.
    fn decide(&mut self, now: Offset, dir: Direction, message: &Message<'_>) -> Decision;

    /// The policy of one conversation, which shares nothing with the next but its rules.
    #[must_use]
    fn for_conduit(&self, _conduit: ConduitId, _session: SessionKey) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// Says of what is held whether it is to be held any longer.
pub trait Holds {
    /// Whether what was held under a ticket is still to be held.
    fn hold(&self, _now: Offset, _ticket: Ticket) -> Hold {
        Hold::Over(Release::Unknown)
    }

    /// Who held something under a ticket does so no longer.
    fn give_back(&self, _ticket: Ticket) {}

    /// Grows whenever a ticket may be over before the time that was known for it.
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
    /// What it is.
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

/// Under which something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Whether something is to be held any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The direction is to end here.
    Cut,
    /// It is, and when the stream ends first it is never passed on.
    Lasting,
    /// It is no longer, for this reason.
    Over(Release),
    /// It is, and when the stream ends first it is passed on.
    Passing,
}

/// The fate of one message, and what the tape says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its fate.
    pub verdict: Verdict,
    /// What was done; `None` for a message that passed.
    pub effect: Option<Effect>,
    /// Something that is held may be passed on now, behind this message.
    pub releases: bool,
}

impl Decision {
    /// The message passes.
    pub const PASS: Self = Self {
        verdict: Verdict::Pass,
        effect: None,
        releases: false,
    };

    /// Under which the message is held, with or without all that follows it.
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

/// The fate of one message. Every verdict but [`Pass`](Self::Pass) becomes an event of
/// its own, so that no judge blames a peer for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The message goes no further.
    Drop,
    /// The message is passed on when the ticket's time is over; later ones may overtake it.
    Hold {
        /// Says when.
        ticket: Ticket,
        /// When at the latest, as far as is known.
        due: Option<Offset>,
    },
    /// The message is passed on as it is.
    Pass,
    /// These steps take the place of the message; later messages wait for them.
    Play(Vec<Step>),
}

/// One step of what takes the place of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something beside this direction is done.
    Side(SideAction),
    /// This direction ends here.
    Cut,
    /// Nothing is passed on until the ticket's time is over.
    Hold(Ticket),
    /// These bytes are passed on; of a response, its head at least.
    Send(Bytes),
    /// Nothing is read from the sender until the ticket's time is over.
    Stall(Ticket),
    /// Nothing is passed on for this time, unless the ticket's time is over before.
    Wait {
        /// For how long.
        time: Duration,
        /// Under which it waits, where that can end early.
        ticket: Option<Ticket>,
    },
}

impl Step {
    /// Under which it makes what follows wait.
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
    /// The server's process ends with this status.
    Exit(u8),
    /// The client gets these bytes on the stream of logs.
    Log(Bytes),
}

/// How an answer is given to a client that speaks HTTP, where its server speaks lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// So many times more than once.
    Again(u8),
    /// Behind a text that is no message.
    Behind(Bytes),
    /// So many bytes of it, and then the connection is cut; `None` for no response at all.
    Cut(Option<usize>),
    /// An HTTP status in its place.
    Status {
        /// The status.
        status: u16,
        /// `Retry-After`, in seconds.
        retry_after: Option<u64>,
    },
}

impl Verdict {
    /// What the tape says was done; `None` for a message that passed.
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
