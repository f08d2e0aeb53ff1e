//! What judging needs from outside: files, processes and models.

use crate::error::EvalError;
use crate::json::Json;
use crate::judging::{Opinion, Question};

/// The environment of a judgement, provided by the runner of a suite.
pub trait World {
    /// Runs the command of a transform on a value and returns its output.
    ///
    /// If it was started, an error fails the assertion; if it could not be, it is one in the suite.
    fn transform(
        &self,
        phase: Phase,
        command: &[String],
        value: &Json,
    ) -> Result<Json, TransformError>;

    /// The recorded value with the key of a snapshot; `update` means to record `actual` instead.
    fn snapshot(&self, key: &str, actual: &Json, update: bool) -> Result<Snapshot, EvalError>;

    /// Asks models about a candidate: the text at the target of an assertion.
    fn consult(&self, question: &Question<'_>, candidate: &str) -> Opinion;
}

/// Why a transform has no output, with its command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransformError {
    /// The command ran, and failed.
    #[error("{0}")]
    Failed(String),
    /// The command cannot be started: nothing can be judged.
    #[error("{0}")]
    NotStarted(String),
}

/// The value that a transform gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The value at the target of an assertion.
    Assertion,
    /// The parameters of a request.
    Request,
    /// The envelope of an answer.
    Response,
}

impl Phase {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// The result of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum Snapshot {
    /// It did not exist, or was to be updated: now it is the actual value.
    Recorded,
    /// It does not exist, and none may be recorded here; says which, and what to do.
    Missing(String),
    /// It was recorded before.
    Known {
        /// The recorded value.
        value: Json,
        /// The file, as a person names it.
        file: String,
    },
}

/// A world without files and processes.
#[derive(Clone, Copy, Debug)]
pub struct NoWorld;

impl World for NoWorld {
    fn transform(&self, _: Phase, _: &[String], _: &Json) -> Result<Json, TransformError> {
        let why = "no process can be started here";
        Err(TransformError::Failed(why.to_owned()))
    }

    fn snapshot(&self, key: &str, _: &Json, _: bool) -> Result<Snapshot, EvalError> {
        Err(EvalError::new(format!(
            "the snapshot `{key}` cannot be read here"
        )))
    }

    fn consult(&self, _: &Question<'_>, _: &str) -> Opinion {
        Opinion::Unknown("no model can be asked here".to_owned())
    }
}
