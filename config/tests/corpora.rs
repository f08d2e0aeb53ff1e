//! Corpora and the registry: the published schemas and the code accept and reject the same
//! documents, and every error is reported at its position.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::{Value, json};
use tapewright_config::corpus::{CATEGORIES, PLACEHOLDERS, is_rule_id, read_corpus, read_registry};
use tapewright_config::{EnvFiles, Environment, Files, Issue, Loaded, load, to_json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../compliance")
}

fn validator(name: &str) -> Validator {
    let published = tapewright_schemas::published::find(name).unwrap();
    let schema: Value = serde_json::from_str(published.text()).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Every shipped corpus file.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for version in fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let name = version.file_name().unwrap().to_str().unwrap();
        if name.starts_with("v2") || name == "draft" {
            for file in fs::read_dir(&version)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                found.push((file.clone(), fs::read_to_string(file).unwrap()));
            }
        }
    }
    assert!(found.len() > 50, "{}", found.len());
    found
}

fn corpus_issues(text: &str) -> Vec<Issue> {
    read_corpus(Some("v2025-11-25"), [("x.yml".into(), text.to_owned())]).issues
}

#[test]
fn the_schemas_accept_what_is_shipped() {
    let corpus = validator("corpus");
    for (path, text) in shipped() {
        let value = to_json(&text).unwrap();
        if let Err(error) = corpus.validate(&value) {
            panic!("{}: {error}", path.display());
        }
    }
    let registry = fs::read_to_string(folder().join("registry.yml")).unwrap();
    if let Err(error) = validator("registry").validate(&to_json(&registry).unwrap()) {
        panic!("registry: {error}");
    }
}

/// A document with everything that a corpus can hold.
fn whole_corpus() -> Value {
    json!({"corpus": {"category": "PROTO", "spec_version": "v2025-11-25", "tickets": ["T-1"], "rules": [{
        "rule_id": "PROTO-001", "name": "n", "description": "d", "applies_to": ["stdio"], "notes": "n",
        "assertions": [
            {"description": "d", "call": {"method": "m", "params": {"a": "${tool:first}"}, "transport": "http",
                "headers": {"A": "b", ":method": "GET"}, "repeat": 2, "timeout_ms": 5},
             "expect": {"result": {}, "match_mode": "exact", "schema": {}, "headers": {":status": "200"},
                "headers_absent": ["B"], "transport_observation": "cancellable", "max_duration_ms": 5,
                "stable_keys": ["/a"], "server_request": {"method": "m", "content_matches_requested_schema": true, "schema": {}},
                "notification_stream": {"method": "m", "correlate_token": true, "progress_non_decreasing": true, "absent": false}}},
            {"call": {"raw": "x"}, "expect": {"error": {"code": -1, "message": "m",
                "message_contains": "m", "data": {"a": 1}, "schema": {}}}},
        ],
    }]}})
}

fn whole_registry() -> Value {
    json!({"version": 1, "rules": [{
        "id": "PROTO-001", "name": "n", "category": "PROTO", "severity": "MUST", "applies_to": ["stdio", "http"],
        "spec_versions": ["draft"], "description": "d", "references": ["r"], "section": "tools",
        "applicability": "tools", "spec_citation": "c",
    }]})
}

/// Every document that differs from this one at one place.
fn mutants(value: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(0),
        json!("%"),
        json!(""),
        json!([]),
        json!({}),
        json!(true),
    ];
    let mut found: Vec<Value> = others.into_iter().filter(|other| other != value).collect();
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let with = |new: Option<Value>| {
                    let mut members = members.clone();
                    match new {
                        Some(new) => members.insert(key.clone(), new),
                        None => members.shift_remove(key),
                    };
                    Value::Object(members)
                };
                found.push(with(None));
                found.extend(mutants(member).into_iter().map(|mutant| with(Some(mutant))));
            }
            let mut more = members.clone();
            more.insert("unknown".to_owned(), json!(1));
            found.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for mutant in mutants(item) {
                    let mut items = items.clone();
                    if let Some(place) = items.get_mut(index) {
                        *place = mutant;
                    }
                    found.push(Value::Array(items));
                }
            }
        }
        _ => {}
    }
    found
}

#[test]
fn the_code_and_the_schemas_agree_about_every_mutant() {
    let (corpus, registry) = (validator("corpus"), validator("registry"));
    assert!(
        corpus.is_valid(&whole_corpus()) && corpus_issues(&whole_corpus().to_string()).is_empty()
    );
    let mut seen = 0;
    for mutant in mutants(&whole_corpus()) {
        let issues = corpus_issues(&mutant.to_string());
        assert_eq!(
            corpus.is_valid(&mutant),
            issues.is_empty(),
            "{mutant}\n{issues:?}"
        );
        seen += 1;
    }
    for mutant in mutants(&whole_registry()) {
        let issues = read_registry(Path::new("r.yml"), &mutant.to_string()).issues;
        assert_eq!(
            registry.is_valid(&mutant),
            issues.is_empty(),
            "{mutant}\n{issues:?}"
        );
        seen += 1;
    }
    assert!(seen > 400, "{seen}");
}

