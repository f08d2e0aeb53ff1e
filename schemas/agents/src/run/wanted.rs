//! The tools that a model asks for, and their results.

use serde_json::{Map, Value, json};
use tapewright_models::conversation::ToolUse;

use crate::{Catalogue, Offered};

/// A tool that the model asked for and that has not been called yet.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) id: Option<String>,
    /// The name that the model used.
    pub(super) name: String,
    pub(super) offered: Offered,
    /// The arguments as recorded in the trace.
    pub(super) args: Value,
    /// Why it cannot be called.
    pub(super) refused: Option<String>,
}

impl Wanted {
    pub(super) fn new(asked: &ToolUse, catalogue: &Catalogue) -> Self {
        let found = catalogue.find(&asked.name).cloned();
        let args = asked.arguments();
        let refused = if found.is_none() {
            Some(format!("unknown tool `{}`", asked.name))
        } else if !args.as_ref().is_some_and(Value::is_object) {
            Some("the arguments are not a JSON object".to_owned())
        } else {
            None
        };
        Self {
            id: asked.id.clone(),
            name: asked.name.clone(),
            offered: found.unwrap_or_else(|| catalogue.guess(&asked.name)),
            args: args.unwrap_or_else(|| asked.input.to_text().into()),
            refused,
        }
    }

    /// The arguments to call it with.
    pub(super) fn arguments(&self) -> Map<String, Value> {
        self.args.as_object().cloned().unwrap_or_default()
    }
}

/// A result with an error message.
pub(super) fn failed(why: &str) -> Value {
    json!({"content": [{"type": "text", "text": why}], "isError": true})
}
