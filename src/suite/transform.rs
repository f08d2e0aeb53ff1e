//! Commands that transform a value: JSON on their standard input, JSON on their standard output.

use std::path::Path;
use std::time::Duration;

use tapewright_assertions::{Json, TransformError};

use super::program::{Program, TIME};

/// The folder and the time limit of a command.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    /// The folder of the suite.
    pub(super) folder: &'a Path,
    pub(super) time: Option<Duration>,
}

/// The size limit of a command's output, in bytes.
const OUTPUT_BYTES: usize = 64 << 20;

/// Runs a command on a value, with these variables on top of the environment.
///
/// The error completes "the command …".
pub(super) fn run(
    command: &[String],
    variables: &[(String, String)],
    value: &Json,
    bounds: &Bounds<'_>,
) -> Result<Json, TransformError> {
    let program = Program {
        command,
        variables: variables.to_vec(),
        beside: bounds.folder,
        folder: None,
        time: bounds.time.unwrap_or(TIME),
        most: OUTPUT_BYTES,
        stop: None,
    };
    let link = program.open().map_err(TransformError::NotStarted)?;
    let output = program
        .finish(link, value.to_string().into_bytes())
        .map_err(TransformError::Failed)?;
    Json::read(&output)
        .map_err(|error| TransformError::Failed(format!("did not write one JSON value: {error}")))
}
