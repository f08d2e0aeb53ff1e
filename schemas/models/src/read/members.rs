//! An object that is taken apart member by member.

use serde_json::Value;

use super::{Problem, ReadError};
use crate::conversation::Extra;

/// The members of an object that have not been taken yet. `null` counts as absent.
#[derive(Debug, Default)]
pub(crate) struct Members {
    map: Extra,
    // Protocol buffers as JSON: each name may be spelled in snake case as well.
    proto: bool,
}

impl Members {
    pub(crate) fn of(value: Value) -> Result<Self, ReadError> {
        match value {
            Value::Object(map) => Ok(Self { map, proto: false }),
            _ => Err(ReadError::expected("an object")),
        }
    }

    /// Like `of`, for Gemini, where `fooBar` may be `foo_bar`.
    pub(crate) fn of_proto(value: Value) -> Result<Self, ReadError> {
        let mut members = Self::of(value)?;
        members.proto = true;
        Ok(members)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let found = match self.map.shift_remove(name) {
            None if self.proto => self.map.shift_remove(&snake(name)),
            found => found,
        };
        found.filter(|value| !value.is_null())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        let is_there = |name: &str| self.map.get(name).is_some_and(|value| !value.is_null());
        is_there(name) || self.proto && is_there(&snake(name))
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ReadError> {
        self.typed(name, "a string", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    pub(crate) fn needed_text(&mut self, name: &str) -> Result<String, ReadError> {
        let found = self.text(name)?;
        found.ok_or_else(|| ReadError::new(Problem::Missing).under(name))
    }

    /// A count; JSON of some providers has `12.0`.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>, ReadError> {
        self.typed(name, "a count", |value| count(&value))
    }

    pub(crate) fn integer(&mut self, name: &str) -> Result<Option<i64>, ReadError> {
        self.typed(name, "an integer", |value| value.as_i64())
    }

    pub(crate) fn number(&mut self, name: &str) -> Result<Option<f64>, ReadError> {
        self.typed(name, "a number", |value| value.as_f64())
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, ReadError> {
        self.typed(name, "a boolean", |value| value.as_bool())
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value>, ReadError> {
        let found = self.typed(name, "a list", |value| match value {
            Value::Array(list) => Some(list),
            _ => None,
        })?;
        Ok(found.unwrap_or_default())
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Self>, ReadError> {
        let proto = self.proto;
        self.typed(name, "an object", |value| match value {
            Value::Object(map) => Some(Self { map, proto }),
            _ => None,
        })
    }

    /// Every element of the list under `name`.
    pub(crate) fn each<T>(
        &mut self,
        name: &str,
        read: impl FnMut(Value) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        each(self.list(name)?, read).map_err(|error| error.under(name))
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, ReadError> {
        self.each(name, |value| match value {
            Value::String(text) => Ok(text),
            _ => Err(ReadError::expected("a string")),
        })
    }

    /// Adds members from elsewhere, for [`Self::rest`].
    pub(crate) fn put_all(&mut self, more: Extra) {
        self.map.extend(more);
    }

    /// The members that were not taken.
    pub(crate) fn rest(self) -> Extra {
        let mut map = self.map;
        map.retain(|_, value| !value.is_null());
        map
    }

    fn typed<T>(
        &mut self,
        name: &str,
        what: &'static str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let found = read(value).ok_or_else(|| ReadError::expected(what).under(name))?;
        Ok(Some(found))
    }
}

/// Every element of a list.
pub(crate) fn each<T>(
    list: Vec<Value>,
    mut read: impl FnMut(Value) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let mut found = Vec::with_capacity(list.len());
    for (index, value) in list.into_iter().enumerate() {
        found.push(read(value).map_err(|error| error.under(&index.to_string()))?);
    }
    Ok(found)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a whole number between zero and 2^53"
)]
fn count(value: &Value) -> Option<u64> {
    let exact = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..=exact).contains(&number)).then_some(number as u64)
    })
}

fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// The type of a block or an item.
pub(crate) fn kind(value: &Value) -> Option<&str> {
    value.get("type")?.as_str()
}
