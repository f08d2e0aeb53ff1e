//! The registry and the corpora: from a folder, or those built into the program.

use std::path::{Path, PathBuf};

use tapewright_config::Loaded;
use tapewright_config::corpus::{DRAFT, Read, Registry, load_registry};
use tapewright_corpus::VersionCorpus;
use tapewright_corpus::registry;
use tapewright_corpus::version::embedded_versions;
use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::order::Order as _;

use crate::files::Disk;
use crate::report::{self, Mistake};

/// The default path of a registry.
const BESIDE: &str = "compliance/registry.yml";

/// The registry, and where its corpora are.
pub(crate) struct Corpora {
    /// Every rule.
    pub(crate) registry: Registry,
    /// The folder of the registry; `None` if it is built in.
    root: Option<PathBuf>,
}

impl Corpora {
    /// Opens the given registry, or else `compliance/registry.yml` if it exists, or else the
    /// built-in one. Mistakes in it are reported on standard error.
    pub(crate) fn open(named: Option<&Path>) -> anyhow::Result<Self> {
        let beside = Path::new(BESIDE);
        let path = named.or_else(|| beside.is_file().then_some(beside));
        let Some(path) = path else {
            let registry = sound(registry::EMBEDDED_PATH, registry::embedded())?;
            return Ok(Self {
                registry,
                root: None,
            });
        };
        let registry = sound(&path.display().to_string(), load_registry(path, &Disk))?;
        let root = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            registry,
            root: Some(root),
        })
    }

    /// The versions that have a corpus, oldest first, the draft last.
    pub(crate) fn versions(&self) -> Vec<String> {
        let Some(root) = &self.root else {
            return embedded_versions().map(str::to_owned).collect();
        };
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_version = |name: &String| !files(&root.join(name)).is_empty();
        let mut names: Vec<_> = names.filter(is_version).collect();
        names.order_by_key(|name| (name == DRAFT, name.clone()));
        names
    }

    /// The corpus of a version, if there is one. Mistakes in its files are reported on standard
    /// error.
    pub(crate) fn find(&self, version: &str) -> anyhow::Result<Option<VersionCorpus>> {
        let Some(root) = &self.root else {
            return Ok(VersionCorpus::embedded(version));
        };
        // It must be a name, not a path that leads out of the folder.
        let paths = if version.contains(['/', '\\']) || version.starts_with('.') {
            Vec::new()
        } else {
            files(&root.join(version))
        };
        if paths.is_empty() {
            return Ok(None);
        }
        let corpus = sound(version, VersionCorpus::load(version, &paths, &Disk))?;
        self.warn_of_unregistered(&corpus);
        Ok(Some(corpus))
    }

    /// Warns of rules that are not in the registry, since nothing else does.
    fn warn_of_unregistered(&self, corpus: &VersionCorpus) {
        for rule in &corpus.rules {
            let known = self.registry.rule(&rule.id);
            if known.is_none_or(|known| !known.is_of(&corpus.version)) {
                let (id, version) = (&rule.id, report::safe(&corpus.version));
                report::note(&format!("the registry does not list {id} for `{version}`"));
            }
        }
    }

    /// The corpus of a version.
    ///
    /// # Errors
    ///
    /// No corpus has this version; the error lists those that exist.
    pub(crate) fn get(&self, version: &str) -> anyhow::Result<VersionCorpus> {
        if let Some(corpus) = self.find(version)? {
            return Ok(corpus);
        }
        // A bare date is a revision, too.
        if version.starts_with(|first: char| first.is_ascii_digit())
            && let Some(corpus) = self.find(&format!("v{version}"))?
        {
            return Ok(corpus);
        }
        let versions = self.versions();
        let all = || versions.iter().map(String::as_str);
        let hint = did_you_mean(version, all()).unwrap_or_else(|| {
            let names: Vec<_> = all()
                .map(|name| format!("`{}`", report::safe(name)))
                .collect();
            format!("expected one of {}", names.join(", "))
        });
        let what = format!("no corpus for `{}`", report::safe(version));
        Err(Mistake::new(what, hint).into())
    }
}

/// The files of a folder that may be corpora.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "yml") && path.is_file()
        })
        .collect()
}

/// The value that was read, or an error with every mistake in it.
pub(crate) fn sound<T>(name: &str, read: Read<T>) -> anyhow::Result<T> {
    let Read {
        value,
        issues,
        dropped,
        sources,
    } = read;
    if let Some(value) = value {
        return Ok(value);
    }
    let loaded = Loaded {
        suite: None,
        issues,
        dropped,
        sources,
    };
    report::err(&report::issues::pretty(name.to_owned(), loaded));
    let what = format!("`{}` cannot be used", report::safe(name));
    Err(Mistake::new(what, "fix the errors above").into())
}
