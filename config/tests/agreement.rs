//! The published schema and the code accept and reject the same documents.
//!
//! Every suite of the tests is mutated at every place: values of other types, removed keys, unknown
//! keys. The results of both are compared for each.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::{Value, json};
use tapewright_config::{EnvFiles, Environment, Files, Severity, load};

/// A single file.
struct One(Vec<u8>);

impl Files for One {
    fn read(&self, path: &Path, _limit_bytes: u64) -> io::Result<Vec<u8>> {
        if path == Path::new("suite.yaml") {
            Ok(self.0.clone())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if path == Path::new("suite.yaml") {
            Ok(path.to_owned())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

fn schema() -> Value {
    let published = tapewright_schemas::published::find("suite").unwrap();
    serde_json::from_str(published.text()).unwrap()
}

fn suites() -> Vec<(PathBuf, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/suites");
    let mut found = Vec::new();
    for folder in ["documented", "bad"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let text = fs::read_to_string(&path).unwrap();
                // Text that is not YAML has no value that a schema could judge.
                if let Some(value) = tapewright_config::to_json(&text) {
                    found.push((path, value));
                }
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() > 100, "{} suites", found.len());
    found
}

/// The errors of the code that a schema should find too.
fn code_rejects(text: &str) -> Vec<String> {
    let loaded = load(
        Path::new("suite.yaml"),
        &One(text.as_bytes().to_vec()),
        &Environment::default(),
        &EnvFiles::None,
    );
    let of_schema = loaded
        .issues
        .iter()
        .filter(|issue| issue.code.is_of_schema() && issue.severity == Severity::Error);
    of_schema
        .map(|issue| {
            format!(
                "{:?} {}",
                issue.place.as_ref().map(|place| &place.pointer),
                issue.message
            )
        })
        .collect()
}

fn compare(validator: &Validator, origin: &str, value: &Value) {
    let text = serde_json::to_string(value).unwrap();
    let by_code = code_rejects(&text);
    let by_schema = validator
        .iter_errors(value)
        .next()
        .map(|error| format!("{} {error}", error.instance_path()));
    assert_eq!(
        by_code.is_empty(),
        by_schema.is_none(),
        "{origin}\ncode: {by_code:#?}\nschema: {by_schema:?}\n{text}"
    );
}

#[test]
fn the_schema_is_one() {
    jsonschema::draft202012::meta::validate(&schema()).unwrap();
}

#[test]
fn every_suite_is_judged_alike() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    for (path, value) in suites() {
        compare(&validator, &path.display().to_string(), &value);
    }
}

#[test]
fn every_mutation_is_judged_alike() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let others = [
        json!(null),
        json!(true),
        json!(5),
        json!(-1),
        json!(0.5),
        json!(3.0),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("${X}"),
        json!("5s"),
        json!([]),
        json!({}),
        json!(["x"]),
        json!({"a": 1}),
    ];
    // The same part at the same place of many suites is only checked once.
    let mut seen = HashSet::new();
    for (path, suite) in suites() {
        let mut pointers = Vec::new();
        collect(&suite, String::new(), &mut pointers);
        for pointer in pointers {
            let place: String = pointer
                .chars()
                .map(|char| if char.is_ascii_digit() { '0' } else { char })
                .collect();
            let here = suite.pointer(&pointer).unwrap();
            if is_free(&place) || !seen.insert((place, shape(here))) {
                continue;
            }
            let origin = format!("{} {pointer}", path.display());
            for other in &others {
                compare(
                    &validator,
                    &origin,
                    &with(&suite, &pointer, |value| *value = other.clone()),
                );
            }
            if let Value::Object(members) = here {
                let unknown = with(&suite, &pointer, |value| {
                    value
                        .as_object_mut()
                        .unwrap()
                        .insert("zzz".to_owned(), json!(1));
                });
                compare(&validator, &origin, &unknown);
                for key in members.keys() {
                    let without = with(&suite, &pointer, |value| {
                        value.as_object_mut().unwrap().shift_remove(key);
                    });
                    compare(&validator, &origin, &without);
                }
            }
        }
    }
    assert!(seen.len() > 400, "{} places", seen.len());
}

/// Whether a place is in a value that may be anything.
fn is_free(place: &str) -> bool {
    let free = ["/args/", "/data/0/", "/schema/", "/exact/", "/contains/"];
    free.iter().any(|part| place.contains(part))
}

/// What distinguishes a value from others at the same place.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) => members.keys().cloned().collect::<Vec<_>>().join(","),
        Value::Array(_) => "[]".to_owned(),
        Value::String(_) => "text".to_owned(),
        _ => "other".to_owned(),
    }
}

fn with(suite: &Value, pointer: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut suite = suite.clone();
    change(suite.pointer_mut(pointer).unwrap());
    suite
}

fn collect(value: &Value, pointer: String, into: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{pointer}/{index}"), into);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{pointer}/{key}"), into);
            }
        }
        _ => {}
    }
    into.push(pointer);
}
