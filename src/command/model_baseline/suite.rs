//! Captures the agent tests of a suite, model by model.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tapewright_baselines::{Baseline, Glob, exchanges, merge, model_version};
use tapewright_config::Suite;
use tapewright_config::suite::agent::Model;
use tapewright_config::suite::server::{Server, Target};
use tapewright_models::Family;

use super::candidates::{Candidate, Captured, hash, identity, qualified};
use super::join::{SuiteCandidates, join};
use super::source::SourceArguments;
use crate::command::models::money;
use crate::command::suites::Ready;
use crate::files::portable;
use crate::report::Mistake;
use crate::suite::live::agents::cassette;
use crate::suite::live::{self, AgentOptions, Capture, CapturedRun};
use crate::suite::models;
use crate::suite::plan::{AgentCase, What};
use crate::suite::result::{Row, Status};
use crate::suite::world::SuiteWorld;

/// Time limit for each step of an opening, if the suite sets none.
const OPENING: Duration = Duration::from_secs(60);

/// How many steps of a test are tried against a filter.
const STEPS: usize = 200;

/// Which models are asked, if none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The only model of the tests.
    One,
    /// The models in `model_compatibility`, or else those of the tests.
    All,
}

/// Captures every requested model, in order. `None` if a suite cannot be used, which has been
/// reported.
pub(super) fn capture(
    paths: &[PathBuf],
    arguments: &SourceArguments,
    wanted: Wanted,
    filter: Option<&Glob>,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Option<Vec<Candidate>>> {
    let spent = Arc::default();
    let mut suites = Vec::new();
    for path in paths {
        let asking = Capturing {
            path,
            arguments,
            wanted,
            filter,
            spent: &spent,
            interrupted,
        };
        let Some(candidates) = asking.suite()? else {
            return Ok(None);
        };
        // A folder may have suites without agent tests.
        if !candidates.is_empty() {
            let suite = named(path);
            suites.push(SuiteCandidates { suite, candidates });
        }
    }
    if suites.is_empty() {
        let what = match paths {
            [_] => "the suite has no agent tests",
            _ => "no suite in the folder has agent tests",
        };
        let hint = "add them under `agents`; see docs/agents.md";
        return Err(Mistake::new(what, hint).into());
    }
    join(suites, wanted).map(Some)
}

/// How to capture a suite.
struct Capturing<'a> {
    path: &'a Path,
    arguments: &'a SourceArguments,
    wanted: Wanted,
    filter: Option<&'a Glob>,
    spent: &'a Arc<AtomicU64>,
    interrupted: &'a Arc<AtomicBool>,
}

impl Capturing<'_> {
    /// The models of one suite; empty if it has no agent tests.
    fn suite(&self) -> anyhow::Result<Option<Vec<Candidate>>> {
        let Self {
            path,
            arguments,
            filter,
            ..
        } = *self;
        let mut models = Vec::new();
        let ready = Ready::load(path, &arguments.variables, true, |suite| {
            models = chosen(suite, &arguments.models.model, self.wanted)?;
            for agent in &mut suite.agents {
                agent.models.clone_from(&models);
            }
            Ok(())
        })?;
        let Ok(mut ready) = ready else {
            return Ok(None);
        };
        if models.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let variables = ready.variables();
        let asked = asked(&ready, &cassettes(path), arguments);
        let tokens = live::tokens(&ready.suite, &ready.plan, &asked, &variables)?;
        let keys = models::keys(&ready.suite, &variables);
        ready.hide(tokens.iter().chain(&keys));
        let asking = Asking {
            path,
            arguments,
            filter,
            ready: &ready,
            variables: &variables,
            tokens: &tokens,
            spent: self.spent,
            interrupted: self.interrupted,
        };
        asking.all(&models).map(Some)
    }
}

/// The folder of a suite's cassettes.
fn cassettes(suite: &Path) -> PathBuf {
    suite.parent().unwrap_or(Path::new("")).join("cassettes")
}

/// The cases that need their servers, since no cassette has the run.
fn asked(ready: &Ready, folder: &Path, arguments: &SourceArguments) -> Vec<usize> {
    let is_asked = |what: &What| match what {
        What::Agent(agent) => arguments.is_fresh() || cassette::found(folder, agent).is_none(),
        _ => false,
    };
    let cases = ready.plan.cases.iter().enumerate();
    let asked = cases.filter(|(_, case)| is_asked(&case.what));
    asked.map(|(number, _)| number).collect()
}