/// The only error of a text: its code, its line and its message.
fn mistake(text: &str) -> (&'static str, usize, String) {
    let read = read_corpus(Some("v2025-11-25"), [("x.yml".into(), text.to_owned())]);
    assert!(read.value.is_none());
    let [issue] = read.issues.as_slice() else {
        panic!("{:?}", read.issues)
    };
    let line = read
        .sources
        .excerpt(issue.place.as_ref().unwrap())
        .unwrap()
        .line;
    (issue.code.name(), line, issue.message.clone())
}

#[test]
fn what_no_schema_can_say_is_told_at_its_place() {
    let rules = |rules: &str| format!("corpus:\n  category: PROTO\n  rules:\n{rules}");
    let told = |code, line, message: &str| (code, line, message.to_owned());
    assert_eq!(
        mistake(&rules("    - {rule_id: TOOL-001, name: n}\n")),
        told("value", 4, "`TOOL-001` is not of the category `PROTO`")
    );
    assert_eq!(
        mistake(&rules(
            "    - {rule_id: PROTO-001, name: n}\n    - {rule_id: PROTO-001, name: n}\n"
        )),
        told("duplicate-name", 5, "duplicate `PROTO-001` in one version")
    );
    assert_eq!(
        mistake(
            "corpus:\n  category: PROTO\n  spec_version: draft\n  rules:\n    - {rule_id: PROTO-001, name: n}\n"
        ),
        told(
            "value",
            3,
            "the file says that it is of `draft`, but is in the folder of `v2025-11-25`"
        )
    );
    let call = "    - rule_id: PROTO-001\n      name: n\n      assertions:\n        - call: {method: m, params: {a: [\"${tool:frist}\"]}}\n";
    assert_eq!(
        mistake(&rules(call)),
        told("value", 7, "`${tool:frist}` is not a placeholder")
    );
}

#[test]
fn a_rule_in_two_files_of_one_version_is_an_error() {
    let text = "corpus:\n  category: PROTO\n  rules:\n    - {rule_id: PROTO-001, name: n}\n";
    let files = ["a.yml", "b.yml"].map(|name| (name.into(), text.to_owned()));
    let read = read_corpus(None, files);
    assert!(read.value.is_none());
    let [issue] = read.issues.as_slice() else {
        panic!("{:?}", read.issues)
    };
    assert_eq!(issue.help.as_deref(), Some("the other one is at a.yml:4"));
    assert_eq!(
        read.sources.path(issue.place.as_ref().unwrap().file),
        Path::new("b.yml")
    );
}

#[test]
fn a_file_that_is_no_corpus_is_an_error_with_its_place() {
    assert_eq!(mistake("- a\n").0, "type");
    assert_eq!(mistake("").2, "the file is empty");
    assert_eq!(mistake("corpus: {category: PROTO\n").0, "yaml");
}

#[test]
fn ids_are_a_category_and_three_digits() {
    for category in CATEGORIES {
        assert!(is_rule_id(&format!("{category}-001")));
    }
    for id in [
        "PROTO-1",
        "PROTO-0001",
        "proto-001",
        "INV-001",
        "PROTO001",
        "-001",
        "PROTO-00x",
    ] {
        assert!(!is_rule_id(id), "{id}");
    }
}

#[test]
fn every_placeholder_is_documented() {
    let page = fs::read_to_string(folder().join("../docs/compliance.md")).unwrap();
    for placeholder in PLACEHOLDERS {
        let row = format!("| `{}` | {} |", placeholder.text, placeholder.meaning);
        assert!(page.contains(&row), "{row}");
    }
}

/// A suite without other files.
struct Suite(String);

impl Files for Suite {
    fn read(&self, path: &Path, _limit_bytes: u64) -> io::Result<Vec<u8>> {
        if path == Path::new("suite.yaml") {
            return Ok(self.0.clone().into_bytes());
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}

fn pinned(compliance: &str) -> Loaded {
    let text = format!("servers: {{s: {{command: [a]}}}}\ncompliance: {compliance}\n");
    load(
        Path::new("suite.yaml"),
        &Suite(text),
        &Environment::default(),
        &EnvFiles::None,
    )
}

#[test]
fn a_suite_is_pinned_to_a_version_that_there_is_and_to_no_other() {
    for version in [
        "v2024-11-05",
        "v2025-03-26",
        "v2025-06-18",
        "v2025-11-25",
        "v2026-07-28",
        "draft",
    ] {
        let suite = pinned(&format!(
            "{{spec_version: {version}, spec_version_check: {{}}, tests: []}}"
        ))
        .suite
        .unwrap();
        assert_eq!(suite.compliance.spec_version, Some(version));
        assert_eq!(suite.compliance.spec_version_check.unwrap().against, None);
    }
    for wrong in ["v2025-6-18", "2025-06-18", "v1999-01-01", "''", "7"] {
        let pin = pinned(&format!("{{spec_version: {wrong}, tests: []}}"));
        assert!(!pin.is_valid(), "{wrong}");
        assert!(
            !pinned(&format!(
                "{{spec_version_check: {{against: {wrong}}}, tests: []}}"
            ))
            .is_valid(),
            "{wrong}"
        );
    }
}
