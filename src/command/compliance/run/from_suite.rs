//! `--from-suite`: the `compliance` block of a suite, and the rules of the version it pins.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tapewright_assertions::Failure;
use tapewright_config::Suite;
use tapewright_corpus::plan::{Plan, State};
use tapewright_corpus::score;
use tapewright_proxy::client::FIRST_STATELESS;

use super::results::{self, Row};
use super::scored::{Judged, LOCAL, Scored};
use super::{Arguments, LIMIT, gates, opening};
use crate::command::run::is_ci;
use crate::command::suites::Ready;
use crate::corpus::Run;
use crate::corpus::live::{AskOptions, Asker, Target};
use crate::corpus::versions::Versions;
use crate::report::{self, Mistake};
use crate::suite::live::{self, Reached};
use crate::suite::plan::Kind;
use crate::suite::result::{self, Status};
use crate::suite::world::SuiteWorld;

/// Time limit for each step of an opening, if the suite sets none.
const OPENING: Duration = Duration::from_secs(60);

impl Arguments {
    /// Runs the block, and the rules against the servers of its checks.
    pub(super) fn suite(&self, path: &Path, versions: &Versions) -> anyhow::Result<Scored> {
        let mut ready = match Ready::load(path, &self.variables, true, |_| Ok(()))? {
            Ok(ready) => ready,
            Err(refused) => {
                let why = refused.why.into_iter().next();
                let why = why.map(|one| one.why).unwrap_or_default();
                return Err(Mistake::new(
                    format!("invalid suite: {}", report::safe(&why)),
                    "fix the errors above",
                )
                .into());
            }
        };
        let pinned = ready.suite.compliance.spec_version;
        let version = match self.choice.spec_version.as_deref() {
            Some(named) => Some(versions.named(named)?),
            None => pinned.map(str::to_owned),
        };
        let options = options(&mut ready)?;
        let only = ready.plan.cases.iter().any(|case| case.options.only);
        if only && is_ci() {
            let what = "a test has `only`, which skips the other tests";
            return Err(Mistake::new(what, "remove it before running in CI").into());
        }
        let (rows, mut notes) = tests(&ready, &options, path);
        let server_names = servers(&ready.suite);
        let mut runs = Vec::new();
        for name in &server_names {
            match self.carry_out(&ready.suite, name, &options, version.as_deref(), versions)? {
                Some(run) => runs.push(run),
                None => notes.push(format!(
                    "`{name}` is a recording: judge it with `--capture`"
                )),
            }
        }
        let label = self.output.server_label.clone();
        let label = label.unwrap_or_else(|| server_names.join(", "));
        let mut scored = merged(
            label,
            versions,
            runs,
            rows,
            self.choice.capabilities.clone(),
        );
        scored.version = version.or(scored.version);
        scored.notes.extend(notes);
        gates::apply(&mut scored, &ready.suite.compliance, path, versions)?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let baseline = ready.suite.compliance.baseline.as_ref();
        scored.known = baseline.map(|baseline| beside.join(baseline));
        Ok(scored)
    }

    /// Runs the rules against one server.
    fn carry_out(
        &self,
        suite: &Suite,
        name: &str,
        options: &live::Options,
        version: Option<&str>,
        versions: &Versions,
    ) -> anyhow::Result<Option<Run>> {
        let Some(server) = suite.server(name) else {
            return Ok(None);
        };
        let Some(Reached { upstream, origin }) = live::reached(server, options)? else {
            return Ok(None);
        };
        let manner = AskOptions {
            rules: Arc::clone(&options.rules),
            timeout: self.choice.timeout,
            limit: LIMIT,
        };
        let hint = "see whether the server of the suite runs";
        let target = Target::new(upstream, origin, hint, manner);
        let mut conversation = Asker::open(target, &opening(version))?;
        let version = match version {
            Some(version) => version.to_owned(),
            None => versions.of_revision(&conversation.revision)?,
        };
        conversation.name_capabilities(self.choice.capabilities.clone());
        let plan = Plan::new(versions.registry(), &versions.corpus(&version)?);
        Ok(Some(conversation.run(plan)))
    }
}

/// The servers of the checks, each once; without checks, all servers of the suite.
fn servers(suite: &Suite) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for test in &suite.compliance.tests {
        if !names.contains(&test.server) {
            names.push(test.server.clone());
        }
    }
    if names.is_empty() {
        names = suite
            .servers
            .iter()
            .map(|server| server.name.clone())
            .collect();
    }
    names
}

/// The options for asking the servers.
fn options(ready: &mut Ready) -> anyhow::Result<live::Options> {
    let pairs = ready.suite.secrets.pairs().iter().cloned();
    let process = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let variables: HashMap<String, String> = pairs.chain(process).collect();
    let chosen: Vec<usize> = (0..ready.plan.cases.len()).collect();
    let tokens = live::tokens(&ready.suite, &ready.plan, &chosen, &variables)?;
    ready.hide(&tokens);
    let version = ready.suite.compliance.spec_version;
    let revision = version.and_then(|version| version.strip_prefix('v'));
    // Only a stateless revision is set: with a handshake, the server chooses.
    let revision = revision.filter(|revision| *revision >= FIRST_STATELESS);
    Ok(live::Options {
        parallel: 1,
        bail: false,
        retry: 0,
        record: None,
        times: false,
        revisions: revision.map(str::to_owned).into_iter().collect(),
        rules: Arc::clone(&ready.rules),
        interrupted: Arc::default(),
        patience: ready.suite.performance.default_timeout.unwrap_or(OPENING),
        progress: |_, _, _, _| {},
        variables,
        tokens,
        agents: None,
    })
}

