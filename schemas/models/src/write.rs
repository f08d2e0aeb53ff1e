//! Writing JSON.

use serde_json::{Map, Value};

use crate::conversation::Extra;
use tapewright_schemas::order::Order as _;

/// An object with further members.
pub(crate) fn with(mut value: Value, more: &Extra) -> Value {
    if let Value::Object(map) = &mut value {
        for (name, member) in more {
            map.entry(name.as_str()).or_insert_with(|| member.clone());
        }
    }
    value
}

/// Adds a member that may be absent.
pub(crate) fn put<T: Into<Value>>(map: &mut Map<String, Value>, name: &str, value: Option<T>) {
    if let Some(value) = value {
        map.insert(name.to_owned(), value.into());
    }
}

/// The same value with the members of every object sorted by name.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.order_by_key(|(name, _)| name.as_str());
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        value => value.clone(),
    }
}
