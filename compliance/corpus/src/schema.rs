//! JSON Schema: bounded in time, and never fetched from elsewhere.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use tapewright_schemas::schema_cost;

/// A schema that is compiled when it is needed.
pub(crate) struct Schema {
    written: Value,
    compiled: OnceLock<Option<Box<Validator>>>,
    // The number of values that may be validated without estimating how long that takes.
    room: usize,
}

/// Whether a value matches a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    Invalid {
        pointer: String,
        why: String,
    },
    /// The schema is broken or refers elsewhere, or it would take too long.
    Unknown,
}

/// The largest automaton that a pattern may become.
const PATTERN_BYTES: usize = 1 << 20;

impl Schema {
    pub(crate) fn new(written: Value) -> Self {
        Self {
            room: room(&written),
            written,
            compiled: OnceLock::new(),
        }
    }

    /// Whether a value matches it.
    pub(crate) fn validate(&self, value: &Value) -> Validity {
        let Some(validator) = self.compiled.get_or_init(|| compile(&self.written)) else {
            return Validity::Unknown;
        };
        let is_small = count(value, self.room) < self.room;
        if !is_small && !schema_cost::is_bearable(&self.written, value) {
            return Validity::Unknown;
        }
        match validator.validate(value) {
            Ok(()) => Validity::Valid,
            Err(error) => Validity::Invalid {
                pointer: error.instance_path().to_string(),
                why: error.to_string(),
            },
        }
    }
}

/// The number of visits of a value by a part of a schema that counts as few.
const FEW: usize = 100_000;

/// The number of values that may be validated by a schema with few visits: none if it has
/// references, since it may visit a value again and again.
fn room(schema: &Value) -> usize {
    if refers(schema) {
        0
    } else {
        FEW / count(schema, FEW).max(1)
    }
}

fn refers(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(refers),
        Value::Object(members) => members
            .iter()
            .any(|(name, inner)| name.starts_with('$') && name.ends_with("ef") || refers(inner)),
        _ => false,
    }
}

/// The number of values within one, including itself; counting ends at `most`.
fn count(value: &Value, most: usize) -> usize {
    let mut sum = 1_usize;
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return sum,
    };
    while sum < most
        && let Some(one) = inner.next()
    {
        sum += count(one, most - sum);
    }
    sum
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Schema").field(&self.written).finish()
    }
}

fn compile(schema: &Value) -> Option<Box<Validator>> {
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).ok().map(Box::new)
}