/// The models to ask.
fn chosen(suite: &Suite, named: &[String], wanted: Wanted) -> anyhow::Result<Vec<Model>> {
    let own = suite.agents.iter().flat_map(|agent| &agent.models);
    let mut known: Vec<Model> = Vec::new();
    for model in own {
        if !known.contains(model) {
            known.push(model.clone());
        }
    }
    if known.is_empty() {
        return Ok(known);
    }
    let meant = &suite.model_compatibility;
    let named = match wanted {
        _ if !named.is_empty() => named,
        Wanted::All if !meant.is_empty() => meant,
        _ => &[],
    };
    if named.is_empty() {
        if wanted == Wanted::One && known.len() > 1 {
            let listed: Vec<String> = known.iter().map(id).collect();
            let what = format!("the suite uses several models: {}", listed.join(", "));
            let hint = "a baseline has one model; choose it with `--model`";
            return Err(Mistake::new(what, hint).into());
        }
        return Ok(known);
    }
    let mut models: Vec<Model> = Vec::new();
    for name in named {
        let model = named_model(suite, &known, name);
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if wanted == Wanted::One && models.len() > 1 {
        let what = "a baseline has one model";
        return Err(Mistake::new(what, "name one `--model`").into());
    }
    Ok(models)
}

/// The model with a name: with a provider of the suite or a known one in front, or alone.
fn named_model(suite: &Suite, known: &[Model], name: &str) -> Model {
    if let Some((provider, id)) = name.split_once(':') {
        if suite.providers.iter().any(|one| one.name == provider) {
            return Model {
                provider: Some(provider.to_owned()),
                id: id.to_owned(),
            };
        }
        let family = Family::of_model(id);
        if family.is_some_and(|family| family.name().eq_ignore_ascii_case(provider)) {
            return Model {
                provider: None,
                id: id.to_owned(),
            };
        }
    }
    let known = known.iter().find(|model| model.id == name);
    known.cloned().unwrap_or_else(|| Model {
        provider: None,
        id: name.to_owned(),
    })
}

/// A model with its provider.
fn id(model: &Model) -> String {
    match &model.provider {
        Some(provider) => format!("{provider}:{}", model.id),
        None => qualified(&model.id),
    }
}

struct Asking<'a> {
    path: &'a Path,
    arguments: &'a SourceArguments,
    filter: Option<&'a Glob>,
    ready: &'a Ready,
    variables: &'a HashMap<String, String>,
    /// The access tokens of servers with OAuth.
    tokens: &'a HashMap<String, String>,
    /// The cost of all models so far.
    spent: &'a Arc<AtomicU64>,
    interrupted: &'a Arc<AtomicBool>,
}

