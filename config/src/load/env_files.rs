//! Files of variables: `.env` next to the suite, or given ones.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::document::why;
use super::{EnvFiles, Loader};
use crate::issue::{Code, Issue, Severity};
use crate::variables::parse_dotenv;

/// The largest file of variables that is read.
const MAX_ENV_BYTES: u64 = 1 << 20;

impl Loader<'_> {
    /// The variables in the files. Their text is not kept: it is full of secrets.
    pub(super) fn env_files(&self, suite: &Path, which: &EnvFiles) -> HashMap<String, String> {
        let (paths, must_exist): (Vec<PathBuf>, bool) = match which {
            EnvFiles::None => (Vec::new(), false),
            EnvFiles::Named(paths) => (paths.clone(), true),
            EnvFiles::Beside => (
                vec![suite.parent().unwrap_or(Path::new("")).join(".env")],
                false,
            ),
        };
        let mut values = HashMap::new();
        for path in paths {
            match self.files.read(&path, MAX_ENV_BYTES) {
                Ok(bytes) => values.extend(self.env_file(&path, bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => {}
                Err(error) => {
                    let message = format!("cannot read `{}`: {}", path.display(), why(&error));
                    self.bad_env_file(message, "name a file with lines `NAME=value`");
                }
            }
        }
        values
    }

    fn env_file(&self, path: &Path, bytes: Vec<u8>) -> HashMap<String, String> {
        let Ok(text) = String::from_utf8(bytes) else {
            self.bad_env_file(
                format!("`{}` is not UTF-8", path.display()),
                "save it as UTF-8",
            );
            return HashMap::new();
        };
        parse_dotenv(&text).unwrap_or_else(|error| {
            let message = format!("`{}`, line {}: {}", path.display(), error.line, error.what);
            self.bad_env_file(message, error.help);
            HashMap::new()
        })
    }

    fn bad_env_file(&self, message: String, help: &str) {
        self.issues.push(Issue {
            code: Code::EnvFile,
            severity: Severity::Error,
            place: None,
            message,
            help: Some(help.to_owned()),
        });
    }
}
