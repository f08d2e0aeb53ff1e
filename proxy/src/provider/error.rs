//! Why a provider gave no answer.

use std::fmt;
use std::time::Duration;

use tapewright_models::ReadError;
use tapewright_models::conversation::ApiError;

use crate::http::origin::{BadUrl, SendError};

/// No answer of a provider. Its text holds no key.
#[derive(Debug)]
pub struct ProviderError {
    /// The provider, as the suite or its family calls it.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// How often it was asked.
    pub attempts: u32,
    /// Why there is no answer.
    pub cause: Cause,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The provider says why.
    #[error("{}", told(.0))]
    Api(Box<ApiError>),
    /// What it answered cannot be read.
    #[error("cannot read its response")]
    Read(#[source] ReadError),
    /// The answer broke off, or is longer than is read.
    #[error("its response was cut off, or is longer than {0} bytes")]
    Body(usize),
    /// The request could not be sent, or had no answer.
    #[error("cannot connect to it")]
    Send(#[source] SendError),
    /// It took longer than any answer may.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The caller's time was over.
    #[error("no answer before the time limit")]
    OutOfTime,
    /// We were asked to end.
    #[error("interrupted")]
    Interrupted,
    /// It has no embeddings: nothing was sent.
    #[error("it has no embeddings")]
    NoEmbeddings,
    /// Its address cannot be used.
    #[error("invalid address")]
    Url(#[source] BadUrl),
    /// Its address and the path of the request are no path together.
    #[error("invalid path in its address")]
    Path,
    /// A field cannot be sent: its value is not repeated.
    #[error("the header `{0}` has an invalid value")]
    Field(&'static str),
    /// No runtime could be had.
    #[error("cannot start the async runtime")]
    Runtime(#[source] std::io::Error),
}

impl Cause {
    /// The same without the key, which some providers repeat.
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
