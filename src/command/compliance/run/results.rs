//! Results from a file: `--results-from`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tapewright_corpus::plan::{Broken, Facts, Inapplicable, State};
use tapewright_corpus::rule::{RegisteredRule, Registry};
use tapewright_corpus::verdict::Untested;

use super::scored::{Judged, Other, Scored};
use crate::report::{self, Mistake};

/// A row of the file, or of a suite.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Row {
    pub(super) rule_id: String,
    pub(super) passed: bool,
    pub(super) source: String,
    pub(super) message: Option<String>,
    pub(super) duration_ms: u64,
}

/// The file: rows, or a report that has them.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Rows(Vec<Row>),
    Report { results: Vec<Row> },
}

/// The rows of a file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Row>> {
    let shown = report::safe(&path.display().to_string());
    let text = std::fs::read(path).map_err(|error| {
        let what = format!("cannot read the results `{shown}`: {error}");
        Mistake::new(what, "name a file of results")
    })?;
    match serde_json::from_slice(&text) {
        Ok(File::Rows(rows) | File::Report { results: rows }) => Ok(rows),
        Err(_) => {
            let what = format!("no results in `{shown}`");
            let hint = "each has `rule_id`, `passed`, `source`, `message` and `duration_ms`; \
                        a report of `--format json` can be read, too";
            Err(Mistake::new(what, hint).into())
        }
    }
}

/// Scores rows by a registry. A rule without a row was not tested.
pub(super) fn score(
    server: String,
    registry: &Registry,
    rows: Vec<Row>,
    named: Option<Vec<String>>,
) -> Scored {
    let mut by_rule: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_rule.entry(row.rule_id.clone()).or_default().push(row);
    }
    let facts = Facts {
        named,
        ..Facts::default()
    };
    let judged = registry.rules.iter().map(|rule| {
        let rows = by_rule.remove(&rule.id).unwrap_or_default();
        judged(rule, &rows, &facts)
    });
    let judged: Vec<Judged> = judged.collect();
    let mut scored = Scored::new(server, judged);
    scored.others = by_rule.into_values().flatten().map(other).collect();
    scored
}

/// The outcome of a rule by its rows; one failed row is enough.
pub(super) fn judged(rule: &RegisteredRule, rows: &[Row], facts: &Facts) -> Judged {
    let broken: Vec<Broken> = rows.iter().filter(|row| !row.passed).map(broken).collect();
    let lacks = rule
        .applicability
        .as_deref()
        .filter(|name| rows.is_empty() && facts.lacks(name));
    let state = match (rows.len(), lacks) {
        (_, Some(name)) => State::Inapplicable(Inapplicable::Capability(name.to_owned())),
        (0, None) => State::Untested(Untested::NotAsked),
        (of, None) if broken.is_empty() => State::Pass { tested: of, of },
        _ => State::Fail(broken),
    };
    let source = rows.first().map_or("local", |row| row.source.as_str());
    Judged {
        rule: rule.clone(),
        state,
        took: rows
            .iter()
            .map(|row| Duration::from_millis(row.duration_ms))
            .sum(),
        source: source.to_owned(),
    }
}

pub(super) fn broken(row: &Row) -> Broken {
    Broken {
        about: None,
        what: row
            .message
            .clone()
            .unwrap_or_else(|| "it failed".to_owned()),
        seq: None,
        recording: 0,
    }
}

pub(super) fn other(row: Row) -> Other {
    Other {
        id: row.rule_id,
        passed: row.passed,
        message: row.message,
        source: row.source,
        took: Duration::from_millis(row.duration_ms),
    }
}
