//! The rules of the registry, explained.

use tapewright_corpus::registry;
use tapewright_corpus::rule::RegisteredRule;

use super::families::Family;
use crate::report;

/// The rules that `compliance run` tests.
pub(super) const FAMILY: Family = Family {
    title: "Compliance rules (tapewright compliance run, compliance diff)",
    list,
    page,
};

fn rules() -> Vec<RegisteredRule> {
    let registry = registry::embedded().value;
    registry.map(|registry| registry.rules).unwrap_or_default()
}

fn list() -> Vec<(String, String)> {
    rules()
        .into_iter()
        .map(|rule| (rule.id, rule.name))
        .collect()
}

fn page(word: &str) -> Option<String> {
    let id = word.trim().to_ascii_uppercase();
    let rule = rules().into_iter().find(|rule| rule.id == id)?;
    Some(report::corpora::rule(&rule))
}
