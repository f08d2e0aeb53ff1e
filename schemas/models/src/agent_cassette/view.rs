//! The values that the matchers of a suite resolve against.

use std::collections::HashSet;

use serde_json::Value;

use super::{ToolCall, Trace};
use crate::write::sorted;

impl Trace {
    /// The trace as matchers see it: as in the file, with `tool_names`,
    /// `redundant_tool_calls`, and for each result both `is_error` and `isError`.
    #[must_use]
    pub fn view(&self) -> Value {
        let mut value = self.to_value();
        both_spellings(&mut value);
        let turns = value.pointer_mut("/conversation/per_turn");
        if let Some(Value::Array(turns)) = turns {
            turns.iter_mut().for_each(both_spellings);
        }
        if let Value::Object(map) = &mut value {
            let names = self.tool_calls.iter().map(|call| call.name.as_str());
            map.insert("tool_names".into(), names.collect());
            map.insert(
                "redundant_tool_calls".into(),
                redundant(&self.tool_calls).into(),
            );
        }
        value
    }
}

fn both_spellings(value: &mut Value) {
    let Some(Value::Array(results)) = value.get_mut("tool_results") else {
        return;
    };
    for result in results {
        if let Value::Object(map) = result
            && let Some(is_error) = map.get("is_error").cloned()
        {
            map.insert("isError".into(), is_error);
        }
    }
}

/// The number of calls that repeat the name and the arguments of an earlier one.
fn redundant(calls: &[ToolCall]) -> usize {
    let mut seen = HashSet::new();
    let said = calls
        .iter()
        .map(|call| (call.name.as_str(), sorted(&call.args).to_string()));
    said.filter(|said| !seen.insert(said.clone())).count()
}
