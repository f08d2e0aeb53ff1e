//! One writer for each format.

pub(crate) mod github;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod pretty;
pub(crate) mod sarif;
pub(crate) mod tap;

use super::model::Report;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// JUnit XML
    Junit,
    /// Test Anything Protocol, version 14
    Tap,
    /// Annotations for GitHub Actions
    Github,
    /// A table for a pull request
    Markdown,
}

/// A result that can be written in every format: a document for programs, and a report.
pub(crate) trait Reportable {
    /// The report.
    fn report(&self) -> Report;

    /// The document for programs.
    fn json(&self) -> anyhow::Result<String>;

    /// The text for people.
    fn pretty(&self) -> String {
        pretty::text(&self.report())
    }

    /// The text in a format.
    fn text(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Pretty => self.pretty(),
            Format::Json => self.json()?,
            Format::Junit => junit::text(&self.report())?,
            Format::Tap => tap::text(&self.report()),
            Format::Github => github::text(&self.report()),
            Format::Markdown => markdown::text(&self.report()),
        })
    }
}
