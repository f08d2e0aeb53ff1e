//! `spec_version_check`, case by case.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use serde_json::{Value, json};
use tapewright_config::corpus::read_corpus;
use tapewright_config::suite::compliance::SpecVersionCheck;
use tapewright_config::suite::expect::Assertion;
use tapewright_config::{Code, SourceSpot};
use tapewright_corpus::diff::Change;
use tapewright_corpus::{Gate, GateError, VersionCorpus, diff_versions, spec_version_check};

fn corpora(version: &str) -> Option<VersionCorpus> {
    VersionCorpus::embedded(version)
}

fn place() -> SourceSpot {
    // Any position will do: the gate does not use it.
    let read = read_corpus(None, [("x.yml".into(), "corpus: {}".to_owned())]);
    let issue = read
        .issues
        .into_iter()
        .find(|issue| issue.code == Code::MissingKey)
        .unwrap();
    issue.place.unwrap()
}

fn block(against: Option<&'static str>, expect: &[Value]) -> SpecVersionCheck {
    let assertion = |value: &Value| Assertion {
        value: value.clone(),
        transform: None,
        place: place(),
    };
    SpecVersionCheck {
        against,
        expect: expect.iter().map(assertion).collect(),
    }
}

fn gate(pin: &str, against: &'static str, expect: &[Value]) -> Gate {
    spec_version_check(Some(pin), Some(&block(Some(against), expect)), &corpora)
        .unwrap()
        .unwrap()
}

#[test]
fn a_suite_without_the_block_has_no_gate() {
    assert!(
        spec_version_check(Some("draft"), None, &corpora)
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_changed_rule_fails_the_defaults() {
    let gate = gate("v2024-11-05", "v2025-06-18", &[]);
    assert!(!gate.passed);
    assert_eq!(
        gate.line(),
        "spec_version_check: FAIL v2024-11-05 -> v2025-06-18: `exact` does not hold for `spec_clean` (changed: PROTO-002)"
    );
}

#[test]
fn a_clean_move_passes_the_defaults() {
    let gate = gate("v2024-11-05", "draft", &[]);
    assert_eq!(gate.line(), "spec_version_check: PASS v2024-11-05 -> draft");
}

#[test]
fn expect_takes_the_place_of_both_defaults() {
    let known = json!({"target": "spec_breaking_changes", "matcher": {"exact": ["PROTO-002"]}});
    assert!(gate("v2024-11-05", "v2025-06-18", &[known]).passed);
    let told = json!({"target": "spec_clean", "matcher": {"exact": false}, "message": "expected to break"});
    let gate = gate("v2024-11-05", "draft", &[told]);
    assert!(!gate.passed);
    assert!(
        gate.line()
            .ends_with(": expected to break (no shared rule changed)"),
        "{}",
        gate.line()
    );
}

#[test]
fn without_against_there_is_a_note_and_a_pass() {
    for pin in [None, Some("v2024-11-05")] {
        let gate = spec_version_check(pin, Some(&block(None, &[])), &corpora)
            .unwrap()
            .unwrap();
        assert!(gate.passed);
        assert!(gate.reason.unwrap().contains("`against` is not a version"));
    }
}

#[test]
fn without_a_corpus_to_move_to_there_is_a_note_and_a_pass() {
    let only_pinned = |version: &str| corpora(version).filter(|_| version == "v2024-11-05");
    let check = block(Some("v2025-06-18"), &[]);
    let gate = spec_version_check(Some("v2024-11-05"), Some(&check), &only_pinned)
        .unwrap()
        .unwrap();
    assert!(gate.passed);
    assert_eq!(
        gate.line(),
        "spec_version_check: PASS v2024-11-05 -> v2025-06-18: nothing to compare with: no corpus for `v2025-06-18`"
    );
}

#[test]
fn without_a_pin_it_is_an_error() {
    let error = spec_version_check(None, Some(&block(Some("draft"), &[])), &corpora).unwrap_err();
    assert!(matches!(error, GateError::NoPin { .. }));
    assert!(error.to_string().contains("`spec_version`"), "{error}");
}

#[test]
fn without_the_pinned_corpus_it_is_an_error() {
    let only_target = |version: &str| corpora(version).filter(|_| version == "draft");
    let check = block(Some("draft"), &[]);
    let error = spec_version_check(Some("v2024-11-05"), Some(&check), &only_target).unwrap_err();
    assert!(matches!(error, GateError::NoCorpus { .. }), "{error}");
}

#[test]
fn an_assertion_that_means_nothing_is_an_error() {
    let broken = json!({"target": "spec_clean", "matcher": {"exactly": true}});
    let check = block(Some("draft"), &[broken]);
    let error = spec_version_check(Some("v2024-11-05"), Some(&check), &corpora).unwrap_err();
    assert!(matches!(error, GateError::Assertion(_)), "{error}");
}

fn of(version: &str, rules: &str) -> VersionCorpus {
    let text = format!("corpus:\n  category: PROTO\n  rules:\n{rules}");
    VersionCorpus::read(version, [("proto.yml".into(), text)])
        .value
        .unwrap()
}

#[test]
fn the_order_of_keys_does_not_count_and_that_of_expectations_does() {
    let old = of(
        "v1999-01-01",
        "    - {rule_id: PROTO-001, name: a, assertions: [{expect: {schema: {type: object, minProperties: 1}}}, {expect: {error: {code: 1}}}]}\n",
    );
    let keys = of(
        "v1999-01-02",
        "    - {rule_id: PROTO-001, name: b, assertions: [{call: {method: ping}, expect: {schema: {minProperties: 1, type: object}}}, {expect: {error: {code: 1}}}]}\n",
    );
    let order = of(
        "v1999-01-03",
        "    - {rule_id: PROTO-001, name: a, assertions: [{expect: {error: {code: 1}}}, {expect: {schema: {type: object, minProperties: 1}}}]}\n",
    );
    assert!(diff_versions(&old, &keys).is_clean());
    let diff = diff_versions(&old, &order);
    assert_eq!(diff.changed_rules().count(), 1);
    assert_eq!(
        diff.to_json(),
        json!({
            "from": "v1999-01-01", "to": "v1999-01-03",
            "entries": [{"rule_id": "PROTO-001", "change": "changed", "name": "a"}],
            "summary": {"unchanged": 0, "changed": 1, "added": 0, "removed": 0},
        })
    );
}

#[test]
fn rules_that_come_or_go_leave_it_clean() {
    let old = of("v1999-01-01", "    - {rule_id: PROTO-001, name: a}\n");
    let new = of("v1999-01-02", "    - {rule_id: PROTO-002, name: b}\n");
    let diff = diff_versions(&old, &new);
    assert!(diff.is_clean());
    let changes: Vec<_> = diff.entries.iter().map(|entry| entry.change).collect();
    assert_eq!(changes, [Change::Removed, Change::Added]);
}
