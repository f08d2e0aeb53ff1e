//! The documented seven against runs of another tool (`tests/oracle`).
//!
//! Verdicts and hazards are the same except for [`DIFFERENT`], which `docs/invariants.md` explains;
//! messages may differ.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::tapewright;

/// Capture and invariant for which the verdicts differ.
const DIFFERENT: &[(&str, &str)] = &[("04_leading_notification_before_initialize", "INV-001")];

/// Files that both tools reject: tapewright with status 2, which is not that of a finding.
const REFUSED: [&str; 3] = ["40_missing_exchanges", "46_not_json", "49_duplicate_keys"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/invariants")
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".json").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// Exit status and report of tapewright.
fn ours(name: &str) -> (i32, String) {
    let output = tapewright()
        .args(["compliance", "invariants", "--format", "json", "--capture"])
        .arg(folder().join(format!("{name}.json")))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

fn theirs(name: &str) -> (i32, String) {
    let read = |ending: &str| {
        let path = folder().join(format!("{name}.json.{ending}"));
        fs::read_to_string(path).unwrap()
    };
    (read("exit").trim().parse().unwrap(), read("stdout"))
}

/// Server by server, which invariants passed.
fn passed(report: &Value) -> Vec<(String, String, bool)> {
    let mut all = Vec::new();
    for server in report["servers"].as_array().unwrap() {
        for outcome in server["outcomes"].as_array().unwrap() {
            all.push((
                server["server_label"].as_str().unwrap().to_owned(),
                outcome["id"].as_str().unwrap().to_owned(),
                outcome["passed"].as_bool().unwrap(),
            ));
        }
    }
    all
}

fn hazards(report: &Value) -> Vec<(String, Vec<Value>)> {
    let found = report["composition_findings"].as_array().unwrap().iter();
    found
        .map(|one| {
            let kind = one["kind"].as_str().unwrap().to_owned();
            (kind, one["servers"].as_array().unwrap().clone())
        })
        .collect()
}

#[test]
fn verdicts_agree_but_where_the_page_says_why_not() {
    let mut different = BTreeSet::new();
    let mut compared = 0;
    for name in names() {
        let ((status, text), (their_status, their_text)) = (ours(&name), theirs(&name));
        if REFUSED.contains(&name.as_str()) {
            assert_eq!((status, their_status, text.as_str()), (2, 1, ""), "{name}");
            continue;
        }
        let report: Value = serde_json::from_str(&text).unwrap();
        let their_report: Value = serde_json::from_str(&their_text).unwrap();
        let (mine, other) = (passed(&report), passed(&their_report));
        assert_eq!(mine.len(), other.len(), "{name}");
        for (mine, other) in mine.iter().zip(&other) {
            assert_eq!((&mine.0, &mine.1), (&other.0, &other.1), "{name}");
            if mine != other {
                different.insert((name.clone(), mine.1.clone()));
            }
        }
        assert_eq!(hazards(&report), hazards(&their_report), "{name}");
        let same = !different.iter().any(|(where_, _)| *where_ == name);
        assert!(!same || status == their_status, "{name}: {status}");
        compared += 1;
    }
    assert_eq!(compared, 14);
    let expected: BTreeSet<_> = DIFFERENT
        .iter()
        .map(|(name, code)| ((*name).to_owned(), (*code).to_owned()))
        .collect();
    assert_eq!(different, expected);
}

#[test]
fn the_documented_shape_is_kept() {
    let (_, text) = ours("31_composition_overlap_and_id_collision");
    let (_, their_text) = theirs("31_composition_overlap_and_id_collision");
    let report: Value = serde_json::from_str(&text).unwrap();
    let their_report: Value = serde_json::from_str(&their_text).unwrap();
    // Every member that the other tool writes is present, with a value of the same type.
    fn covers(ours: &Value, theirs: &Value, at: &str) {
        match (ours, theirs) {
            (Value::Object(ours), Value::Object(theirs)) => {
                for (name, value) in theirs {
                    let ours = ours.get(name).unwrap_or_else(|| panic!("no {at}/{name}"));
                    covers(ours, value, &format!("{at}/{name}"));
                }
            }
            (Value::Array(ours), Value::Array(theirs)) => {
                for (ours, theirs) in ours.iter().zip(theirs) {
                    covers(ours, theirs, at);
                }
            }
            (ours, theirs) => assert_eq!(
                std::mem::discriminant(ours),
                std::mem::discriminant(theirs),
                "{at}"
            ),
        }
    }
    covers(&report, &their_report, "");
}
