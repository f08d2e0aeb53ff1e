//! What `run` says: one view of the results, and a text for each reporter.

mod github;
mod json;
mod junit;
mod markdown;
mod pretty;
mod tap;
mod view;

pub(crate) use self::view::{Redaction, View};

/// How results are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reporter {
    /// For people
    Pretty,
    /// One JSON object, as `tapewright schema report` describes it
    Json,
    /// XML for test reports
    Junit,
    /// The Test Anything Protocol, version 14
    Tap,
    /// Annotations of GitHub Actions
    Github,
    /// A table for a pull request
    Markdown,
}

impl Reporter {
    /// The results of all suites as text.
    pub(crate) fn text(self, views: &[View]) -> anyhow::Result<String> {
        Ok(match self {
            Self::Pretty => pretty::text(views),
            Self::Json => json::text(views),
            Self::Junit => junit::text(views)?,
            Self::Tap => tap::text(views),
            Self::Github => github::text(views),
            Self::Markdown => markdown::text(views),
        })
    }
}
