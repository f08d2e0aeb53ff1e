//! How exchanges end.

use serde::Serialize;

use crate::cassette::ends;

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
    /// Its HTTP exchange brought an error status.
    HttpError,
    /// A fault kept the request or its answer back to the end.
    KeptByFault,
    /// Its HTTP exchange brought no response to it.
    NoResponse,
    /// Who was to answer left.
    PeerGone,
    /// The recording ended first.
    StillPending,
    /// Something that was not recorded may have been its answer.
    #[default]
    Unknown,
}

impl Outcome {
    /// Whether there was an answer that reached its sender.
    #[must_use]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Answered | Self::Error)
    }

    /// How the waiting ended, in the words of a cassette's `unanswered`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Answered | Self::Error => "answered",
            Self::Cancelled => ends::CANCELLED,
            Self::ClientGone => ends::CLIENT_GONE,
            Self::Failed => ends::FAILED,
            Self::HttpError => ends::HTTP_ERROR,
            Self::NoResponse => ends::NO_RESPONSE,
            Self::PeerGone => ends::PEER_GONE,
            Self::KeptByFault | Self::StillPending | Self::Unknown => ends::STILL_PENDING,
        }
    }

    /// The outcome of a word of a cassette's `unanswered`.
    pub(super) fn of_word(word: &str) -> Self {
        let all = [
            Self::Cancelled,
            Self::ClientGone,
            Self::Failed,
            Self::HttpError,
            Self::NoResponse,
            Self::PeerGone,
        ];
        let mut all = all.into_iter();
        all.find(|one| one.word() == word)
            .unwrap_or(Self::StillPending)
    }
}
