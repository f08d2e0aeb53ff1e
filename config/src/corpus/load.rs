//! Reading registries and corpora from files or embedded texts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::baseline::{self, Baseline};
use super::rule::{CorpusFile, Registry};
use super::{registry, rules};
use crate::issue::{Code, Issue, Issues, Severity};
use crate::load::{Files, MAX_FILE_BYTES, why};
use crate::read::{Context, Cursor, Phase};
use crate::source::{Source, SourceSpot, Sources};
use crate::yaml;
use tapewright_schemas::order::Order as _;

/// The result of reading.
#[derive(Debug)]
pub struct Read<T> {
    /// The value, unless there was an error.
    pub value: Option<T>,
    /// Everything that is wrong, by file and line.
    pub issues: Vec<Issue>,
    /// The number of issues beyond those.
    pub dropped: usize,
    /// Every file that was read.
    pub sources: Sources,
}

impl<T> Read<T> {
    /// The same with a converted value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read {
            value: self.value.map(change),
            issues: self.issues,
            dropped: self.dropped,
            sources: self.sources,
        }
    }
}

/// Reads a registry from a text. `path` is its name in messages.
#[must_use]
pub fn read_registry(path: &Path, text: &str) -> Read<Registry> {
    let mut reader = Reader::default();
    let found = reader.text(path, text, REGISTRY, registry::registry);
    reader.finish(found)
}

/// Like [`read_registry`], from a file.
#[must_use]
pub fn load_registry(path: &Path, files: &dyn Files) -> Read<Registry> {
    read_file(path, files, REGISTRY, registry::registry)
}

/// Reads the known failures of a server from a file.
#[must_use]
pub fn load_baseline(path: &Path, files: &dyn Files) -> Read<Baseline> {
    read_file(path, files, BASELINE, baseline::baseline)
}

/// Reads the corpus of one version from texts. A rule that occurs twice is an error, and so is a
/// text that is not a corpus. `version` is the name of their folder; a file of another version is
/// an error.
#[must_use]
pub fn read_corpus(
    version: Option<&str>,
    texts: impl IntoIterator<Item = (PathBuf, String)>,
) -> Read<Vec<CorpusFile>> {
    let mut reader = Reader::default();
    let files = texts
        .into_iter()
        .filter_map(|(path, text)| reader.text(&path, &text, CORPUS, |at| rules::file(at, version)))
        .collect();
    reader.settle(files)
}

/// Like [`read_corpus`], from files: those in a folder, without subfolders, whose names end in
/// `.yml`, in order. The caller lists the folder.
#[must_use]
pub fn load_corpus(
    version: Option<&str>,
    paths: &[PathBuf],
    files: &dyn Files,
) -> Read<Vec<CorpusFile>> {
    let mut reader = Reader::default();
    let mut paths: Vec<_> = paths.iter().filter(|path| is_corpus(path)).collect();
    paths.order();
    let mut found = Vec::new();
    for path in paths {
        let text = reader.file(path, files);
        let file = |at: &Cursor<'_>| rules::file(at, version);
        found.extend(text.and_then(|text| reader.text(path, &text, CORPUS, file)));
    }
    reader.settle(found)
}

/// Reads one file that is an object, given the name of its root, its beginning, and its reader.
pub(crate) fn read_file<T>(
    path: &Path,
    files: &dyn Files,
    form: Form,
    read: impl FnOnce(&Cursor<'_>) -> T,
) -> Read<T> {
    let mut reader = Reader::default();
    let text = reader.file(path, files);
    let found = text.and_then(|text| reader.text(path, &text, form, read));
    reader.finish(found)
}

fn is_corpus(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml")
}

/// The name for the root of a file, and how the file begins.
type Form = (&'static str, &'static str);

const REGISTRY: Form = ("a registry", "a registry begins with `version: 1`");
const BASELINE: Form = (
    "a baseline",
    "a baseline begins with `server:` and a list of rules",
);
const CORPUS: Form = ("a corpus", "a corpus begins with `corpus:`");

#[derive(Default)]
struct Reader {
    issues: Issues,
    sources: Sources,
}

impl Reader {
    /// The text of a file; reports errors.
    fn file(&self, path: &Path, files: &dyn Files) -> Option<String> {
        let wrong = match files.read(path, MAX_FILE_BYTES) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Some(text),
                Err(_) => "it is not UTF-8".to_owned(),
            },
            Err(error) => why(&error),
        };
        self.issues.push(Issue {
            code: Code::Unreadable,
            severity: Severity::Error,
            place: None,
            message: format!("cannot read `{}`: {wrong}", path.display()),
            help: None,
        });
        None
    }

    fn text<T>(
        &mut self,
        path: &Path,
        text: &str,
        (root, begins): Form,
        read: impl FnOnce(&Cursor<'_>) -> T,
    ) -> Option<T> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (node, problems) = yaml::parse_as(text, begins);
        let file = self
            .sources
            .add(Source::new(path.to_owned(), text.to_owned()))?;
        for problem in problems {
            let place = SourceSpot {
                file,
                pointer: String::new(),
                span: problem.span,
            };
            self.issues
                .error(problem.code, place, problem.message, problem.help);
        }
        let node = node?;
        let context = Context {
            issues: &self.issues,
            file,
            phase: Phase::Filled,
            root,
        };
        let at = Cursor::root(context, &node);
        if !at.is_object() {
            at.wrong_type_with("an object", begins);
            return None;
        }
        Some(read(&at))
    }

    /// Finds duplicate rules in the files of one version.
    fn settle(self, files: Vec<CorpusFile>) -> Read<Vec<CorpusFile>> {
        let mut seen: HashMap<&str, &SourceSpot> = HashMap::new();
        for rule in files.iter().flat_map(|file| &file.rules) {
            let Some(first) = seen.get(rule.id.as_str()) else {
                seen.insert(&rule.id, &rule.place);
                continue;
            };
            if rule.id.is_empty() {
                continue;
            }
            let line = self
                .sources
                .excerpt(first)
                .map_or(0, |excerpt| excerpt.line);
            let path = self.sources.path(first.file).display();
            let message = format!("duplicate `{}` in one version", rule.id.escape_debug());
            let help = format!("the other one is at {path}:{line}");
            self.issues
                .error(Code::DuplicateName, rule.place.clone(), message, Some(help));
        }
        self.finish(Some(files))
    }

    fn finish<T>(self, value: Option<T>) -> Read<T> {
        let errors = self.issues.errors();
        let (mut issues, dropped) = self.issues.finish();
        let at = |place: &SourceSpot| (place.file, place.span.start);
        issues.order_by_key(|issue| issue.place.as_ref().map(at));
        Read {
            value: value.filter(|_| errors == 0),
            issues,
            dropped,
            sources: self.sources,
        }
    }
}
