//! The three formats, read into one tree.

mod json;
mod toml;
mod yaml;

use std::ops::Range;

use crate::node::Node;
use tapewright_schemas::slices::Front as _;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Format {
    /// The format for the extension of a path.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let ending = path.rsplit('.').next().unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            _ => Self::Json,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    pub(crate) fn read(self, text: &str) -> Result<Tree, Unreadable> {
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }
}

/// A file as a tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: Node,
    /// The positions of comments; only for JSON.
    pub(crate) comments: Vec<Range<usize>>,
}

/// A text that does not have its format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Unreadable {
    /// The line, from 1 on.
    pub line: usize,
    /// The error.
    pub what: String,
}

impl Unreadable {
    fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        // The parsers of YAML and TOML report a position, which may be the end of the file.
        let front = text.front(offset);
        Self {
            line: front.matches('\n').count() + 1,
            what: what.into(),
        }
    }
}
