//! The arguments of tools.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::report::{Mistake, safe};

/// What a tool is asked, from the arguments of a call.
pub(super) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Mistake> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let hint = "`tools/list` has the schema of the arguments";
        let why: String = error.to_string().chars().take(WHY_CHARS).collect();
        Mistake::new(
            format!("the arguments cannot be read: {}", safe(&why)),
            hint,
        )
    })
}

const WHY_CHARS: usize = 400;

/// Default number of rows in an answer.
const ROWS: usize = 50;
/// The most rows of an answer.
const MOST_ROWS: usize = 200;

/// How many rows are wanted.
pub(super) fn rows(limit: Option<usize>) -> usize {
    limit.unwrap_or(ROWS).clamp(1, MOST_ROWS)
}

/// A schema that is written down: `json!` is code for every member of it.
pub(super) fn written(schema: &'static str) -> Value {
    serde_json::from_str(schema).unwrap_or_default()
}

/// Says what a member is of, whose place a schema that is written down keeps by a `null`.
pub(super) fn fill(schema: &mut Value, member: &str, of: Value) {
    let members = schema.get_mut("properties");
    if let Some(place) = members.and_then(|members| members.get_mut(member)) {
        *place = of;
    }
}

/// The schema of the name of a recording.
pub(super) fn recording() -> Value {
    json!({
        "type": "string",
        "description": "Name of a recording, from `list_recordings`.",
    })
}

/// The schema of a number of rows.
pub(super) fn limit() -> Value {
    limit_of(ROWS)
}

/// The same, with another default.
pub(super) fn limit_of(rows: usize) -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": rows,
        "description": "The most rows; fewer come when they are long.",
    })
}

/// The schema of a cursor.
pub(super) fn cursor() -> Value {
    json!({
        "type": "string",
        "description": "`next_cursor` of the last answer, to continue after it.",
    })
}

/// The schema of an object with these members, of which some must be there, and no others.
pub(super) fn object(members: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": false,
    })
}
