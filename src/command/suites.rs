//! Suites that are loaded, checked and compiled, shared by the commands that use them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tapewright_config::{Sources, Suite};
use tapewright_schemas::redact::{Rules, Settings};

use super::variables::Variables;
use super::{redaction, validate};
use crate::report;
use crate::report::suite::{Redaction, Unusable, View};
use crate::suite::judging::{JudgeOptions, Judges, JudgingContext};
use crate::suite::models::Money;
use crate::suite::plan::Plan;
use crate::suite::result::Results;

/// A suite that is ready to use.
pub(crate) struct Ready {
    /// The path as given.
    pub(crate) path: PathBuf,
    pub(crate) suite: Suite,
    pub(crate) sources: Sources,
    pub(crate) plan: Arc<Plan>,
    /// The secrets to hide in reports: those that the suite reads as secrets, and everything that a
    /// recording would hide.
    pub(crate) rules: Arc<Rules>,
}

/// A suite that cannot be used. The reasons were printed.
pub(crate) struct Refused {
    /// Every file that was read.
    pub(crate) files: Vec<PathBuf>,
    /// The reasons, one for each mistake.
    pub(crate) why: Vec<Unusable>,
}

impl Ready {
    /// Loads, checks and compiles a suite. `change` can change its servers last; their recordings
    /// must exist if they are `served`.
    pub(crate) fn load(
        path: &Path,
        variables: &Variables,
        served: bool,
        change: impl FnOnce(&mut Suite) -> anyhow::Result<()>,
    ) -> anyhow::Result<Result<Self, Refused>> {
        let mut loaded = variables.load(path);
        if let Some(suite) = &mut loaded.suite {
            change(suite)?;
        }
        let plan = validate::check(&mut loaded, served);
        let Some((plan, suite)) = plan.zip(loaded.suite.take()) else {
            let name = path.display().to_string();
            let files = loaded.sources.iter().map(|source| source.path.clone());
            let files = files.collect();
            let why = loaded.issues.iter();
            let why = why
                .map(|issue| Unusable::of(issue, &loaded.sources))
                .collect();
            report::err(&report::issues::pretty(name, loaded));
            return Ok(Err(Refused { files, why }));
        };
        Ok(Ok(Self {
            path: path.to_owned(),
            rules: rules(&suite),
            suite,
            sources: loaded.sources,
            plan: Arc::new(plan),
        }))
    }

    /// An empty suite, for a file that is not one.
    pub(crate) fn none(path: &Path) -> Self {
        let suite = Suite::default();
        Self {
            path: path.to_owned(),
            rules: rules(&suite),
            suite,
            sources: Sources::default(),
            plan: Arc::new(Plan::default()),
        }
    }

    /// Adds further secrets of the suite, by name.
    pub(crate) fn hide<'s>(&mut self, secrets: impl IntoIterator<Item = (&'s String, &'s String)>) {
        let before = self.suite.secrets.pairs().len();
        for (name, value) in secrets {
            self.suite.secrets.add(name, value);
        }
        if self.suite.secrets.pairs().len() > before {
            self.rules = rules(&self.suite);
        }
    }

    /// The environment, and the suite's credentials, which may come from a file next to it.
    pub(crate) fn variables(&self) -> HashMap<String, String> {
        let pairs = self.suite.secrets.pairs().iter().cloned();
        let process = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        pairs.chain(process).collect()
    }

    /// The folder of cassettes next to the suite.
    pub(crate) fn cassettes(&self) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        folder.join("cassettes")
    }

    /// The judges.
    pub(crate) fn judges(
        &self,
        how: JudgeOptions,
        variables: &HashMap<String, String>,
        money: &Arc<Money>,
        stop: &Arc<AtomicBool>,
    ) -> Judges {
        Judges::new(
            how,
            &JudgingContext {
                path: &self.path,
                suite: &self.suite,
                variables,
                money,
                rules: &self.rules,
                stop,
            },
        )
    }

    /// The results in the form for reporters.
    pub(crate) fn view(&self, results: Results) -> View {
        let name = self.path.display().to_string();
        let mut redaction = Redaction::new(&self.rules);
        View::new(name, results, &self.sources, &mut redaction)
    }
}

fn rules(suite: &Suite) -> Arc<Rules> {
    let mut settings = Settings::default();
    settings
        .values
        .extend(suite.secrets.pairs().iter().cloned());
    Arc::new(redaction::built_in(&settings))
}
