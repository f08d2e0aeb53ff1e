//! The option `--format` of commands that print text or JSON.

use clap::{Args, ValueEnum};

/// The output format of a command.
#[derive(Debug, Args)]
pub(crate) struct FormatArguments {
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for people
    Pretty,
    /// JSON
    Json,
}

impl FormatArguments {
    /// Whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}
