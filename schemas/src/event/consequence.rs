//! What an effect means for the receiver of a message.

use super::Offset;
use super::effect::{Replacement, Unable, What};

impl What {
    /// Whether its receiver gets nothing that it could take for this message until the fault is
    /// removed, if ever.
    #[must_use]
    pub fn keeps_back(&self) -> bool {
        matches!(
            self,
            Self::Behind { .. }
                | Self::CancellationKept
                | Self::Dropped { .. }
                | Self::Held { .. }
                | Self::HeldAll { .. }
                | Self::HeldAmid
                | Self::Stalled { .. }
                | Self::Replaced {
                    by: Replacement::Truncated | Replacement::WrongId,
                    ..
                }
        )
    }

    /// Whether a message that it keeps back may still be forwarded, which is then recorded.
    #[must_use]
    pub fn may_be_released(&self) -> bool {
        matches!(
            self,
            Self::Behind { .. }
                | Self::Held { .. }
                | Self::HeldAll { .. }
                | Self::HeldAmid
                | Self::Stalled { .. }
        )
    }

    /// What its receiver gets in place of an answer, if that is not the answer.
    #[must_use]
    pub fn in_place(&self) -> Option<InItsPlace> {
        match self {
            Self::Answered { status } => Some(InItsPlace::Status(*status)),
            Self::Cut { all } => Some(InItsPlace::Cut { all: *all }),
            Self::Replaced {
                by: Replacement::Error,
                code,
            } => Some(InItsPlace::Error(*code)),
            _ => None,
        }
    }

    /// How much later the message is forwarded, if known.
    #[must_use]
    pub fn delay(&self) -> Option<Offset> {
        match self {
            Self::Delayed { by } => Some(*by),
            Self::Sliced { by, .. } => *by,
            _ => None,
        }
    }

    /// Whether its receiver got something else than its sender sent, or nothing, if the message is
    /// not released later: what the receiver does then may be our doing.
    #[must_use]
    pub fn misleads(&self) -> bool {
        self.keeps_back() && *self != Self::CancellationKept
            || matches!(
                self,
                Self::Changed
                    | Self::Cut { .. }
                    | Self::Ended
                    | Self::NotPassed { .. }
                    | Self::Preceded
                    | Self::Repeated { .. }
                    | Self::Replaced { .. }
            )
    }

    /// Whether held messages are forwarded now: this message, or also everything that waited behind
    /// it.
    #[must_use]
    pub fn release(&self) -> Option<ReleasedPart> {
        match self {
            Self::Released { all: true, .. } => Some(ReleasedPart::All),
            Self::Released { .. } => Some(ReleasedPart::One),
            _ => None,
        }
    }

    /// Whether the receiver left, or was cut off, while it was held.
    #[must_use]
    pub fn left(&self) -> bool {
        matches!(self, Self::Left { .. } | Self::CutOff { .. })
    }

    /// Whether it is about one message, and not about several or none.
    #[must_use]
    pub fn is_about_a_message(&self) -> bool {
        !matches!(
            self,
            Self::EventsGone { .. }
                | Self::GivenUp { .. }
                | Self::Lost { .. }
                | Self::NotDone {
                    why: Unable::TooManyWedged
                }
                | Self::Unread { .. }
        )
    }

    /// Whether it reports the end of an earlier effect of a fault.
    #[must_use]
    pub fn is_sequel(&self) -> bool {
        self.release().is_some() || self.left()
    }
}

/// What the receiver of an answer gets in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InItsPlace {
    /// The end of the connection.
    Cut {
        /// After the whole message.
        all: bool,
    },
    /// An error of JSON-RPC, with its code if it is known.
    Error(Option<i64>),
    /// An HTTP status.
    Status(u16),
}

/// What is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleasedPart {
    /// The message and everything that waited behind it.
    All,
    /// The message.
    One,
}
