//! Finds the version that a server or a recording is judged by.

use std::path::Path;

use tapewright_corpus::revision::version_for;
use tapewright_corpus::rule::Registry;
use tapewright_corpus::version::VersionCorpus;

use crate::command::compliance::corpora::Corpora;
use crate::report::{self, Mistake};

/// A registry, and its corpora.
pub(crate) struct Versions {
    corpora: Corpora,
}

impl Versions {
    /// The registry in a file; otherwise the one in the working folder, or the built-in one.
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let corpora = Corpora::open(path)?;
        Ok(Self { corpora })
    }

    /// Every rule.
    pub(crate) fn registry(&self) -> &Registry {
        &self.corpora.registry
    }

    /// The corpus of a version.
    pub(crate) fn corpus(&self, version: &str) -> anyhow::Result<VersionCorpus> {
        let found = self.corpora.find(version)?;
        found.ok_or_else(|| self.unknown(version))
    }

    /// The version whose corpus applies to a revision: its own, or the latest before it.
    pub(crate) fn of_revision(&self, revision: &str) -> anyhow::Result<String> {
        let names = self.corpora.versions();
        let found = version_for(revision, names.iter().map(String::as_str));
        found
            .map(str::to_owned)
            .ok_or_else(|| self.unknown(revision))
    }

    /// The version for a user's spelling: `2025-06-18` is `v2025-06-18`.
    pub(crate) fn named(&self, text: &str) -> anyhow::Result<String> {
        let dated = format!("v{text}");
        let mut names = self.corpora.versions().into_iter();
        let found = names.find(|name| *name == text || *name == dated);
        found.ok_or_else(|| self.unknown(text))
    }

    fn unknown(&self, version: &str) -> anyhow::Error {
        let names = self.corpora.versions().join(", ");
        let what = format!("no corpus for `{}`", report::safe(version));
        Mistake::new(what, format!("expected one of {names}")).into()
    }
}
