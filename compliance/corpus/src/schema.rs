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
}

/// Whether a value is of a schema.
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
            written,
            compiled: OnceLock::new(),
        }
    }

    /// Whether a value is of it.
    pub(crate) fn validate(&self, value: &Value) -> Validity {
        let Some(validator) = self.compiled.get_or_init(|| compile(&self.written)) else {
            return Validity::Unknown;
        };
        if !schema_cost::is_bearable(&self.written, value) {
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
