//! How exchanges end.

use serde::Serialize;

use crate::cassette::NoAnswer;

/// How an exchange ended for its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With a result.
    Answered,
    /// Its sender gave it up.
    Cancelled,
    /// The client left.
    ClientGone,
    /// With an error of JSON-RPC.
    Error,
    /// Its HTTP exchange failed.
    Failed,
    /// Its HTTP exchange ended with an error status.
    HttpError,
    /// A fault held the request or its answer back until the end.
    KeptByFault,
    /// Its HTTP exchange ended without a response to it.
    NoResponse,
    /// The peer that should have answered left.
    PeerGone,
    /// The recording ended first.
    StillPending,
    /// Something that was not recorded may have been its answer.
    #[default]
    Unknown,
}

impl Outcome {
    /// Whether there was an answer and it reached the sender.
    #[must_use]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Answered | Self::Error)
    }

    /// Whether nothing shows that it ended.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(self, Self::KeptByFault | Self::StillPending | Self::Unknown)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn write_word<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.word())
    }

    /// The outcome as a token: `answered`, or that of a cassette's `unanswered`.
    #[must_use]
    pub fn word(self) -> &'static str {
        if self.is_answer() {
            "answered"
        } else {
            self.why().name()
        }
    }

    /// Why there was no answer, as a word of the cassette format; for an answer, that of an unknown
    /// reason.
    #[must_use]
    pub fn why(self) -> NoAnswer {
        match self {
            Self::Cancelled => NoAnswer::Cancelled,
            Self::ClientGone => NoAnswer::ClientGone,
            Self::Failed => NoAnswer::Failed,
            Self::HttpError => NoAnswer::HttpError,
            Self::NoResponse => NoAnswer::NoResponse,
            Self::PeerGone => NoAnswer::PeerGone,
            Self::Answered
            | Self::Error
            | Self::KeptByFault
            | Self::StillPending
            | Self::Unknown => NoAnswer::StillPending,
        }
    }
}

impl From<NoAnswer> for Outcome {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Cancelled => Self::Cancelled,
            NoAnswer::ClientGone => Self::ClientGone,
            NoAnswer::Failed => Self::Failed,
            NoAnswer::HttpError => Self::HttpError,
            NoAnswer::NoResponse => Self::NoResponse,
            NoAnswer::PeerGone => Self::PeerGone,
            NoAnswer::StillPending => Self::StillPending,
        }
    }
}
