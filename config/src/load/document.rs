//! Reading one file into a tree.

use std::io;
use std::path::Path;

use tapewright_schemas::slices::Part as _;

use super::{Document, Loader, MAX_FILE_BYTES};
use crate::issue::{Code, Issue, Severity};
use crate::source::{FileId, Source, SourceSpot, Span};
use crate::yaml::{self, Kind};

impl Loader<'_> {
    /// Reads a file; reports errors. `named_at` is the position of its import.
    pub(super) fn document(
        &mut self,
        path: &Path,
        named_at: Option<&SourceSpot>,
    ) -> Option<Document> {
        let bytes = match self.files.read(path, MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                let near = (error.kind() == io::ErrorKind::NotFound).then(|| self.files.near(path));
                let help = near.flatten();
                let help = help
                    .as_deref()
                    .unwrap_or("check the path and its permissions");
                self.unreadable(path, named_at, &why(&error), help);
                return None;
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let front = error.as_bytes().part(..valid);
                let line = String::from_utf8_lossy(front).matches('\n').count() + 1;
                let why = format!("line {line} is not UTF-8");
                self.unreadable(path, named_at, &why, "save it as UTF-8");
                return None;
            }
        };
        let text = text
            .strip_prefix('\u{feff}')
            .map_or_else(|| text.clone(), str::to_owned);
        let (root, problems) = yaml::parse(&text);
        let file = self.sources.add(Source::new(path.to_owned(), text))?;
        for problem in problems {
            let place = SourceSpot {
                file,
                pointer: String::new(),
                span: problem.span,
            };
            self.issues
                .error(problem.code, place, problem.message, problem.help);
        }
        let root = root?;
        if !matches!(root.kind, Kind::Object(_)) {
            let message = format!("a suite is an object, not {}", root.what());
            let help = "start it with `servers:`".to_owned();
            self.issues
                .error(Code::Type, place(file, root.span), message, Some(help));
            return None;
        }
        Some(Document {
            file,
            root,
            is_root: named_at.is_none(),
        })
    }

    fn unreadable(&self, path: &Path, named_at: Option<&SourceSpot>, why: &str, help: &str) {
        self.issues.push(Issue {
            code: if named_at.is_some() {
                Code::Import
            } else {
                Code::Unreadable
            },
            severity: Severity::Error,
            place: named_at.cloned(),
            message: format!("cannot read `{}`: {why}", path.display()),
            help: Some(help.to_owned()),
        });
    }
}

/// Why a file could not be read, in words that do not depend on the system.
pub(crate) fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::FileTooLarge => format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20),
        _ => error.to_string(),
    }
}

fn place(file: FileId, span: Span) -> SourceSpot {
    SourceSpot {
        file,
        pointer: String::new(),
        span,
    }
}
