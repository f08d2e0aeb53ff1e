//! JSON Schemas from peers: bounded in time, and never fetched from elsewhere.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use tapewright_schemas::schema_cost;

/// A schema that is compiled when it is needed.
pub struct OutputSchema {
    text: Box<[u8]>,
    compiled: OnceLock<Option<Box<Compiled>>>,
}

// A trait object: code that drops a schema need not be compiled with the validator.
type Compiled = dyn Fn(&Value) -> Validity + Send + Sync;

/// Whether a value conforms to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It does not, at this JSON pointer.
    Invalid(String),
    /// The schema is broken or refers elsewhere, or it would take too long.
    Unknown,
    /// It does.
    Valid,
}

/// The maximum size of a schema and of a value.
const SCHEMA_BYTES: usize = 256 << 10;
const VALUE_BYTES: usize = 4 << 20;
/// The largest automaton that a pattern may become.
const PATTERN_BYTES: usize = 1 << 20;

impl OutputSchema {
    /// A schema by its source text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        Self {
            text: text.into(),
            compiled: OnceLock::new(),
        }
    }

    /// Whether a value, given as its source text, conforms.
    #[must_use]
    pub fn validate(&self, value: &[u8]) -> Validity {
        let compiled = self.compiled.get_or_init(|| compile(&self.text));
        let value = (value.len() <= VALUE_BYTES)
            .then(|| serde_json::from_slice::<Value>(value).ok())
            .flatten();
        let (Some(compiled), Some(value)) = (compiled, value) else {
            return Validity::Unknown;
        };
        compiled(&value)
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "OutputSchema({} bytes)", self.text.len())
    }
}

fn compile(text: &[u8]) -> Option<Box<Compiled>> {
    if text.len() > SCHEMA_BYTES {
        return None;
    }
    let schema: Value = serde_json::from_slice(text).ok()?;
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let validator = jsonschema::options()
        .with_pattern_options(patterns)
        .build(&schema)
        .ok()?;
    Some(Box::new(move |value| validity(&schema, &validator, value)))
}

fn validity(schema: &Value, validator: &Validator, value: &Value) -> Validity {
    if !schema_cost::is_bearable(schema, value) {
        return Validity::Unknown;
    }
    match validator.validate(value) {
        Ok(()) => Validity::Valid,
        Err(error) => Validity::Invalid(error.instance_path().to_string()),
    }
}

/// Whether one of `texts` is the same JSON value, or `structured` is an object that only wraps
/// their content.
#[must_use]
pub fn is_told_by(structured: &[u8], texts: &[String]) -> bool {
    let Ok(structured) = serde_json::from_slice::<Value>(structured) else {
        return true;
    };
    let tells = |text: &String, value: &Value| {
        value.as_str() == Some(text)
            || serde_json::from_str::<Value>(text).is_ok_and(|one| &one == value)
    };
    if texts.iter().any(|text| tells(text, &structured)) {
        return true;
    }
    let mut members = structured.as_object().into_iter().flatten();
    let (Some((_, inner)), None) = (members.next(), members.next()) else {
        return false;
    };
    let each = |all: &Vec<Value>| {
        all.len() == texts.len() && all.iter().zip(texts).all(|(one, text)| tells(text, one))
    };
    texts.iter().any(|text| tells(text, inner)) || inner.as_array().is_some_and(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(schema: &str, value: &str) -> Validity {
        OutputSchema::new(schema.as_bytes()).validate(value.as_bytes())
    }

    #[test]
    fn a_violation_has_a_pointer() {
        let schema =
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"}}}}"#;
        assert_eq!(validate(schema, r#"{"a":[1,2]}"#), Validity::Valid);
        assert_eq!(
            validate(schema, r#"{"a":[1,"2"]}"#),
            Validity::Invalid("/a/1".to_owned())
        );
    }

    #[test]
    fn nothing_is_fetched_and_what_is_broken_is_unknown() {
        for schema in [
            r#"{"$ref":"https://example.com/schema.json"}"#,
            r#"{"$ref":"file:///etc/passwd"}"#,
            r#"{"type":7}"#,
            r#"{"pattern":"(?=a)b"}"#,
            r##"{"$ref":"#/$defs/none"}"##,
        ] {
            assert_eq!(validate(schema, r#""x""#), Validity::Unknown, "{schema}");
        }
    }

    #[test]
    fn structure_is_told_by_text() {
        let told = |structured: &str, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&one| one.to_owned()).collect();
            is_told_by(structured.as_bytes(), &texts)
        };
        assert!(told(r#"{"a":1}"#, &["note", "{ \"a\" : 1 }"]));
        assert!(told(r#"{"result":"plain"}"#, &["plain"]));
        assert!(told(r#"{"result":[1,2]}"#, &["1", "2"]));
        assert!(!told(r#"{"a":1}"#, &["{\"a\":2}"]));
        assert!(!told(r#"{"a":1,"b":2}"#, &["1"]));
    }
}
