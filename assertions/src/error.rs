//! Errors in a suite, as opposed to a server.

/// An error that is found without running anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// JSON pointer to the offending value, relative to the compiled one.
    pub pointer: String,
    /// The error.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

impl LoadError {
    /// An error in the value itself.
    pub(crate) fn here(message: impl Into<String>) -> Self {
        Self {
            pointer: String::new(),
            message: message.into(),
            help: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error, seen from the value around it.
    #[must_use]
    pub(crate) fn under(mut self, member: impl AsRef<str>) -> Self {
        self.pointer = format!("/{}{}", escaped(member.as_ref()), self.pointer);
        self
    }
}

/// An assertion that could not be judged: an error in the suite, not of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvalError(pub String);

impl EvalError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A member's name as a token of a JSON pointer (RFC 6901, section 3).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
