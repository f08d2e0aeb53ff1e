//! Suites: YAML documents with expectations about servers.
//!
//! [`load()`] reads a suite with its imports, replaces its variables, checks every key, type and
//! name, and returns plain typed values. Each error is an [`Issue`] at the offending field itself,
//! and one run finds many.
//!
//! The package is pure: files and environment are arguments ([`Files`], [`Environment`]). The
//! meaning of an assertion is not defined here; [`suite::expect::Assertion`] keeps it as written,
//! and [`Suite::place`] finds the position of an error in it.

pub mod calibration;
mod check;
pub mod corpus;
pub mod issue;
mod load;
pub mod migrate;
mod near;
mod read;
mod secrets;
pub mod source;
pub mod suite;
pub mod template;
mod variables;
mod yaml;

pub use issue::{Code, Issue, Severity};
pub use load::{EnvFiles, Files, Loaded, MAX_FILE_BYTES, load, load_faults};
pub use near::listed;
pub use secrets::Secrets;
pub use source::{Excerpt, FileId, Source, SourceSpot, Sources, Span};
pub use suite::Suite;
pub use suite::expect::Assertion;
pub use variables::Environment;

/// A document as JSON, as the published schema sees it: before variables are replaced.
/// Nothing when it is not one YAML document.
#[must_use]
pub fn to_json(text: &str) -> Option<serde_json::Value> {
    let (root, problems) = yaml::parse(text);
    root.filter(|_| problems.is_empty())
        .map(|root| root.to_value())
}

#[cfg(test)]
mod tests;
