//! An object that is taken apart member by member.

use serde_json::{Map, Value};

use super::{Members, Problem, ReadError};

/// The members of an object that have not been taken yet.
pub(super) struct Open(Members);

impl Open {
    pub(super) fn of(value: Value) -> Result<Self, ReadError> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            _ => Err(ReadError::expected("an object")),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        // The order of the remaining members does not matter: they are written sorted.
        self.0.swap_remove(name)
    }

    pub(super) fn needed(&mut self, name: &str) -> Result<Value, ReadError> {
        let found = self.take(name);
        found.ok_or_else(|| ReadError::new(Problem::Missing).under(name))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, ReadError> {
        text(self.needed(name)?).map_err(|error| error.under(name))
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, ReadError> {
        let found = self.take(name).map(text).transpose();
        found.map_err(|error| error.under(name))
    }

    /// A non-empty text.
    pub(super) fn name(&mut self, name: &str) -> Result<String, ReadError> {
        let found = self.text(name)?;
        if found.is_empty() {
            return Err(ReadError::expected("a text that is not empty").under(name));
        }
        Ok(found)
    }

    pub(super) fn optional_count(&mut self, name: &str) -> Result<Option<u64>, ReadError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let count = value.as_u64();
        let count = count.ok_or_else(|| ReadError::expected("a whole number").under(name))?;
        Ok(Some(count))
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Self, ReadError> {
        Self::of(self.needed(name)?).map_err(|error| error.under(name))
    }

    /// Every element of a required list.
    pub(super) fn each<T>(
        &mut self,
        name: &str,
        read: impl FnMut(Value) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let value = self.needed(name)?;
        each(value, read).map_err(|error| error.under(name))
    }

    /// Every element of an optional list.
    pub(super) fn optional_each<T>(
        &mut self,
        name: &str,
        read: impl FnMut(Value) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        each(value, read).map_err(|error| error.under(name))
    }

    /// The members that were not taken.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.0
    }
}

pub(super) fn text(value: Value) -> Result<String, ReadError> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(ReadError::expected("a string")),
    }
}

/// Every element of a list.
pub(super) fn each<T>(
    value: Value,
    mut read: impl FnMut(Value) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let Value::Array(list) = value else {
        return Err(ReadError::expected("a list"));
    };
    let list = list.into_iter().enumerate();
    list.map(|(at, value)| read(value).map_err(|error| error.under(&at.to_string())))
        .collect()
}