/// Runs the checks, and the tests of tools, resources and prompts.
fn tests(ready: &Ready, options: &live::Options, path: &Path) -> (Vec<Row>, Vec<String>) {
    let cases = ready.plan.cases.iter().enumerate();
    let wanted = |kind: Kind| {
        matches!(
            kind,
            Kind::Compliance | Kind::Prompt | Kind::Resource | Kind::Tool
        )
    };
    let only = ready.plan.cases.iter().any(|case| case.options.only);
    let chosen: Vec<usize> = cases
        .filter(|(_, case)| wanted(case.kind) && (!only || case.options.only))
        .map(|(number, _)| number)
        .collect();
    let shared = SuiteWorld::beside(path, false, true, Arc::clone(&ready.rules));
    let results = live::run(
        &ready.suite,
        &ready.plan,
        &chosen,
        options,
        &Arc::new(shared),
    );
    let view = |row: &result::Row| row.status != Status::Skip;
    let (run, skipped): (Vec<_>, Vec<_>) = results.rows.iter().partition(|row| view(row));
    let mut notes: Vec<String> = skipped
        .iter()
        .map(|row| format!("skipped {} ({})", row.name, row.reasons.join("; ")))
        .collect();
    notes.extend(results.notes.iter().cloned());
    (run.into_iter().map(row).collect(), notes)
}

/// A test as a result: its rule is the first word of its name, if that is an id.
fn row(row: &result::Row) -> Row {
    let failures = row.failures.iter().map(|one| failed(&one.what));
    let errors = row.errors.iter().map(|one| one.what.to_string());
    let mut said = failures.chain(errors).chain(row.reasons.iter().cloned());
    let passed = row.status == Status::Pass;
    let took = row.took.unwrap_or_default();
    Row {
        rule_id: rule_of(&row.name).to_owned(),
        passed,
        source: LOCAL.to_owned(),
        message: said.next().filter(|_| !passed),
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    }
}

/// A failure as one line.
pub(super) fn failed(failure: &Failure) -> String {
    let found = failure
        .actual
        .as_ref()
        .map_or("nothing".to_owned(), |found| {
            let text: String = found.to_string().chars().take(SHOWN).collect();
            text
        });
    format!(
        "`{}` does not hold for `{}`: found {found}",
        failure.matcher, failure.target
    )
}

/// How many characters of a value are shown.
const SHOWN: usize = 200;

/// The id of a rule at the beginning of a name; else the name.
fn rule_of(name: &str) -> &str {
    let word = name.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches(':');
    let Some((letters, digits)) = word.rsplit_once('-') else {
        return name;
    };
    let is_id = letters.starts_with(|one: char| one.is_ascii_uppercase())
        && letters
            .chars()
            .all(|one| one.is_ascii_uppercase() || one.is_ascii_digit())
        && !digits.is_empty()
        && digits.chars().all(|one| one.is_ascii_digit());
    if is_id { word } else { name }
}

/// The outcome of each rule over all servers and the tests of the suite: one failure is enough.
fn merged(
    server: String,
    versions: &Versions,
    runs: Vec<Run>,
    rows: Vec<Row>,
    named: Option<Vec<String>>,
) -> Scored {
    let mut by_rule: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_rule.entry(row.rule_id.clone()).or_default().push(row);
    }
    let mut all: Option<Scored> = None;
    for run in runs {
        let one = Scored::of(server.clone(), run);
        all = Some(match all.take() {
            None => one,
            Some(before) => before.beside(one),
        });
    }
    let Some(mut scored) = all else {
        let rows = by_rule.into_values().flatten().collect();
        return results::score(server, versions.registry(), rows, named);
    };
    for judged in &mut scored.rules {
        let Some(rows) = by_rule.remove(&judged.rule.id) else {
            continue;
        };
        add(judged, &rows);
    }
    scored.others = by_rule
        .into_values()
        .flatten()
        .map(results::other)
        .collect();
    scored.card = score::score(scored.rules.iter().map(|one| (&one.rule, &one.state)));
    scored
}

/// Adds the outcomes of the suite's tests to those of a rule.
fn add(judged: &mut Judged, rows: &[Row]) {
    let facts = tapewright_corpus::plan::Facts::default();
    let own = results::judged(&judged.rule, rows, &facts);
    judged.took += own.took;
    let before = std::mem::replace(&mut judged.state, State::Fail(Vec::new()));
    judged.state = before.beside(own.state);
}

#[cfg(test)]
mod tests_of_names {
    use super::rule_of;

    #[test]
    fn a_name_begins_with_the_id_of_its_rule_or_is_one_itself() {
        assert_eq!(rule_of("PROTO-002 initialize answers"), "PROTO-002");
        assert_eq!(rule_of("PROTO-002: initialize answers"), "PROTO-002");
        assert_eq!(rule_of("lists tools"), "lists tools");
        assert_eq!(rule_of("A-B lists"), "A-B lists");
    }
}
