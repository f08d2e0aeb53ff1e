//! Judging by models: for matchers, for metrics of agents, for evaluations.
//!
//! What is asked and what an answer means is in `tapewright-judges`. Here is who asks: a
//! recording of the test first, then the cache of verdicts, then a provider.

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

/// How judges are asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgeOptions {
    /// What is not recorded, or does not fit any more, is asked and recorded.
    pub(crate) record: bool,
    /// Everything is asked again, and compared with the recording.
    pub(crate) rejudge: bool,
    /// How old a recorded verdict may be, where its judge can be asked.
    pub(crate) age: Option<Duration>,
    /// The judge where neither the suite nor the agent names one.
    pub(crate) model: Option<String>,
}

/// The judges of one suite.
#[derive(Debug)]
pub(crate) struct Judges {
    how: JudgeOptions,
    /// Where its recorded judgements are.
    folder: PathBuf,
    /// The folder of the suite, where its programs are looked for.
    beside: PathBuf,
    providers: Vec<Provider>,
    /// The environment. Holds secrets.
    variables: Secrets,
    money: Arc<Money>,
    rules: Arc<Rules>,
    stop: Arc<AtomicBool>,
    connector: Connector,
    vectors: Vectors,
    /// What this command has used or recorded, by file: a test may be judged more than once.
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

/// What the judges of a suite have to be told of it.
pub(crate) struct JudgingContext<'c> {
    /// The file of the suite.
    pub(crate) path: &'c Path,
    pub(crate) suite: &'c Suite,
    pub(crate) variables: &'c HashMap<String, String>,
    pub(crate) money: &'c Arc<Money>,
    pub(crate) rules: &'c Arc<Rules>,
    /// We were asked to end.
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

    /// The same for what another file asks them; programs are those of the suite.
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

    /// What is said of those that were recorded.
    pub(crate) fn note(&self) -> Option<String> {
        let written = self.written.lock();
        match written.unwrap_or_else(PoisonError::into_inner).len() {
            0 => None,
            1 => Some("the judgements of 1 test recorded".to_owned()),
            count => Some(format!("the judgements of {count} tests recorded")),
        }
    }
}

/// Where the judgements that a file asks for are recorded.
fn recorded_beside(path: &Path) -> PathBuf {
    let beside = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().unwrap_or_default();
    beside.join("judgements").join(name)
}
