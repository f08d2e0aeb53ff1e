//! The parts that assertions examine: of a result, and of the parameters of a request.

use serde_json::{Map, Value};
use tapewright_schemas::era::PROTOCOL_VERSION_KEY;

use super::look::Look;
use super::question::{NAMING, writes_meta, written};
use crate::judge::Assertion;
use crate::placeholder::is_in;
use crate::rule::MatchMode;

/// The parts of a result that an assertion examines.
pub(super) fn of_result(assertion: &Assertion) -> Look {
    let expect = &assertion.written.expect;
    if expect.error.is_some() {
        return Look::whole();
    }
    let mut look = Look::default();
    if let Some(result) = &expect.result {
        look.add(&of_expected(result, expect.match_mode));
    }
    if let Some(schema) = &expect.schema {
        look.add(&of_schema(schema));
    }
    look
}

/// The parts that a comparison with a value examines.
fn of_expected(expected: &Value, mode: MatchMode) -> Look {
    match expected {
        Value::Object(members) if mode == MatchMode::Subset => {
            let mut look = Look::default();
            for (name, inner) in members {
                look.member(name).add(&of_expected(inner, mode));
            }
            look
        }
        _ => Look::whole(),
    }
}

/// Keywords of JSON Schema that examine nothing.
const SILENT: [&str; 6] = [
    "$comment",
    "$schema",
    "default",
    "description",
    "examples",
    "title",
];

/// The parts that a JSON Schema examines: with a keyword that is unknown here, the whole value.
fn of_schema(schema: &Value) -> Look {
    let mut look = Look::default();
    for (keyword, inner) in schema.as_object().into_iter().flatten() {
        add_keyword(&mut look, keyword, inner);
    }
    look
}

fn add_keyword(look: &mut Look, keyword: &str, inner: &Value) {
    match (keyword, inner) {
        ("type", _) => {}
        ("required", Value::Array(names)) => {
            for name in names.iter().filter_map(Value::as_str) {
                look.member(name);
            }
        }
        ("properties", Value::Object(members)) => {
            for (name, schema) in members {
                look.member(name).add(&of_schema(schema));
            }
        }
        ("items" | "contains", Value::Object(_) | Value::Bool(_)) => {
            look.item().add(&of_schema(inner));
        }
        ("minItems" | "maxItems", _) => {
            look.item();
        }
        ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
            for schema in all {
                look.add(&of_schema(schema));
            }
        }
        ("if" | "then" | "else" | "not", _) => look.add(&of_schema(inner)),
        ("minLength", Value::Number(least)) if least.as_u64().is_some_and(|least| least <= 1) => {
            look.add(&Look::emptiness());
        }
        (silent, _) if SILENT.contains(&silent) => {}
        _ => look.add(&Look::whole()),
    }
}

/// The parts of the parameters of a request that are always examined.
pub(super) fn of_any_params() -> Look {
    let mut look = Look::default();
    for name in NAMING.into_iter().chain(["inputResponses", "requestState"]) {
        look.member(name);
    }
    // The head of a request repeats the last two.
    for name in ["cursor", "name", "uri"] {
        look.member(name).add(&Look::whole());
    }
    let meta = look.member("_meta");
    meta.member("progressToken");
    meta.member(PROTOCOL_VERSION_KEY).add(&Look::whole());
    meta.member("io.modelcontextprotocol/logLevel")
        .add(&Look::whole());
    meta.member("io.modelcontextprotocol/clientCapabilities");
    look
}

/// The parts of parameters that an assertion examines to determine whether they match its own.
pub(super) fn of_params(assertion: &Assertion) -> Look {
    let mut look = Look::default();
    for (name, wanted) in written(assertion).into_iter().flatten() {
        let of = match (name.as_str(), wanted) {
            ("arguments", Value::Object(wanted)) => of_arguments(wanted),
            ("arguments", Value::Array(_)) => of_array(),
            _ => of_part(wanted),
        };
        look.member(name).add(&of);
    }
    if writes_meta(assertion) {
        look.member("_meta").see_names();
    }
    look.member("arguments").add(&Look::emptiness());
    look
}

/// An array is compared with others, and with nothing else.
fn of_array() -> Look {
    let mut look = Look::default();
    look.item().add(&Look::whole());
    look
}

/// Arguments must be exactly those of the assertion.
fn of_arguments(wanted: &Map<String, Value>) -> Look {
    let mut look = Look::emptiness();
    if wanted.is_empty() {
        return look;
    }
    if wanted.keys().any(|name| is_in(name)) {
        return Look::whole();
    }
    look.see_names();
    for (name, wanted) in wanted {
        look.member(name).add(&of_part(wanted));
    }
    look
}

fn of_part(wanted: &Value) -> Look {
    let Value::Object(members) = wanted else {
        return Look::whole();
    };
    let mut look = Look::default();
    for (name, inner) in members {
        // Every client chooses its own token: only its presence matters.
        let of = match inner {
            Value::String(_) | Value::Number(_) if name == "progressToken" => Look::default(),
            inner => of_part(inner),
        };
        look.member(name).add(&of);
    }
    look
}
