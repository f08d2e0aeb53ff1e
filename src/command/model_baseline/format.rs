//! The format of a comparison's report.

use clap::ValueEnum;
use tapewright_baselines::{Comparison, Outcome};

use crate::exit::Exit;
use crate::report::baseline::Compared;
use crate::report::formats::{self, Reportable as _};

/// The format of a comparison's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// A table for a pull request
    Markdown,
    /// JUnit XML
    Junit,
    /// Annotations for GitHub Actions
    Github,
    /// An HTML page
    Html,
}

impl Format {
    /// A comparison in this format.
    pub(super) fn text(self, compared: &Compared<'_>) -> anyhow::Result<String> {
        compared.text(match self {
            Self::Pretty => formats::Format::Pretty,
            Self::Json => formats::Format::Json,
            Self::Markdown => formats::Format::Markdown,
            Self::Junit => formats::Format::Junit,
            Self::Github => formats::Format::Github,
            Self::Html => return Ok(formats::html::text(&compared.report())),
        })
    }
}

/// The exit status of a comparison.
pub(super) fn exit(comparison: &Comparison) -> Exit {
    match comparison.outcome() {
        Outcome::Pass => Exit::Pass,
        Outcome::Drift => Exit::Drift,
        Outcome::Fail => Exit::Fail,
        Outcome::Invalid => Exit::Unusable,
        Outcome::Empty => Exit::Inconclusive,
    }
}
