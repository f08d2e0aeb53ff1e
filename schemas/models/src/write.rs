//! Writing JSON.

use serde_json::{Map, Value};

use crate::conversation::Extra;

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
