//! A JSON Schema as a page: a table for each object, and a line for everything else.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::cell;

/// The page of one schema.
pub(super) fn of(name: &str, schema: &Value) -> String {
    let mut out = String::new();
    for key in ["title", "description"] {
        if let Some(text) = schema[key].as_str() {
            writeln!(out, "{}\n", cell(text)).expect("a text");
        }
    }
    writeln!(out, "`tapewright schema {name}` prints the schema itself.").expect("a text");
    object(schema, &mut out);
    let empty = Map::new();
    for (name, one) in schema["$defs"].as_object().unwrap_or(&empty) {
        writeln!(out, "\n## {name}").expect("a text");
        if let Some(text) = one["description"].as_str() {
            writeln!(out, "\n{}", cell(text)).expect("a text");
        }
        if !object(one, &mut out) {
            writeln!(out, "\n{}", sentence(&kind(one, ""))).expect("a text");
        }
    }
    out
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// The tables of an object and of its forms. Returns whether there were any.
fn object(schema: &Value, out: &mut String) -> bool {
    let mut found = false;
    if let Some(members) = schema["properties"].as_object() {
        table(schema, members, out);
        found = true;
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        let forms = schema[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        for form in forms {
            let Some(members) = form["properties"].as_object() else {
                continue;
            };
            match form["description"].as_str() {
                Some(text) => writeln!(out, "\n{}", cell(text)).expect("a text"),
                None => writeln!(out, "\nOr:").expect("a text"),
            }
            table(form, members, out);
            found = true;
        }
    }
    found
}

fn table(schema: &Value, members: &Map<String, Value>, out: &mut String) {
    out.push_str("\n| member | type | needed | meaning |\n|---|---|---|---|\n");
    rows(schema, members, "", out);
}

/// A row for each member, followed by the rows of an inline object.
fn rows(schema: &Value, members: &Map<String, Value>, above: &str, out: &mut String) {
    let empty = Vec::new();
    let needed = schema["required"].as_array().unwrap_or(&empty);
    for (name, one) in members {
        let is_needed = needed.iter().any(|needed| needed == name);
        let mark = if is_needed { "yes" } else { "" };
        let meaning = one["description"].as_str().map(cell).unwrap_or_default();
        writeln!(
            out,
            "| `{above}{name}` | {} | {mark} | {meaning} |",
            kind(one, "")
        )
        .expect("a text");
        if let Some(below) = one["properties"].as_object() {
            rows(one, below, &format!("{above}{name}."), out);
        }
        let items = &one["items"];
        if let Some(below) = items["properties"].as_object() {
            rows(items, below, &format!("{above}{name}[]."), out);
        }
    }
}

/// The type of a value, in words. Definitions become links into `file`.
pub(super) fn kind(schema: &Value, file: &str) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap_or_default();
        return if target == "#" {
            "the whole again".to_owned()
        } else {
            format!("[{name}]({file}#{name})")
        };
    }
    if let Some(value) = schema.get("const") {
        return format!("`{}`", cell(&value.to_string()));
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .map(|value| format!("`{}`", cell(&value.to_string())))
            .collect();
        return values.join(", ");
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(forms) = schema[key].as_array() {
            let mut all: Vec<String> = forms.iter().map(|form| kind(form, file)).collect();
            all.dedup();
            return all.join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => match kind_of_items(schema, file) {
            Some(items) => format!("list of {items}"),
            None => "list".to_owned(),
        },
        Value::String(kind) => named(kind).to_owned(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).map(named).collect();
            kinds.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

/// The description of a value, from its use or its definition.
pub(super) fn description<'a>(schema: &'a Value, of: &'a Value) -> Option<&'a str> {
    let target = of["$ref"]
        .as_str()
        .and_then(|target| target.strip_prefix('#'));
    let defined = || schema.pointer(target?)?["description"].as_str();
    of["description"].as_str().or_else(defined)
}

fn kind_of_items(schema: &Value, file: &str) -> Option<String> {
    let items = schema
        .get("items")
        .filter(|items| items.as_object().is_some_and(|one| !one.is_empty()))?;
    Some(kind(items, file))
}

fn named(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "`true` or `false`",
        "null" => "`null`",
        other => other,
    }
}
