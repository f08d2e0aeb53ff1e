//! The files, processes and models that judging needs: snapshots next to the suite, transforms, and
//! judges.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tapewright_assertions::{
    EvalError, Json, Opinion, Phase, Question, Snapshot, TransformError, World,
};
use tapewright_schemas::redact::{Redactor, Rules};

use super::judging::{Judges, TestJudge};
use super::plan::Kind;
use super::result::Row;
use super::transform;
use crate::files::NewFile;

/// The snapshots of one suite.
#[derive(Debug)]
pub(crate) struct Snapshots {
    folder: PathBuf,
    update: bool,
    // Whether the suite's setting for updating is ignored: CI would accept any output.
    frozen: bool,
    rules: Arc<Rules>,
    // One at a time: tests of different servers may use one snapshot.
    written: Mutex<usize>,
}

/// The state that all tests of a suite share.
#[derive(Debug)]
pub(crate) struct SuiteWorld {
    snapshots: Snapshots,
    /// The judges; `None` if no model may be asked.
    pub(crate) judges: Option<Arc<Judges>>,
}

/// The world as one test sees it.
#[derive(Debug)]
pub(crate) struct TestWorld {
    pub(crate) shared: Arc<SuiteWorld>,
    /// The judging of this test.
    pub(crate) test_judge: Option<Arc<TestJudge>>,
    /// The documented variables about the test, for transforms.
    pub(crate) variables: Vec<(String, String)>,
    /// The time limit of the test.
    pub(crate) time: Option<Duration>,
}

impl SuiteWorld {
    /// The snapshots next to a suite, without judges. With `update`, every snapshot that is used is
    /// recorded again. If they are `frozen`, the suite's setting for that is ignored.
    pub(crate) fn beside(suite: &Path, update: bool, frozen: bool, rules: Arc<Rules>) -> Self {
        Self {
            snapshots: Snapshots::beside(suite, update, frozen, rules),
            judges: None,
        }
    }

    /// Notes about what was recorded.
    pub(crate) fn notes(&self) -> Vec<String> {
        let judges = self.judges.as_ref().and_then(|judges| judges.note());
        self.snapshots.note().into_iter().chain(judges).collect()
    }

    /// A value in its recorded form.
    pub(crate) fn redacted(&self, value: &Json) -> Json {
        self.snapshots.redacted(value)
    }

    /// The judging of a test with this kind and name.
    pub(crate) fn test_judge(&self, kind: Kind, name: &str) -> Option<Arc<TestJudge>> {
        let judges = self.judges.as_ref()?;
        Some(Arc::new(TestJudge::new(judges, kind, name, None, None)))
    }
}

impl Snapshots {
    fn beside(suite: &Path, update: bool, frozen: bool, rules: Arc<Rules>) -> Self {
        let folder = suite.parent().unwrap_or(Path::new("")).join("snapshots");
        Self {
            folder,
            update,
            frozen,
            rules,
            written: Mutex::new(0),
        }
    }

    /// The note about the snapshots that were written.
    fn note(&self) -> Option<String> {
        match *self.written.lock().unwrap_or_else(PoisonError::into_inner) {
            0 => None,
            1 => Some("1 snapshot recorded".to_owned()),
            count => Some(format!("{count} snapshots recorded")),
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        // With the separators of the system, since messages name it.
        let key: PathBuf = Path::new(key).components().collect();
        let path = self.folder.join(key);
        if path.extension().is_some() {
            path
        } else {
            path.with_extension("json")
        }
    }

    fn use_one(&self, key: &str, actual: &Json, update: bool) -> Result<Snapshot, String> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path(key);
        let shown = || path.display().to_string();
        match fs::read(&path) {
            Ok(bytes) if !self.update && (self.frozen || !update) => {
                let value = Json::read(&bytes)
                    .map_err(|error| format!("cannot read the snapshot {}: {error}", shown()))?;
                // Secrets are never written, so they cannot be compared.
                let value = if value == self.redacted(actual) {
                    actual.clone()
                } else {
                    value
                };
                let file = self.folder.parent().unwrap_or(Path::new(""));
                let file = path.strip_prefix(file).unwrap_or(&path);
                Ok(Snapshot::Known {
                    value,
                    file: file.display().to_string(),
                })
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot read the snapshot {}: {error}", shown()))
            }
            Err(_) if self.frozen && !self.update => Ok(Snapshot::Missing(format!(
                "no snapshot at {}, and none is written if `CI` is true: run the test once elsewhere and commit it, or use --update-snapshots --allow-update-in-ci",
                shown()
            ))),
            _ => {
                write(&path, &self.redacted(actual))
                    .map_err(|error| format!("cannot write the snapshot {}: {error:#}", shown()))?;
                *written += 1;
                Ok(Snapshot::Recorded)
            }
        }
    }

    /// A value in its recorded form.
    fn redacted(&self, value: &Json) -> Json {
        let text = value.to_string();
        let mut redactor = Redactor::new(Arc::clone(&self.rules));
        match redactor.json(text.as_bytes()) {
            Ok(text) => Json::read(&text).unwrap_or(Json::Null),
            Err(_) => Json::Null,
        }
    }
}

fn write(path: &Path, value: &Json) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = NewFile::shared(path)?;
    writeln!(file.writer(), "{value:#}")?;
    // Snapshots are committed, and read by others.
    file.commit(tapewright_proxy::system::files::readable_by_all())
}

impl World for TestWorld {
    /// The error names the phase and the command.
    fn transform(
        &self,
        phase: Phase,
        command: &[String],
        value: &Json,
    ) -> Result<Json, TransformError> {
        let mut variables = self.variables.clone();
        let name = phase.name();
        variables.push(("MCPTEST_TRANSFORM_PHASE".to_owned(), name.to_owned()));
        let bounds = transform::Bounds {
            folder: self
                .shared
                .snapshots
                .folder
                .parent()
                .unwrap_or(Path::new("")),
            time: self.time,
        };
        let told = |why: &str| {
            let command = command.join(" ");
            format!("{name} transform: the command `{command}` {why}")
        };
        transform::run(command, &variables, value, &bounds).map_err(|error| match error {
            TransformError::Failed(why) => TransformError::Failed(told(&why)),
            TransformError::NotStarted(why) => TransformError::NotStarted(told(&why)),
        })
    }

    fn snapshot(&self, key: &str, actual: &Json, update: bool) -> Result<Snapshot, EvalError> {
        let snapshots = &self.shared.snapshots;
        snapshots.use_one(key, actual, update).map_err(EvalError)
    }

    fn consult(&self, question: &Question<'_>, candidate: &str) -> Opinion {
        let Some(test_judge) = &self.test_judge else {
            return Opinion::Deferred("nothing here asks a model".to_owned());
        };
        test_judge.consult(question, candidate)
    }
}

impl TestWorld {
    /// Adds the opinions of judges and their cost to a row.
    pub(crate) fn settle(&self, row: &mut Row) {
        if let Some(test_judge) = &self.test_judge {
            test_judge.settle(row);
        }
    }

    /// The variables for the transforms of a test with this name, of this server and tool.
    pub(crate) fn variables(name: &str, server: &str, tool: &str) -> Vec<(String, String)> {
        [
            ("MCPTEST_TEST_NAME", name),
            ("MCPTEST_SERVER", server),
            ("MCPTEST_TOOL", tool),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }
}
