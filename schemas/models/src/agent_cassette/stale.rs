//! Whether a cassette still belongs to its test.

use super::AgentCassette;
use crate::keys::hide_keys;

/// The inputs of an agent test.
#[derive(Clone, Copy, Debug)]
pub struct AgentInputs<'a> {
    /// The name of the test.
    pub agent: &'a str,
    /// The model.
    pub model: &'a str,
    /// The user's prompt.
    pub user_prompt: &'a str,
    /// The instructions, if any.
    pub system_prompt: Option<&'a str>,
}

/// A cassette that was recorded for something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cassette for agent `{agent}` model `{model}` is stale on field `{field}` (cassette=`{cassette}`, yaml=`{yaml}`); rerun with --record"
)]
pub struct Stale {
    /// The test.
    pub agent: String,
    /// The model that the suite requests.
    pub model: String,
    /// The field that differs.
    pub field: &'static str,
    /// The value in the cassette; empty if none.
    pub cassette: String,
    /// The value in the suite; empty if none.
    pub yaml: String,
}

impl AgentCassette {
    /// Checks that the suite's request is the recorded one; reports the first difference. Keys are
    /// hidden on both sides, since they were when the cassette was written.
    pub fn check(&self, asked: &AgentInputs<'_>) -> Result<(), Stale> {
        let fields = [
            ("model", Some(self.model.as_str()), Some(asked.model)),
            (
                "user_prompt",
                Some(self.user_prompt.as_str()),
                Some(asked.user_prompt),
            ),
            (
                "system_prompt",
                self.system_prompt.as_deref(),
                asked.system_prompt,
            ),
        ];
        for (field, recorded, asked_for) in fields {
            let recorded = recorded.map(hide_keys);
            let asked_for = asked_for.map(hide_keys);
            if recorded != asked_for {
                return Err(Stale {
                    agent: asked.agent.to_owned(),
                    model: asked.model.to_owned(),
                    field,
                    cassette: recorded.unwrap_or_default(),
                    yaml: asked_for.unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}
