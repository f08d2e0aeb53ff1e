//! Comparing values.

use serde_json::Value;

use crate::rule::MatchMode;
use crate::verdict::{FailureReason, ShortValue};

/// The maximum depth of comparison.
const DEPTH: usize = 128;

/// The first place where `found` differs from the expectation.
pub(super) fn differs(
    expected: &Value,
    found: &Value,
    mode: MatchMode,
) -> Option<(String, FailureReason)> {
    let mut pointer = String::new();
    let why = walk(expected, found, mode, &mut pointer, 0)?;
    Some((pointer, why))
}

/// Whether two values are equal: numbers by value, objects in any order.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    differs(one, other, MatchMode::Exact).is_none()
}

fn walk(
    expected: &Value,
    found: &Value,
    mode: MatchMode,
    pointer: &mut String,
    depth: usize,
) -> Option<FailureReason> {
    let is_leaf = depth >= DEPTH;
    match (expected, found) {
        (Value::Object(wanted), Value::Object(there)) if !is_leaf => {
            for (name, expected) in wanted {
                let length = pointer.len();
                step(pointer, name);
                let why = match there.get(name) {
                    None => Some(FailureReason::Missing),
                    Some(found) => walk(expected, found, mode, pointer, depth + 1),
                };
                if why.is_some() {
                    return why;
                }
                pointer.truncate(length);
            }
            let extra = there.keys().find(|name| !wanted.contains_key(*name));
            let extra = extra.filter(|_| mode == MatchMode::Exact)?;
            step(pointer, extra);
            Some(FailureReason::Extra)
        }
        // Arrays are compared whole, even for a part.
        (Value::Array(wanted), Value::Array(there)) if !is_leaf && wanted.len() == there.len() => {
            for (index, (expected, found)) in wanted.iter().zip(there).enumerate() {
                let length = pointer.len();
                step(pointer, &index.to_string());
                let why = walk(expected, found, mode, pointer, depth + 1);
                if why.is_some() {
                    return why;
                }
                pointer.truncate(length);
            }
            None
        }
        (Value::Number(one), Value::Number(other)) if numbers_equal(one, other) => None,
        (one, other) if one == other => None,
        _ => Some(FailureReason::Differs {
            expected: ShortValue::of(expected),
            found: ShortValue::of(found),
        }),
    }
}

fn numbers_equal(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    if one.is_f64() || other.is_f64() {
        return matches!((one.as_f64(), other.as_f64()), (Some(one), Some(other)) if one.total_cmp(&other).is_eq());
    }
    one == other
}

/// Goes down to a member.
fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}
