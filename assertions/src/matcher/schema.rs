//! `schema`: a JSON Schema of the suite's author.
//!
//! Draft 2020-12 unless the schema names another. Nothing is ever fetched, and a validation that
//! would take too long is not begun: its visits are counted first ([`schema_cost`]), which needs no
//! clock and has the same result on every machine.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use tapewright_schemas::schema_cost;
use tapewright_schemas::slices::Part as _;

use super::{Judged, Matcher};
use crate::assertion::kind;
use crate::error::{LoadError, escaped};
use crate::failure::{Failure, Violation};
use crate::json::Json;
use crate::world::World;

/// A compiled schema.
pub(crate) struct Schema {
    source: Value,
    validator: Validator,
}

/// The maximum nesting depth of a schema: the document's default.
const DEPTH: usize = 64;
/// The maximum number of violations that are reported, and the maximum length of each.
const SHOWN: usize = 32;
const SHOWN_CHARS: usize = 400;
/// The largest automaton of a pattern, and the maximum number of backtracking steps.
const PATTERN_BYTES: usize = 1 << 20;
const BACKTRACKS: usize = 100_000;

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    Ok(Box::new(Schema::compile(value)?))
}

impl Schema {
    /// Compiles a schema after the checks of the documentation, in its order.
    pub(crate) fn compile(schema: &Value) -> Result<Self, LoadError> {
        if !schema.is_object() {
            return Err(LoadError::here(format!(
                "a schema is an object, not {}",
                kind(schema)
            )));
        }
        if let Some((pointer, target)) = external(schema, "") {
            return Err(LoadError {
                pointer,
                message: format!("SchemaExternalRef: `{target}` is outside of this schema"),
                help: Some(
                    "write what it refers to under `$defs`, and refer to that with `#/$defs/…`"
                        .to_owned(),
                ),
            });
        }
        if depth(schema, DEPTH + 1) > DEPTH {
            return Err(LoadError::here(format!(
                "SchemaTooDeep: the schema nests deeper than {DEPTH} levels"
            )));
        }
        let patterns = PatternOptions::fancy_regex()
            .size_limit(PATTERN_BYTES)
            .dfa_size_limit(PATTERN_BYTES)
            .backtrack_limit(BACKTRACKS);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .build(schema)
            .map_err(|error| LoadError {
                pointer: error.instance_path().to_string(),
                message: format!(
                    "the schema is invalid: {}",
                    shortened(&error.masked_with("this").to_string())
                ),
                help: None,
            })?;
        Ok(Self {
            source: schema.clone(),
            validator,
        })
    }

    /// The schema as it was written.
    pub(crate) fn source(&self) -> Json {
        Json::from(&self.source)
    }

    /// Judges a value; a missing one as `null`.
    pub(crate) fn judge(&self, value: Option<&Json>) -> Judged {
        let instance = value.map_or(Value::Null, Value::from);
        if !schema_cost::is_bearable(&self.source, &instance) {
            return Judged::unknown(
                "SchemaValidationTimedOut: validating by this schema may take longer than 2 s",
            );
        }
        let mut limit = None;
        let errors: Vec<Violation> = self
            .validator
            .iter_errors(&instance)
            .take(SHOWN)
            .inspect(|error| {
                if let ValidationErrorKind::BacktrackLimitExceeded { error } = error.kind() {
                    limit.get_or_insert_with(|| error.to_string());
                }
            })
            .map(|error| Violation {
                instance_path: error.instance_path().to_string(),
                schema_path: error.schema_path().to_string(),
                message: shortened(&error.to_string()),
            })
            .collect();
        if let Some(limit) = limit {
            return Judged::unknown(format!("a pattern of the schema cannot be judged: {limit}"));
        }
        let Some(first) = errors.first() else {
            return Judged::Holds;
        };
        let place = match first.instance_path.as_str() {
            "" => "the value".to_owned(),
            path => format!("`{path}`"),
        };
        let more = match errors.len() {
            1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        Judged::fails(Failure {
            note: Some(format!("{place}: {}{more}", first.message)),
            errors,
            ..Failure::default()
        })
    }
}

impl Matcher for Schema {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        Self::judge(self, value)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.source)
    }
}

/// The first member named `$ref`, anywhere, that refers to another document.
fn external(value: &Value, at: &str) -> Option<(String, String)> {
    match value {
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .find_map(|(index, one)| external(one, &format!("{at}/{index}"))),
        Value::Object(members) => members.iter().find_map(|(name, one)| {
            let here = format!("{at}/{}", escaped(name));
            match one.as_str() {
                Some(target)
                    if name == "$ref" && !target.is_empty() && !target.starts_with('#') =>
                {
                    Some((here, target.to_owned()))
                }
                _ => external(one, &here),
            }
        }),
        _ => None,
    }
}

/// The nesting depth of a value, counted up to `limit`.
fn depth(value: &Value, limit: usize) -> usize {
    if limit == 0 {
        return 0;
    }
    let below = match value {
        Value::Array(elements) => elements.iter().map(|one| depth(one, limit - 1)).max(),
        Value::Object(members) => members.values().map(|one| depth(one, limit - 1)).max(),
        _ => None,
    };
    1 + below.unwrap_or(0)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", text.part(..at)),
        None => text.to_owned(),
    }
}
