//! A provider's error instead of an answer.

use std::fmt;

use crate::Wire;

/// A failure that a provider reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The wire that it travelled on.
    pub wire: Wire,
    /// The HTTP status; `None` in the middle of a stream.
    pub status: Option<u16>,
    /// Its meaning.
    pub kind: ErrorKind,
    /// The wire's own word: `overloaded_error`, `RESOURCE_EXHAUSTED`, `insufficient_quota`.
    pub word: Option<String>,
    /// The provider's message, without keys and limited to 2,000 characters.
    pub message: String,
    /// How long to wait before a retry, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.wire.provider())?;
        if let Some(status) = self.status {
            write!(f, " answered {status}")?;
        }
        if let Some(word) = &self.word {
            write!(f, " ({word})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ApiError {}

/// The meaning of an error for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid for the provider.
    Invalid,
    /// The key is missing, wrong, or may not.
    Auth,
    /// The model or address does not exist.
    NotFound,
    /// It is larger than the provider takes.
    TooLarge,
    /// Too many requests in too little time.
    RateLimit,
    /// The account has no money or quota left; waiting does not help.
    Quota,
    /// The provider is overloaded.
    Overloaded,
    /// It took too long.
    Timeout,
    /// The provider failed.
    Server,
    /// Something else.
    Other,
}

impl ErrorKind {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Overloaded | Self::Timeout | Self::Server
        )
    }

    /// Its name in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid request",
            Self::Auth => "authentication",
            Self::NotFound => "not found",
            Self::TooLarge => "too large",
            Self::RateLimit => "rate limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Server => "server error",
            Self::Other => "other",
        }
    }
}
