//! Differences between the corpora of two versions.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tapewright_config::corpus::Rule;

use crate::version::VersionCorpus;

/// The difference between two versions, rule by rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDiff {
    /// The older version.
    pub from: String,
    /// The version that is moved to.
    pub to: String,
    /// Every rule that either version has, ordered by id.
    pub entries: Vec<Entry>,
    /// The number of rules of each kind.
    pub summary: Summary,
}

/// One rule in the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `PROTO-002`.
    pub rule_id: String,
    /// How it changed.
    pub change: Change,
    /// Its name in the newer version; in the older one if it was removed.
    pub name: String,
}

/// How a rule changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Both versions expect the same.
    Unchanged,
    /// They do not: a suite that was written against the old version may fail.
    Changed,
    /// Only the new version has it.
    Added,
    /// Only the old version has it.
    Removed,
}

/// The number of rules of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Unchanged rules.
    pub unchanged: usize,
    /// Rules with another expectation.
    pub changed: usize,
    /// New.
    pub added: usize,
    /// Gone.
    pub removed: usize,
}

impl Change {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// Compares the expectations of two versions, rule by rule.
///
/// The `expect` blocks of a rule are compared in their order, as values: the order of keys does not
/// matter. Requests, names, descriptions and notes are ignored.
#[must_use]
pub fn diff_versions(from: &VersionCorpus, to: &VersionCorpus) -> VersionDiff {
    let ids: BTreeSet<&str> = from
        .rules
        .iter()
        .chain(&to.rules)
        .map(|rule| rule.id.as_str())
        .collect();
    let mut summary = Summary::default();
    let entries = ids.into_iter().filter_map(|id| {
        let (change, rule) = match (from.rule(id), to.rule(id)) {
            (Some(old), Some(new)) if expected(old).eq(expected(new)) => (Change::Unchanged, new),
            (Some(_), Some(new)) => (Change::Changed, new),
            (None, Some(new)) => (Change::Added, new),
            (Some(old), None) => (Change::Removed, old),
            (None, None) => return None,
        };
        summary.count(change);
        Some(Entry {
            rule_id: id.to_owned(),
            change,
            name: rule.name.clone(),
        })
    });
    VersionDiff {
        from: from.version.clone(),
        to: to.version.clone(),
        entries: entries.collect(),
        summary,
    }
}

fn expected(rule: &Rule) -> impl Iterator<Item = &Value> {
    let written = rule
        .assertions
        .iter()
        .map(|assertion| &assertion.expect.written);
    // An assertion with a null expectation has none.
    written.filter(|written| !written.is_null())
}

impl Summary {
    fn count(&mut self, change: Change) {
        let counter = match change {
            Change::Unchanged => &mut self.unchanged,
            Change::Changed => &mut self.changed,
            Change::Added => &mut self.added,
            Change::Removed => &mut self.removed,
        };
        *counter += 1;
    }
}

impl VersionDiff {
    /// Whether all rules that both versions have are unchanged in their expectations. Added and
    /// removed rules do not count.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.summary.changed == 0
    }

    /// The rules that expect something else, in the order of their ids.
    pub fn changed_rules(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.change == Change::Changed)
    }

    /// The difference as JSON: `from`, `to`, `entries` and `summary`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let entry = |entry: &Entry| json!({"rule_id": entry.rule_id, "change": entry.change.name(), "name": entry.name});
        let entries: Vec<_> = self.entries.iter().map(entry).collect();
        let Summary {
            unchanged,
            changed,
            added,
            removed,
        } = self.summary;
        json!({
            "from": self.from,
            "to": self.to,
            "entries": entries,
            "summary": {"unchanged": unchanged, "changed": changed, "added": added, "removed": removed},
        })
    }
}
