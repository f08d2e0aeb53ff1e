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

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::Sources;
use super::answer::Answer;

/// A tool: what clients are told of it, and what it does.
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
    pub(super) fn tool(&self) -> Tool {
        let object = |value: Value| match value {
            Value::Object(members) => Arc::new(members),
            _ => Arc::default(),
        };
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, self.about, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(hints)
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
