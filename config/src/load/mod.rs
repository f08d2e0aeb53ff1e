//! Loading a suite from its path: files, imports, variables, checks.

mod csv;
mod data;
mod document;
mod env_files;
mod imports;
mod paths;

use std::io;
use std::path::{Path, PathBuf};

use crate::check;
use crate::issue::{Code, Issue, Issues, Severity};
use crate::read::{Context, Cursor, Phase};
use crate::source::{FileId, Sources};
use crate::suite::Suite;
use crate::variables::{Environment, Filler, Scope, add_credentials, fill};
use crate::yaml::Node;
use tapewright_schemas::order::Order as _;

pub(crate) use self::document::why;

/// Access to files. This package opens none itself.
pub trait Files {
    /// The bytes of a file up to this size; a larger one is an error.
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>>;

    /// The path without links and `..`.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The file that a path that does not exist probably meant: ``did you mean `x.yaml`?``.
    fn near(&self, _: &Path) -> Option<String> {
        None
    }
}

/// The files of variables to read.
#[derive(Clone, Debug, Default)]
pub enum EnvFiles {
    /// `.env` next to the suite, if it exists.
    #[default]
    Beside,
    /// These files instead; later ones take precedence.
    Named(Vec<PathBuf>),
    /// None.
    None,
}

/// The result of loading.
#[derive(Debug)]
pub struct Loaded {
    /// The suite, unless there was an error.
    pub suite: Option<Suite>,
    /// Everything that is wrong or suspicious, by file and line.
    pub issues: Vec<Issue>,
    /// The number of issues beyond those.
    pub dropped: usize,
    /// Every file that was read.
    pub sources: Sources,
}

impl Loaded {
    /// Whether the suite can be used.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.suite.is_some()
    }

    /// Adds later issues. After an error there is no suite any more.
    pub fn add(&mut self, issues: Vec<Issue>) {
        self.issues.extend(issues);
        self.settle();
    }

    /// Sorts the issues, and removes the suite if it cannot be used.
    fn settle(&mut self) {
        let at = |issue: &Issue| {
            issue
                .place
                .as_ref()
                .map(|place| (place.file, place.span.start))
        };
        self.issues.order_by_key(at);
        if self
            .issues
            .iter()
            .any(|issue| issue.severity == Severity::Error)
        {
            self.suite = None;
        }
    }
}

/// The name for the root of a suite.
const A_SUITE: &str = "a suite";

/// The largest file that is read.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Loads a suite with its imports.
#[must_use]
pub fn load(
    path: &Path,
    files: &dyn Files,
    environment: &Environment,
    env_files: &EnvFiles,
) -> Loaded {
    run(path, files, environment, env_files, Needs::Servers)
}

/// Like [`load`], for the `faults` of a suite: a file without `servers` is accepted.
#[must_use]
pub fn load_faults(
    path: &Path,
    files: &dyn Files,
    environment: &Environment,
    env_files: &EnvFiles,
) -> Loaded {
    run(path, files, environment, env_files, Needs::Nothing)
}

/// The required contents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    Servers,
}

fn run(
    path: &Path,
    files: &dyn Files,
    environment: &Environment,
    env_files: &EnvFiles,
    needs: Needs,
) -> Loaded {
    let issues = Issues::default();
    let mut sources = Sources::default();
    let suite = Loader {
        files,
        issues: &issues,
        sources: &mut sources,
        needs,
    }
    .load(path, environment, env_files);
    let errors = issues.errors();
    let (issues, dropped) = issues.finish();
    let mut loaded = Loaded {
        suite: suite.filter(|_| errors == 0),
        issues,
        dropped,
        sources,
    };
    loaded.settle();
    loaded
}

struct Loader<'a> {
    files: &'a dyn Files,
    issues: &'a Issues,
    sources: &'a mut Sources,
    needs: Needs,
}

impl Loader<'_> {
    fn load(
        mut self,
        path: &Path,
        environment: &Environment,
        env_files: &EnvFiles,
    ) -> Option<Suite> {
        let mut documents = self.documents(path);
        let values = self.env_files(path, env_files);
        let environment = environment.clone().with_files(values);

        let written = Issues::default();
        let mut draft = Suite::default();
        read(&documents, &written, self.needs, Phase::Written).for_each(|part| draft.merge(part));
        let mut suite = Suite::default();
        let scope = Scope::new(&environment, &draft.variables);
        self.fill(&mut documents, &scope, &mut suite);
        self.data(&mut documents);
        if written.errors() > 0 || self.issues.errors() > 0 {
            // Warnings are included, so that one run shows everything that is known.
            written.move_to(self.issues);
            return None;
        }
        read(&documents, self.issues, self.needs, Phase::Filled).for_each(|part| suite.merge(part));
        let root = documents.iter().find(|document| document.is_root)?;
        let bare = self.needs == Needs::Nothing && suite.servers.is_empty();
        if suite.servers.is_empty() && !bare {
            self.no_servers(root);
        }
        paths::resolve(&mut suite, self.sources);
        let mut secrets = std::mem::take(&mut suite.secrets);
        add_credentials(&suite, &environment, &mut secrets);
        suite.secrets = secrets;
        documents.order_by_key(|document| document.file);
        suite.documents = documents
            .into_iter()
            .map(|document| document.root)
            .collect();
        // Without servers there is nothing to compare a name with.
        if !bare {
            check::references(&suite, self.issues);
        }
        Some(suite)
    }

    /// Puts the values of variables into the documents.
    fn fill(&self, documents: &mut [Document], scope: &Scope<'_>, suite: &mut Suite) {
        for document in documents {
            let source = self
                .sources
                .file(document.file)
                .map_or("", |source| source.text.as_str());
            let mut filler = Filler {
                scope,
                issues: self.issues,
                secrets: &mut suite.secrets,
                file: document.file,
                source,
            };
            fill(&mut document.root, &mut filler);
        }
    }

    fn no_servers(&self, root: &Document) {
        let at = Cursor::root(
            Context {
                issues: self.issues,
                file: root.file,
                phase: Phase::Filled,
                root: A_SUITE,
            },
            &root.root,
        );
        let help = "add `servers:` here or in a file that it imports".to_owned();
        at.error_at_key(Code::Reference, "the suite has no `servers`", help);
    }
}

/// A file that was read. Its imports precede it in the list of all files.
struct Document {
    file: FileId,
    root: Node,
    /// The given file, not an imported one.
    is_root: bool,
}

fn read<'a>(
    documents: &'a [Document],
    issues: &'a Issues,
    needs: Needs,
    phase: Phase,
) -> impl Iterator<Item = Suite> + 'a {
    documents.iter().map(move |document| {
        let context = Context {
            issues,
            file: document.file,
            phase,
            root: A_SUITE,
        };
        let needs_servers = document.is_root && needs == Needs::Servers;
        Suite::read(&Cursor::root(context, &document.root), needs_servers)
    })
}