impl Asking<'_> {
    /// Captures every model, each as often as requested.
    fn all(&self, models: &[Model]) -> anyhow::Result<Vec<Candidate>> {
        let hash = hash(&config(&self.ready.suite, self.path), &self.ready.rules)?;
        let mut runs: Vec<Vec<Result<Baseline, Vec<String>>>> = vec![Vec::new(); models.len()];
        for _ in 0..self.arguments.models.runs {
            let (captured, rows) = self.once()?;
            for (model, runs) in models.iter().zip(&mut runs) {
                runs.push(self.of(model, &captured, &rows, &hash));
            }
        }
        let candidates = models.iter().zip(runs).map(|(model, runs)| {
            let captured = runs.into_iter().collect::<Result<Vec<Baseline>, _>>();
            let captured = captured.map(|runs| {
                let baseline = merge(runs)?;
                let rules = Arc::clone(&self.ready.rules);
                Some(Captured { baseline, rules })
            });
            Candidate {
                model: id(model),
                captured: captured.and_then(|one| one.ok_or_else(Vec::new)),
            }
        });
        Ok(candidates.collect())
    }

    /// Runs every agent test once with every model.
    fn once(&self) -> anyhow::Result<(Vec<CapturedRun>, Vec<Row>)> {
        let Ready {
            suite,
            plan,
            rules,
            path,
            ..
        } = self.ready;
        let models = &self.arguments.models;
        let runs = Arc::new(Mutex::new(Vec::new()));
        let agents = AgentOptions {
            folder: cassettes(self.path),
            record: false,
            update: false,
            capture: Some(Capture {
                runs: Arc::clone(&runs),
                fresh: self.arguments.is_fresh(),
            }),
            check_tools: false,
            money: money(suite, models.prices.as_deref(), models.max_cost, self.spent)?,
            evals: None,
        };
        let chosen: Vec<usize> = self.cases().map(|(number, _)| number).collect();
        let options = live::Options {
            parallel: models.parallel,
            bail: false,
            retry: 0,
            record: None,
            times: false,
            revisions: suite
                .target_versions
                .iter()
                .map(|one| (*one).to_owned())
                .collect(),
            rules: Arc::clone(rules),
            interrupted: Arc::clone(self.interrupted),
            patience: suite.performance.default_timeout.unwrap_or(OPENING),
            progress: |_, _, _, _| {},
            variables: self.variables.clone(),
            tokens: self.tokens.clone(),
            agents: Some(agents),
        };
        let shared = Arc::new(SuiteWorld::beside(path, false, true, Arc::clone(rules)));
        let results = live::run(suite, plan, &chosen, &options, &shared);
        drop(options);
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((std::mem::take(&mut *runs), results.rows))
    }

    /// The agent tests with a step that the filter may select: others are not run.
    fn cases(&self) -> impl Iterator<Item = (usize, &AgentCase)> {
        let file = named(self.path);
        let takes = move |agent: &AgentCase| {
            self.filter.is_none_or(|filter| {
                let mut steps = 1..=STEPS;
                steps.any(|step| filter.takes(&format!("{file}::{}::step-{step}", agent.agent)))
            })
        };
        let cases = self.ready.plan.cases.iter().enumerate();
        cases.filter_map(move |(number, case)| match &case.what {
            What::Agent(agent) if takes(agent) => Some((number, agent.as_ref())),
            _ => None,
        })
    }

    /// What a model did in one run; or the reasons for each test why that is unknown.
    fn of(
        &self,
        model: &Model,
        captured: &[CapturedRun],
        rows: &[Row],
        hash: &str,
    ) -> Result<Baseline, Vec<String>> {
        let file = named(self.path);
        let own: Vec<(usize, &AgentCase)> = self
            .cases()
            .filter(|(_, agent)| {
                (&agent.model.provider, &agent.model.id) == (&model.provider, &model.id)
            })
            .collect();
        let mut all = Vec::new();
        let mut missing = Vec::new();
        let mut servers = Vec::new();
        let mut traces = Vec::new();
        for (number, agent) in own {
            let Some(run) = captured.iter().find(|run| run.case == number) else {
                let why = why(number, rows);
                missing.push(format!("{}: {why}", agent.agent));
                continue;
            };
            traces.push(&run.cassette.trace);
            servers.extend(run.cassette.servers.clone());
            all.extend(exchanges(&file, &agent.agent, &run.cassette.trace));
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        let version = model_version(traces.into_iter());
        let identity = identity(id(model), version, &servers, hash.to_owned());
        Ok(Baseline::new(identity, all))
    }
}

/// The reason why a test was not captured.
fn why(number: usize, rows: &[Row]) -> String {
    let mut own = rows.iter().filter(|row| row.case == number);
    let told = own.find(|row| row.stub || matches!(row.status, Status::Error | Status::Skip));
    let reasons = told.map(|row| row.reasons.join("; ")).unwrap_or_default();
    if reasons.is_empty() {
        "it did not run".to_owned()
    } else {
        reasons
    }
}

/// The name of a suite in ids: the same for every spelling of its path below the working folder.
fn named(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    portable(path.strip_prefix(".").unwrap_or(path))
}

/// How the servers of the agent tests are reached.
fn config(suite: &Suite, path: &Path) -> Value {
    let used = |server: &&Server| {
        let mut agents = suite.agents.iter();
        agents.any(|agent| agent.servers.contains(&server.name))
    };
    let servers = suite.servers.iter().filter(used);
    let each = servers.map(|server| (server.name.clone(), reached(server, path)));
    Value::Object(each.collect::<Map<String, Value>>())
}

/// How a server is reached, independent of the working folder.
fn reached(server: &Server, suite: &Path) -> Value {
    match &server.target {
        Target::Command(command) => {
            let env = command.env.iter().cloned();
            let env = env.map(|(name, value)| (name, Value::from(value)));
            json!({ "command": command.argv, "env": env.collect::<Map<_, _>>() })
        }
        Target::Url(url) => {
            let headers = url.headers.iter();
            let headers: Vec<&str> = headers.map(|header| header.name.as_str()).collect();
            json!({ "url": url.url, "headers": headers })
        }
        Target::Cassette(cassette) => {
            let folder = suite.parent().unwrap_or(Path::new(""));
            let cassette = cassette.strip_prefix(folder).unwrap_or(cassette);
            json!({ "cassette": portable(cassette) })
        }
    }
}
