//! The corpus of one version.

use std::path::PathBuf;

use tapewright_config::Files;
use tapewright_config::corpus::{CorpusFile, DRAFT, Read, Rule, load_corpus, read_corpus};
use tapewright_config::source::Sources;
use tapewright_schemas::order::Order as _;

use crate::embedded;

/// The rules of one version, in the order of their ids.
#[derive(Clone, Debug)]
pub struct VersionCorpus {
    /// The name of its folder: `v2025-06-18`, `draft`.
    pub version: String,
    /// Ids are unique.
    pub rules: Vec<Rule>,
    /// The files that places are in.
    pub sources: Sources,
}

impl VersionCorpus {
    /// Loads the files of a folder; only those whose names end in `.yml` are read. An error in one
    /// of them is reported with its position, and then there is no corpus.
    #[must_use]
    pub fn load(version: &str, paths: &[PathBuf], files: &dyn Files) -> Read<Self> {
        Self::of(version, load_corpus(Some(version), paths, files))
    }

    /// The embedded corpus of a version; `None` if there is none. It has no issues, as a test
    /// ensures.
    #[must_use]
    pub fn embedded(version: &str) -> Option<Self> {
        Self::embedded_read(version)?.value
    }

    /// Like [`VersionCorpus::embedded`], with its issues.
    #[must_use]
    pub fn embedded_read(version: &str) -> Option<Read<Self>> {
        if !embedded::VERSIONS.contains(&version) {
            return None;
        }
        let texts = embedded::of_version(version);
        let texts = texts.map(|(path, text)| (path.into(), text.to_owned()));
        Some(Self::read(version, texts))
    }

    /// Reads the corpus of a version from texts.
    #[must_use]
    pub fn read(version: &str, texts: impl IntoIterator<Item = (PathBuf, String)>) -> Read<Self> {
        Self::of(version, read_corpus(Some(version), texts))
    }

    fn of(version: &str, read: Read<Vec<CorpusFile>>) -> Read<Self> {
        let sources = read.sources.clone();
        read.map(|files| {
            let mut rules: Vec<_> = files.into_iter().flat_map(|file| file.rules).collect();
            rules.order_by(|one, other| one.id.cmp(&other.id));
            Self {
                version: version.to_owned(),
                rules,
                sources,
            }
        })
    }

    /// The rule with this id.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        let found = self.rules.binary_search_by(|rule| rule.id.as_str().cmp(id));
        found.ok().and_then(|index| self.rules.get(index))
    }

    /// The revision as peers write it, `2025-06-18`; nothing for the draft.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.version
            .strip_prefix('v')
            .filter(|_| self.version != DRAFT)
    }
}

/// The names of the embedded versions, oldest first, the draft last.
pub fn embedded_versions() -> impl Iterator<Item = &'static str> {
    embedded::VERSIONS.into_iter()
}
