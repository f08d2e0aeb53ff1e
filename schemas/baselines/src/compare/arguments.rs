//! The arguments of tool calls.

use serde_json::{Map, Number, Value};

use super::entry::{ArgumentChange, ArgumentKind, Change};
use crate::file::ToolCall;

/// How the arguments of two calls of one tool differ, with the index of the call.
pub(super) fn compare(nth: usize, before: &ToolCall, after: &ToolCall) -> Option<Change> {
    let tool = before.name.clone();
    let arguments = differences(&before.arguments, &after.arguments);
    if !arguments.is_empty() {
        return Some(Change::Arguments {
            tool,
            nth,
            arguments,
        });
    }
    if let (Some(before), Some(after)) = (&before.raw_arguments, &after.raw_arguments)
        && before != after
    {
        return Some(Change::ArgumentOrder {
            tool,
            nth,
            before: before.clone(),
            after: after.clone(),
        });
    }
    None
}

/// Every argument that differs, if both sides are objects.
fn differences(before: &Value, after: &Value) -> Vec<ArgumentChange> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        if same(before, after) {
            return Vec::new();
        }
        return vec![changed(String::new(), before, after)];
    };
    let mut all = Vec::new();
    for (name, before) in old {
        match new.get(name) {
            None => all.push(one_sided(name, Some(before), None)),
            Some(after) if !same(before, after) => {
                all.push(changed(pointer(name), before, after));
            }
            Some(_) => {}
        }
    }
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    all.extend(added.map(|(name, after)| one_sided(name, None, Some(after))));
    all
}

fn one_sided(name: &str, before: Option<&Value>, after: Option<&Value>) -> ArgumentChange {
    ArgumentChange {
        pointer: pointer(name),
        kind: if before.is_some() {
            ArgumentKind::Removed
        } else {
            ArgumentKind::Added
        },
        before: before.cloned(),
        after: after.cloned(),
    }
}

fn changed(pointer: String, before: &Value, after: &Value) -> ArgumentChange {
    let is_same_type = std::mem::discriminant(before) == std::mem::discriminant(after);
    ArgumentChange {
        pointer,
        kind: if is_same_type {
            ArgumentKind::Value
        } else {
            ArgumentKind::Type
        },
        before: Some(before.clone()),
        after: Some(after.clone()),
    }
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Whether two values are the same, regardless of the order of members and of whether a whole
/// number is written `1` or `1.0`.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => same_members(one, other),
        (one, other) => one == other,
    }
}

fn same_members(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let has = |(name, value): (&String, &Value)| {
        let found = other.get(name);
        found.is_some_and(|found| same(value, found))
    };
    one.len() == other.len() && one.iter().all(has)
}

fn same_number(one: &Number, other: &Number) -> bool {
    // Above 2^53 not every whole number has an exact float.
    let exact = |number: &Number| {
        let value = number.as_f64()?;
        (value.abs() < 9_007_199_254_740_992.0).then_some(value)
    };
    one == other || exact(one).is_some_and(|value| exact(other) == Some(value))
}
