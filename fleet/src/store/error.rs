//! Errors of a store, without credentials.

use std::time::Duration;

use object_store::Error;

/// Why a store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct StoreError {
    /// The kind of problem.
    pub problem: Problem,
    text: String,
}

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The name is taken.
    Taken,
    /// The object does not exist.
    Missing,
    /// An object has the wrong contents.
    Bad,
    /// The arguments or the environment are wrong: trying again is useless.
    Unusable,
    /// The store could not be reached, or reported an error: trying again may help.
    Away,
}

/// How many characters of a store's message are shown.
const TEXT_LIMIT: usize = 600;
/// The shortest value of the environment that is searched for in errors, in characters. Shorter
/// ones are not secrets.
const SECRET: usize = 6;

impl StoreError {
    /// An object with the wrong contents.
    #[must_use]
    pub fn bad(path: &str, why: &str) -> Self {
        Self {
            problem: Problem::Bad,
            text: format!("cannot read `{path}`: {why}"),
        }
    }

    /// Arguments or an environment without a valid store.
    #[must_use]
    pub fn unusable(text: String) -> Self {
        Self {
            problem: Problem::Unusable,
            text,
        }
    }

    /// A file of a folder that could not be read or removed.
    pub(super) fn file(path: &std::path::Path, why: &std::io::Error) -> Self {
        Self {
            problem: Problem::Away,
            text: format!("cannot use `{}`: {why}", path.display()),
        }
    }

    /// A store that did not answer in time.
    #[must_use]
    pub(super) fn slow(patience: Duration) -> Self {
        Self {
            problem: Problem::Away,
            text: format!("no answer from the store within {} s", patience.as_secs()),
        }
    }
}

/// Values that errors must not contain.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn new(values: impl Iterator<Item = String>) -> Self {
        Self(values.filter(|value| value.len() >= SECRET).collect())
    }

    /// The message of a store's error, without secrets and on one line.
    pub(super) fn error(&self, error: &Error) -> StoreError {
        let problem = match error {
            Error::AlreadyExists { .. } | Error::Precondition { .. } => Problem::Taken,
            Error::NotFound { .. } => Problem::Missing,
            _ => Problem::Away,
        };
        StoreError {
            problem,
            text: self.told(error),
        }
    }

    /// The message of an error and its causes, without secrets and on one line.
    pub(crate) fn told(&self, error: &dyn std::error::Error) -> String {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let next = error.to_string();
            if !text.contains(&next) {
                text = format!("{text}: {next}");
            }
            cause = error.source();
        }
        self.plain(&text)
    }

    /// A text without secrets, on one line, and cut to the limit.
    pub(crate) fn plain(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret.as_str(), "[secret]");
        }
        let plain = |char: char| if char.is_control() { ' ' } else { char };
        let mut short: String = text.chars().take(TEXT_LIMIT).map(plain).collect();
        if text.chars().count() > TEXT_LIMIT {
            short.push('…');
        }
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_tells_a_secret() {
        let secrets = Secrets::new(
            ["AKIA4711OURS", "s3cr3t-key", "x"]
                .map(str::to_owned)
                .into_iter(),
        );
        let error = Error::Generic {
            store: "S3",
            source: "<AWSAccessKeyId>AKIA4711OURS</AWSAccessKeyId>\n<Of>s3cr3t-key</Of>".into(),
        };
        let told = secrets.error(&error);
        let text = told.to_string();
        assert!(!text.contains("4711") && !text.contains("s3cr3t"), "{text}");
        assert!(text.contains("[secret]") && !text.contains('\n'));
        assert_eq!(told.problem, Problem::Away);
    }

    #[test]
    fn a_long_error_is_cut() {
        let error = Error::Generic {
            store: "S3",
            source: "ä".repeat(10_000).into(),
        };
        let text = Secrets::default().error(&error).to_string();
        assert_eq!(text.chars().count(), TEXT_LIMIT + 1);
    }
}
