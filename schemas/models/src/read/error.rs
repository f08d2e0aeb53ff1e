//! Why something could not be read.

/// Why a body could not be read, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at `{}`", if self.pointer.is_empty() { "/" } else { &self.pointer })]
pub struct ReadError {
    /// The JSON pointer (RFC 6901) of the value; empty for the whole document.
    pub pointer: String,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not JSON, or nested deeper than 128 levels.
    #[error("not JSON ({0})")]
    NotJson(String),
    /// It has another type.
    #[error("expected {0}")]
    Expected(&'static str),
    /// It must be there.
    #[error("missing member")]
    Missing,
    /// It is longer than is read here.
    #[error("too long: at most {limit} {unit} are read")]
    TooLong {
        /// The limit.
        limit: usize,
        /// The unit of the limit.
        unit: &'static str,
    },
}

impl ReadError {
    pub(crate) fn new(problem: Problem) -> Self {
        Self {
            pointer: String::new(),
            problem,
        }
    }

    pub(crate) fn expected(what: &'static str) -> Self {
        Self::new(Problem::Expected(what))
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::new(Problem::NotJson(error.to_string()))
    }

    /// The same error, seen from the object or list around it.
    pub(crate) fn under(mut self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &step);
        self.pointer.insert(0, '/');
        self
    }
}
