//! The tools, one file each.

mod diff;
pub(super) mod exchange;
mod explain;
mod find;
mod findings;
mod hangs;
pub(super) mod inspect;
mod list;
mod live;
mod step;

use serde_json::{Map, Value, json};

use super::Sources;
use super::answer::Answer;

/// A tool: its description for clients, and its implementation.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// The schema of its arguments.
    pub(super) input: fn() -> Value,
    /// The schema of its structured answer.
    pub(super) output: fn() -> Value,
    /// Whether it is about recorders that run, and makes no sense without one.
    pub(super) is_live: bool,
    pub(super) call: fn(&Sources, Map<String, Value>) -> anyhow::Result<Answer>,
}

/// Every tool, in the order in which an agent needs them.
pub(super) const ALL: &[&Spec] = &[
    &list::SPEC,
    &inspect::SPEC,
    &find::SPEC,
    &exchange::SPEC,
    &hangs::SPEC,
    &findings::SPEC,
    &diff::SPEC,
    &explain::SPEC,
    &step::SPEC,
    &live::SPEC,
];

impl Spec {
    /// It, as `tools/list` tells it.
    pub(super) fn tool(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": (self.input)(),
            "outputSchema": (self.output)(),
            "annotations": {
                "title": self.title,
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_names_its_members_and_says_what_each_is() {
        for spec in ALL {
            for schema in [(spec.input)(), (spec.output)()] {
                let members = schema["properties"].as_object();
                let members = members.unwrap_or_else(|| panic!("{}: {schema}", spec.name));
                assert!(members.values().all(Value::is_object), "{}", spec.name);
            }
        }
    }
}
