//! Makes arguments for a tool from its input schema.

use serde_json::{Map, Value, json};

/// How deep objects are nested.
const DEPTH: usize = 4;

/// The smallest arguments that a tool requires; `None` if its schema does not say how to make them.
pub(crate) fn of(schema: Option<&Value>) -> Option<Value> {
    match schema {
        None => Some(json!({})),
        Some(schema) => object(schema, 0),
    }
}

fn object(schema: &Value, depth: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut made = Map::new();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let property = schema.get("properties")?.get(name)?;
        made.insert(name.to_owned(), value(property, depth + 1)?);
    }
    Some(Value::Object(made))
}

fn value(schema: &Value, depth: usize) -> Option<Value> {
    if depth > DEPTH {
        return None;
    }
    let first = |name: &str| schema.get(name)?.as_array()?.first().cloned();
    let given = [
        schema.get("const").cloned(),
        schema.get("default").cloned(),
        first("examples"),
        first("enum"),
    ];
    if let Some(given) = given.into_iter().flatten().next() {
        return Some(given);
    }
    let kind = match schema.get("type")? {
        Value::Array(kinds) => kinds.first()?.as_str()?,
        one => one.as_str()?,
    };
    match kind {
        "object" => object(schema, depth),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let one = || value(schema.get("items")?, depth + 1);
            let all: Option<Vec<Value>> = (0..least.min(8)).map(|_| one()).collect();
            all.map(Value::Array)
        }
        "string" => text(schema),
        "integer" => Some(whole(schema)),
        "number" => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
        "boolean" => Some(json!(false)),
        "null" => Some(Value::Null),
        _ => None,
    }
}

/// A text of the right length; one with a format is left to the user.
fn text(schema: &Value) -> Option<Value> {
    if schema.get("pattern").is_some() || schema.get("format").is_some() {
        return None;
    }
    let length = |name: &str| {
        let length = schema.get(name).and_then(Value::as_u64)?;
        usize::try_from(length).ok()
    };
    let (least, most) = (length("minLength").unwrap_or(0), length("maxLength"));
    if least > 1_000 {
        return None;
    }
    let text: String = "hello".chars().cycle().take(least.max(5)).collect();
    Some(json!(
        text.chars()
            .take(most.unwrap_or(usize::MAX))
            .collect::<String>()
    ))
}

fn whole(schema: &Value) -> Value {
    let number = |name: &str| schema.get(name).and_then(Value::as_i64);
    let least =
        number("minimum").or_else(|| number("exclusiveMinimum").map(|one| one.saturating_add(1)));
    let most = number("maximum");
    json!(least.unwrap_or(1).min(most.unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_required_is_made_and_given_values_go_first() {
        let schema = json!({
            "type": "object",
            "required": ["a", "b", "c", "d", "e"],
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "integer", "minimum": 7 },
                "c": { "enum": ["x", "y"] },
                "d": { "type": "array", "minItems": 1, "items": { "type": "boolean" } },
                "e": { "type": "object", "required": ["f"], "properties": { "f": { "default": 3 } } },
                "z": { "type": "string" },
            },
        });
        let made = json!({ "a": "hello", "b": 7, "c": "x", "d": [false], "e": { "f": 3 } });
        assert_eq!(of(Some(&schema)), Some(made));
        assert_eq!(of(None), Some(json!({})));
    }

    #[test]
    fn what_nobody_can_guess_is_not_made() {
        for property in [
            json!({ "type": "string", "format": "uri" }),
            json!({ "type": "string", "pattern": "^x$" }),
            json!({ "$ref": "#/$defs/x" }),
            json!(true),
        ] {
            let schema =
                json!({ "type": "object", "required": ["a"], "properties": { "a": property } });
            assert_eq!(of(Some(&schema)), None, "{schema}");
        }
    }
}
