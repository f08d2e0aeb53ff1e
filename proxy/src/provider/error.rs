//! Errors of requests to a provider.

use std::fmt;
use std::time::Duration;

use tapewright_models::ReadError;
use tapewright_models::conversation::ApiError;

use crate::http::origin::{BadUrl, SendError};

/// A request to a provider without an answer. Its text contains no key.
#[derive(Debug)]
pub struct ProviderError {
    /// The provider, by its name in the suite or its family.
    pub provider: String,
    /// The requested model.
    pub model: String,
    /// How often the request was sent.
    pub attempts: u32,
    /// Why there is no answer.
    pub cause: Cause,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The provider returned an error.
    #[error("{}", told(.0))]
    Api(Box<ApiError>),
    /// The answer cannot be parsed.
    #[error("cannot read its response")]
    Read(#[source] ReadError),
    /// The answer was cut off, or exceeds the limit.
    #[error("its response was cut off, or is longer than {0} bytes")]
    Body(usize),
    /// The request could not be sent, or had no answer.
    #[error("cannot connect to it")]
    Send(#[source] SendError),
    /// It exceeded the timeout for any answer.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The caller's timeout passed.
    #[error("no answer before the time limit")]
    OutOfTime,
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The provider has no embeddings: nothing was sent.
    #[error("it has no embeddings")]
    NoEmbeddings,
    /// Its address cannot be used.
    #[error("invalid address")]
    Url(#[source] BadUrl),
    /// Its URL and the path of the request do not form a valid path.
    #[error("invalid path in its address")]
    Path,
    /// The value of a header field is invalid, and not repeated here.
    #[error("the header `{0}` has an invalid value")]
    Field(&'static str),
    /// A runtime could not be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] std::io::Error),
}

impl Cause {
    /// The error without the key, which some providers repeat.
    pub(super) fn without(mut self, key: &str) -> Self {
        if let (Self::Api(error), false) = (&mut self, key.is_empty()) {
            error.message = error.message.replace(key, "<key>");
        }
        self
    }
}

fn told(error: &ApiError) -> String {
    let status = error
        .status
        .map_or(String::new(), |status| format!(" {status}"));
    let word = error.word.as_deref().unwrap_or(error.kind.name());
    format!("it answered{status} ({word}): {}", error.message)
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            provider,
            model,
            attempts,
            cause,
        } = self;
        write!(f, "provider `{provider}`, model `{model}`: {cause}")?;
        if *attempts > 1 {
            write!(f, " (asked {attempts} times)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProviderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}
