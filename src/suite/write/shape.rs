//! The common form of values, as a JSON Schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// How many members of an object are described, and down to which depth.
const MEMBERS: usize = 8;
const DEPTH: usize = 4;

/// A schema that all these values fit.
pub(super) fn schema(values: &[&Value]) -> Value {
    at(values, 0)
}

fn at(values: &[&Value], depth: usize) -> Value {
    let kinds: BTreeSet<&str> = values.iter().map(|one| kind(one)).collect();
    let kinds: Vec<&str> = if kinds.contains("number") {
        kinds.into_iter().filter(|one| *one != "integer").collect()
    } else {
        kinds.into_iter().collect()
    };
    let mut schema = Map::new();
    match kinds.as_slice() {
        [] => return json!({}),
        [one] => schema.insert("type".to_owned(), json!(one)),
        several => schema.insert("type".to_owned(), json!(several)),
    };
    if depth >= DEPTH {
        return Value::Object(schema);
    }
    match kinds.as_slice() {
        ["object"] => members(values, depth, &mut schema),
        ["array"] => elements(values, depth, &mut schema),
        _ => {}
    }
    Value::Object(schema)
}

fn members(values: &[&Value], depth: usize, schema: &mut Map<String, Value>) {
    let Some(first) = values.first().and_then(|one| one.as_object()) else {
        return;
    };
    let mut required = Vec::new();
    let mut properties = Map::new();
    for name in first.keys().take(MEMBERS) {
        let inner: Vec<&Value> = values.iter().filter_map(|one| one.get(name)).collect();
        if inner.len() == values.len() && name != "_meta" && !name.contains("<REDACTED") {
            required.push(name.clone());
            properties.insert(name.clone(), at(&inner, depth + 1));
        }
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
}

fn elements(values: &[&Value], depth: usize, schema: &mut Map<String, Value>) {
    let lists = || values.iter().filter_map(|one| one.as_array());
    let least = lists().map(Vec::len).min().unwrap_or_default();
    if least > 0 {
        schema.insert("minItems".to_owned(), json!(1));
    }
    let all: Vec<&Value> = lists().flatten().collect();
    if !all.is_empty() {
        schema.insert("items".to_owned(), at(&all, depth + 1));
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
