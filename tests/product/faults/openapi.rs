//! docs/control.openapi.yaml is a document, and describes the control that there is.

use serde_json::Value;

pub(super) fn document() -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/control.openapi.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    tapewright_config::to_json(&text).expect("YAML")
}

/// Calls `each` with every reference below a value.
fn references(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$ref", Value::String(target)) => each(target),
                    _ => references(value, each),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, each)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut count = 0;
    references(&document, &mut |target| {
        let pointer = target.strip_prefix('#').expect("a place of the document");
        assert!(document.pointer(pointer).is_some(), "{target}");
        count += 1;
    });
    assert!(count > 10, "{count} references");
}

#[test]
fn every_operation_says_what_it_answers() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let mut found = Vec::new();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            if method == "parameters" {
                continue;
            }
            found.push(format!("{method} {path}"));
            assert!(operation["summary"].is_string(), "{method} {path}");
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.contains_key("401"), "{method} {path}");
            assert!(
                answers.keys().any(|status| status.starts_with('2')),
                "{method} {path}"
            );
        }
    }
    found.sort_unstable();
    let served = [
        "delete /faults/{name}",
        "get /events",
        "get /faults",
        "get /findings",
        "get /hangs",
        "get /pending",
        "get /recording",
        "get /sessions",
        "post /faults",
        "put /faults/{name}",
    ];
    assert_eq!(found, served);
}
