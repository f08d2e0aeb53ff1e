//! Estimates how long a validation by JSON Schema can take, before it begins.
//!
//! A validator that follows references may visit a small schema exponentially often: ten
//! definitions, each of which refers twice to the next, cause a thousand visits. The visits are
//! counted here, each pair of a subschema and a value once, so that the count itself takes little
//! time.

use std::collections::HashMap;

use serde_json::Value;

/// The maximum number of visits, and the maximum number of counted pairs.
const VISITS: u64 = 1_000_000;
const PAIRS: usize = 100_000;

/// Keywords whose subschema applies to the value itself.
const IN_PLACE_ONE: [&str; 4] = ["not", "if", "then", "else"];
const IN_PLACE_LIST: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with one subschema for every element or member.
const EACH: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "propertyNames",
];
/// Keywords whose targets cannot be determined without a complete validator.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Whether validating `value` by `schema` ends in good time. Also false if that cannot be
/// determined, as with references that are resolved while validating.
#[must_use]
pub fn is_bearable(schema: &Value, value: &Value) -> bool {
    let mut count = Count {
        root: schema,
        known: HashMap::new(),
    };
    count
        .visits(schema, value)
        .is_some_and(|visits| visits <= VISITS)
}

struct Count<'a> {
    root: &'a Value,
    // By the addresses of a subschema and a value; `None` while it is being counted, to detect
    // cycles.
    known: HashMap<(usize, usize), Option<u64>>,
}

impl<'a> Count<'a> {
    fn visits(&mut self, schema: &'a Value, value: &'a Value) -> Option<u64> {
        let Some(members) = schema.as_object() else {
            return Some(1);
        };
        let pair = (address(schema), address(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if self.known.len() >= PAIRS {
            return None;
        }
        self.known.insert(pair, None);
        let mut sum = 1_u64;
        for (name, inner) in members {
            sum = sum.saturating_add(self.keyword(name, inner, value)?);
            if sum > VISITS {
                return None;
            }
        }
        self.known.insert(pair, Some(sum));
        Some(sum)
    }

    fn keyword(&mut self, name: &str, inner: &'a Value, value: &'a Value) -> Option<u64> {
        if name == "$ref" {
            let name = inner.as_str()?.strip_prefix('#')?;
            let target = match self.root.pointer(name) {
                Some(target) => target,
                None => anchored(self.root, name)?,
            };
            return self.visits(target, value);
        }
        if DYNAMIC.contains(&name) {
            return None;
        }
        if IN_PLACE_ONE.contains(&name) {
            return self.visits(inner, value);
        }
        if IN_PLACE_LIST.contains(&name) {
            return self.sum(inner.as_array()?.iter(), value);
        }
        if name == "dependentSchemas" || name == "dependencies" {
            return self.sum(inner.as_object()?.values(), value);
        }
        self.below(name, inner, value)
    }

    /// Keywords that apply to parts of the value.
    fn below(&mut self, name: &str, inner: &'a Value, value: &'a Value) -> Option<u64> {
        let mut sum = 0_u64;
        match name {
            "properties" => {
                let (Some(schemas), Some(values)) = (inner.as_object(), value.as_object()) else {
                    return Some(1);
                };
                for (name, schema) in schemas {
                    if let Some(value) = values.get(name) {
                        sum = sum.saturating_add(self.visits(schema, value)?);
                    }
                }
            }
            "patternProperties" => {
                let (Some(schemas), Some(values)) = (inner.as_object(), value.as_object()) else {
                    return Some(1);
                };
                for (schema, value) in schemas
                    .values()
                    .flat_map(|one| values.values().map(move |value| (one, value)))
                {
                    sum = sum.saturating_add(self.visits(schema, value)?);
                }
            }
            // A list of subschemas, as `prefixItems` and older `items` have it.
            "prefixItems" | "items" if inner.is_array() => {
                let (Some(schemas), Some(values)) = (inner.as_array(), value.as_array()) else {
                    return Some(1);
                };
                for (schema, value) in schemas.iter().zip(values) {
                    sum = sum.saturating_add(self.visits(schema, value)?);
                }
            }
            _ if EACH.contains(&name) => {
                let elements = value.as_array().into_iter().flatten();
                let members = value.as_object().into_iter().flatten().map(|(_, one)| one);
                for value in elements.chain(members) {
                    sum = sum.saturating_add(self.visits(inner, value)?);
                }
            }
            _ => {}
        }
        Some(sum.saturating_add(1))
    }

    fn sum(&mut self, schemas: impl Iterator<Item = &'a Value>, value: &'a Value) -> Option<u64> {
        let mut sum = 0_u64;
        for schema in schemas {
            sum = sum.saturating_add(self.visits(schema, value)?);
        }
        Some(sum)
    }
}

/// The subschema that an anchor names.
fn anchored<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let is_named = schema.get("$anchor").and_then(Value::as_str) == Some(name);
    if is_named {
        return Some(schema);
    }
    match schema {
        Value::Array(elements) => elements.iter().find_map(|one| anchored(one, name)),
        Value::Object(members) => members.values().find_map(|one| anchored(one, name)),
        _ => None,
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_doubles_at_every_step_is_not_begun() {
        let doubling = |steps: usize, keyword: &dyn Fn(Value) -> Value| {
            let mut defs = serde_json::Map::new();
            for step in 0..steps {
                let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
                defs.insert(format!("d{step}"), keyword(next));
            }
            defs.insert(format!("d{steps}"), json!({"type": "object"}));
            json!({"$ref": "#/$defs/d0", "$defs": defs})
        };
        let twice = |next: Value| json!({"allOf": [next.clone(), next]});
        assert!(is_bearable(&doubling(8, &twice), &json!({})));
        assert!(!is_bearable(&doubling(40, &twice), &json!({})));
    }

    #[test]
    fn recursion_is_bounded_by_the_value_and_circles_are_found() {
        let list = json!({"properties": {"next": {"$ref": "#"}}, "type": "object"});
        assert!(is_bearable(&list, &json!({"next": {"next": {}}})));
        assert!(!is_bearable(&json!({"$ref": "#"}), &json!({})));
        let twice = json!({"allOf": [
            {"properties": {"next": {"$ref": "#"}}},
            {"properties": {"next": {"$ref": "#"}}},
        ]});
        let mut value = json!({});
        for _ in 0..60 {
            value = json!({"next": value});
        }
        assert!(!is_bearable(&twice, &value));
    }

    #[test]
    fn long_values_of_plain_schemas_are_bearable() {
        let schema = json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number"}}}});
        let value: Vec<Value> = (0..10_000).map(|number| json!({"a": number})).collect();
        assert!(is_bearable(&schema, &Value::Array(value)));
    }
}
