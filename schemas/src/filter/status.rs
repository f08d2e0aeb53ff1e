//! The values of `status:`.

use super::{LineKind, Subject};
use crate::conversation::Outcome;

/// How an exchange ended, or a property of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Cancelled,
    Error,
    Fault,
    Finding,
    Gone,
    Late,
    /// An HTTP status, or the code of an error.
    Number(i64),
    Ok,
    Pending,
    Unknown,
}

impl Status {
    pub(super) fn read(word: &str) -> Option<Self> {
        Some(match word {
            "cancelled" => Self::Cancelled,
            "error" => Self::Error,
            "fault" => Self::Fault,
            "finding" => Self::Finding,
            "gone" => Self::Gone,
            "late" => Self::Late,
            "ok" => Self::Ok,
            "pending" => Self::Pending,
            "unknown" => Self::Unknown,
            number => Self::Number(number.parse().ok()?),
        })
    }

    pub(super) fn is_late(self) -> bool {
        self == Self::Late
    }

    pub(super) fn matches(self, one: &Subject<'_>) -> bool {
        let ended = |all: &[Outcome]| one.outcome.is_some_and(|outcome| all.contains(&outcome));
        match self {
            Self::Cancelled => ended(&[Outcome::Cancelled]),
            Self::Error => {
                one.tool_error || ended(&[Outcome::Error, Outcome::Failed, Outcome::HttpError])
            }
            Self::Fault => one.has_fault,
            Self::Finding => one.has_findings,
            Self::Gone => ended(&[Outcome::ClientGone, Outcome::NoResponse, Outcome::PeerGone]),
            Self::Late => one.kind == LineKind::Late,
            Self::Number(number) => {
                one.error_code == Some(number) || one.http_status.map(i64::from) == Some(number)
            }
            Self::Ok => !one.tool_error && ended(&[Outcome::Answered]),
            Self::Pending => ended(&[Outcome::KeptByFault, Outcome::StillPending]),
            Self::Unknown => ended(&[Outcome::Unknown]),
        }
    }
}
