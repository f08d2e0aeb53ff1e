//! Schemas of tools in an older dialect.

use serde_json::{Map, Value};
use tapewright_schemas::event::Side;
use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, Seen};

pub(super) static SCHEMA: Case = Case {
    id: "tool-schema-not-2020-12",
    kind: Kind::SchemaVersion,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "the schema of a tool is not of JSON Schema 2020-12",
    old_contract: "`inputSchema` is any JSON Schema, of no dialect in particular",
    new_contract: "schemas are of JSON Schema 2020-12, which every peer understands",
    detection_signal: "another `$schema`, or a keyword that 2020-12 does not have in this form",
    replacement: "write the schema in 2020-12: `prefixItems` for tuples, `$defs`, numbers for `exclusiveMinimum`; set `$schema` to https://json-schema.org/draft/2020-12/schema, or omit it",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/server/tools",
    sep: "SEP-2106",
    begin: || Box::<Schema>::default(),
};

#[derive(Debug, Default)]
struct Schema {
    asked: bool,
}

/// The maximum depth of schemas that are examined.
const DEPTH: usize = 64;

impl Fold for Schema {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        let Some(result) = seen.result_of("tools/list") else {
            return;
        };
        self.asked = true;
        let Some(tools) = json::find(result, &["tools"]) else {
            return;
        };
        // Unreadable tools are covered by other rules.
        let Ok(Value::Array(tools)) = serde_json::from_slice(tools) else {
            return;
        };
        for (number, tool) in tools.iter().enumerate() {
            for name in ["inputSchema", "outputSchema"] {
                let Some(schema) = tool.get(name) else {
                    continue;
                };
                let pointer = format!("/result/tools/{number}/{name}");
                match older(schema, &pointer, DEPTH) {
                    Some((pointer, what)) => out.fail(Side::Server, seen.seq, &pointer, &what),
                    None => out.pass(
                        Side::Server,
                        seen.seq,
                        &pointer,
                        "the schemas of tools are of 2020-12",
                    ),
                }
            }
        }
    }

    fn undecided(&self) -> String {
        if self.asked {
            "the server has no tools".to_owned()
        } else {
            "the tools were not listed".to_owned()
        }
    }
}

/// The first part of a schema that 2020-12 does not have: where, and what.
fn older(schema: &Value, pointer: &str, depth: usize) -> Option<(String, String)> {
    let Value::Object(members) = schema else {
        return None;
    };
    let depth = depth.checked_sub(1)?;
    itself(members, pointer).or_else(|| {
        let mut members = members.iter();
        members.find_map(|(name, value)| within(name, value, pointer, depth))
    })
}

/// An outdated member of a schema itself.
fn itself(members: &Map<String, Value>, pointer: &str) -> Option<(String, String)> {
    if let Some(dialect) = members.get("$schema").and_then(Value::as_str)
        && !dialect
            .trim_end_matches('#')
            .ends_with("draft/2020-12/schema")
    {
        let what = format!("the schema is of `{dialect}`");
        return Some((format!("{pointer}/$schema"), what));
    }
    members.iter().find_map(|(name, value)| {
        let what = match name.as_str() {
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                format!("`{name}` is a boolean, which is of draft 4")
            }
            "items" if value.is_array() => {
                "`items` is an array, which 2020-12 calls `prefixItems`".to_owned()
            }
            "additionalItems" | "dependencies" | "$recursiveRef" | "$recursiveAnchor" => {
                format!("`{name}` is not a keyword of 2020-12")
            }
            _ => return None,
        };
        Some((format!("{pointer}/{name}"), what))
    })
}

/// An outdated part of the schemas inside a member of a schema.
fn within(name: &str, value: &Value, pointer: &str, depth: usize) -> Option<(String, String)> {
    const MAPS: [&str; 5] = [
        "properties",
        "patternProperties",
        "$defs",
        "definitions",
        "dependentSchemas",
    ];
    const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
    const SINGLE: [&str; 10] = [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    let pointer = format!("{pointer}/{}", escaped(name));
    match value {
        Value::Object(all) if MAPS.contains(&name) => all
            .iter()
            .find_map(|(name, one)| older(one, &format!("{pointer}/{}", escaped(name)), depth)),
        Value::Array(all) if LISTS.contains(&name) => all
            .iter()
            .enumerate()
            .find_map(|(number, one)| older(one, &format!("{pointer}/{number}"), depth)),
        one if SINGLE.contains(&name) => older(one, &pointer, depth),
        _ => None,
    }
}

/// A name as part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
