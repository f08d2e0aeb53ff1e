//! Reading the registry.

use std::collections::HashMap;

use super::names;
use super::rule::{RegisteredRule, Registry};
use crate::issue::Code;
use crate::read::Cursor;
use tapewright_schemas::order::Order as _;

/// The only version of the format.
const VERSION: u64 = 1;

/// Reads a whole registry.
pub(super) fn registry(at: &Cursor<'_>) -> Registry {
    let mut fields = at.fields();
    let version = fields.required("version");
    let version = version.map_or(VERSION, |at| at.integer_within(VERSION, VERSION));
    let items = fields.required("rules").map(|at| at.some_items());
    let mut rules = Vec::new();
    let mut seen = HashMap::new();
    for item in items.unwrap_or_default() {
        let rule = registered(&item);
        if let Some(first) = seen.insert(rule.id.clone(), rules.len() + 1)
            && !rule.id.is_empty()
        {
            let message = format!("`{}` is registered twice", rule.id.escape_debug());
            let help = format!("entry {first} of `rules` is the other one; an id is never reused");
            item.error_at_key(Code::DuplicateName, message, help);
        }
        rules.push(rule);
    }
    fields.finish();
    Registry { version, rules }
}

fn registered(at: &Cursor<'_>) -> RegisteredRule {
    let mut fields = at.fields();
    let category = fields.required("category");
    let category = category.map(|at| names::category(&at)).unwrap_or_default();
    let id = fields.required("id");
    let id = id.map(|at| names::id(&at, &category)).unwrap_or_default();
    let severity = fields.required("severity");
    let section = fields.required("section");
    let applies_to = fields.required("applies_to");
    let versions = fields.required("spec_versions");
    let versions = versions.map(|at| at.some_items()).unwrap_or_default();
    let rule = RegisteredRule {
        id,
        category,
        name: fields.name("name"),
        severity: severity.map_or(super::Severity::Must, |at| names::severity(&at)),
        applies_to: applies_to
            .map(|at| names::transports(&at))
            .unwrap_or_default(),
        spec_versions: versions.iter().map(names::version).collect(),
        description: fields.name("description"),
        references: fields.names("references"),
        section: section.map_or(super::Section::Lifecycle, |at| names::section(&at)),
        applicability: fields.optional_name("applicability"),
        spec_citation: fields.optional_name("spec_citation"),
        place: at.place(),
    };
    fields.finish();
    rule
}

impl Registry {
    /// The rule with this id.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&RegisteredRule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// The rules that a version has.
    pub fn of_version(&self, version: &str) -> impl Iterator<Item = &RegisteredRule> {
        self.rules.iter().filter(move |rule| rule.is_of(version))
    }

    /// Every version that a rule names, in order, the draft last.
    #[must_use]
    pub fn versions(&self) -> Vec<&str> {
        let all = self.rules.iter().flat_map(|rule| &rule.spec_versions);
        let mut versions: Vec<&str> = all.map(String::as_str).collect();
        versions.order_by_key(|version| (*version == names::DRAFT, *version));
        versions.dedup();
        versions
    }
}

impl RegisteredRule {
    /// Whether a version has it.
    #[must_use]
    pub fn is_of(&self, version: &str) -> bool {
        self.spec_versions.iter().any(|one| one == version)
    }
}
