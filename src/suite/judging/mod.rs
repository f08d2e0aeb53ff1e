//! Judges by models: for matchers, for metrics of agents, for evaluations.
//!
//! The prompts and the meaning of answers are in `tapewright-judges`. This module finds the
//! answers: first in the test's recording, then in the cache of verdicts, then from a provider.

mod asking;
mod consult;
mod file;
mod scored;
mod similar;
mod test;
mod vectors;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tapewright_config::Suite;
use tapewright_config::suite::settings::Provider;
use tapewright_judges::{Model, Record};
use tapewright_schemas::redact::Rules;

pub(crate) use self::similar::Nearness;
pub(crate) use self::test::{JudgingTask, TestJudge};
use self::vectors::Vectors;
use super::models::{Connector, Money};
use super::plan::Kind;

/// How to ask judges.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgeOptions {
    /// Whether missing and stale judgements are asked for and recorded.
    pub(crate) record: bool,
    /// Whether every judge is asked again, and compared with the recording.
    pub(crate) rejudge: bool,
    /// The maximum age of a recorded verdict, if its judge can be asked.
    pub(crate) age: Option<Duration>,
    /// The judge, if neither the suite nor the agent names one.
    pub(crate) model: Option<String>,
}

/// The judges of one suite.
#[derive(Debug)]
pub(crate) struct Judges {
    how: JudgeOptions,
    /// The folder of its recorded judgements.
    folder: PathBuf,
    /// The folder of the suite, which its programs are relative to.
    beside: PathBuf,
    providers: Vec<Provider>,
    /// The environment. Contains secrets.
    variables: Secrets,
    money: Arc<Money>,
    rules: Arc<Rules>,
    stop: Arc<AtomicBool>,
    connector: Connector,
    vectors: Vectors,
    /// The judgements that this command has used or recorded, by file: a test may be judged more
    /// than once.
    used: Mutex<HashMap<PathBuf, Record>>,
    /// The files that were written.
    written: Mutex<BTreeSet<PathBuf>>,
}

/// Variables that are never printed.
pub(crate) struct Secrets(HashMap<String, String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// What the judges need to know about a suite.
pub(crate) struct JudgingContext<'c> {
    /// The file of the suite.
    pub(crate) path: &'c Path,
    pub(crate) suite: &'c Suite,
    pub(crate) variables: &'c HashMap<String, String>,
    pub(crate) money: &'c Arc<Money>,
    pub(crate) rules: &'c Arc<Rules>,
    /// Set when we are asked to end.
    pub(crate) stop: &'c Arc<AtomicBool>,
}

impl Judges {
    pub(crate) fn new(how: JudgeOptions, around: &JudgingContext<'_>) -> Self {
        let beside = around.path.parent().unwrap_or(Path::new(""));
        Self {
            how,
            folder: recorded_beside(around.path),
            beside: beside.to_owned(),
            providers: around.suite.providers.clone(),
            variables: Secrets(around.variables.clone()),
            money: Arc::clone(around.money),
            rules: Arc::clone(around.rules),
            stop: Arc::clone(around.stop),
            connector: Connector::default(),
            vectors: Vectors::default(),
            used: Mutex::default(),
            written: Mutex::default(),
        }
    }

    /// The same judges for another file of prompts; programs are still those of the suite.
    pub(crate) fn of_file(mut self, path: &Path) -> Self {
        self.folder = recorded_beside(path);
        self
    }

    /// The model that a suite writes as one string.
    pub(crate) fn model(&self, text: &str) -> Model {
        let names = self.providers.iter().map(|one| one.name.as_str());
        Model::read(text, names)
    }

    /// The file of a test.
    fn file(&self, kind: Kind, name: &str) -> PathBuf {
        self.folder.join(file::name(kind, name))
    }

    /// The note about recorded judgements.
    pub(crate) fn note(&self) -> Option<String> {
        let written = self.written.lock();
        match written.unwrap_or_else(PoisonError::into_inner).len() {
            0 => None,
            1 => Some("the judgements of 1 test recorded".to_owned()),
            count => Some(format!("the judgements of {count} tests recorded")),
        }
    }
}

/// The folder of a file's recorded judgements.
fn recorded_beside(path: &Path) -> PathBuf {
    let beside = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().unwrap_or_default();
    beside.join("judgements").join(name)
}
