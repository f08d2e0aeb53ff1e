//! Strict parsing of JSON: duplicate members are rejected, and errors have a position.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{MAX_BYTES, Problem, ReadError};

/// A document as a value; serde reads at most 128 levels.
pub(super) fn read(text: &[u8]) -> Result<Value, ReadError> {
    if text.len() > MAX_BYTES {
        return Err(ReadError::new(Problem::TooLong));
    }
    let path = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Tree { path: &path }.deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| {
        let error = ReadError::new(Problem::NotJson(error.to_string()));
        // The innermost step was noted first.
        let steps = path.into_inner();
        steps.iter().fold(error, |error, step| error.under(step))
    })
}

/// Reads a value; errors record the path to it.
#[derive(Clone, Copy)]
struct Tree<'p> {
    path: &'p RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        loop {
            match list.next_element_seed(self) {
                Ok(Some(value)) => all.push(value),
                Ok(None) => return Ok(Value::Array(all)),
                Err(error) => {
                    self.path.borrow_mut().push(all.len().to_string());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if all.contains_key(&name) {
                self.path.borrow_mut().push(name);
                return Err(A::Error::custom("duplicate member"));
            }
            match members.next_value_seed(self) {
                Ok(value) => all.insert(name, value),
                Err(error) => {
                    self.path.borrow_mut().push(name);
                    return Err(error);
                }
            };
        }
        Ok(Value::Object(all))
    }
}
