//! Machine-readable reports, and that text of a peer cannot break them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A session with several violations, and a peer that tries to break out of every format.
const TAPE: &str = r#"{"tape":"1.2","by":"tapewright 0.1.0","transport":"stdio","label":"a,b:c%|<s>","pid":1}
{"seq":1,"at_us":1,"dir":"to_server","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"seq":2,"at_us":2,"dir":"to_client","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"seq":3,"at_us":3,"dir":"to_server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"seq":4,"at_us":4,"dir":"to_server","message":{"jsonrpc":"2.0","id":null,"method":"x\n::error::y]]><b>|`z` \u001b[31m"}}
{"seq":5,"at_us":5,"dir":"to_client","message":{"jsonrpc":"2.0","id":9,"result":{}}}
{"seq":6,"at_us":6,"dir":"to_server","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"seq":7,"at_us":7,"dir":"to_client","message":{"jsonrpc":"2.0","id":1,"result":{}}}
{"seq":8,"at_us":8,"dir":"to_server","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}
{"end":{"at_us":9,"events":8,"complete":true}}
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s x.tape.jsonl"), TAPE).unwrap();
    folder
}

fn judge(folder: &Path, options: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tapewright"))
        .args(["compliance", "invariants", "--capture", "s x.tape.jsonl"])
        .args(options)
        .current_dir(folder)
        .env("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A schema for reports, from `tests/schemas`.
fn schema(name: &str) -> jsonschema::Validator {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/schemas")
        .join(name);
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

#[test]
fn sarif_conforms_to_its_schema_and_points_to_lines() {
    let folder = folder();
    let (status, text, _) = judge(folder.path(), &["--all", "--format", "sarif"]);
    assert_eq!(status, 1);
    let log: Value = serde_json::from_str(&text).unwrap();
    let schema = schema("sarif-2.1.0.json");
    let wrong: Vec<String> = schema
        .iter_errors(&log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let stray = results
        .iter()
        .find(|one| one["ruleId"] == "INV-012")
        .unwrap();
    assert_eq!(stray["level"], "error");
    let place = &stray["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "s%20x.tape.jsonl");
    // The line is the evidence.
    let line = place["region"]["startLine"].as_u64().unwrap();
    let proof = TAPE
        .lines()
        .nth(usize::try_from(line).unwrap() - 1)
        .unwrap();
    assert!(proof.starts_with("{\"seq\":5,"), "{proof}");
    let index = stray["ruleIndex"].as_u64().unwrap();
    assert_eq!(rules[usize::try_from(index).unwrap()]["id"], "INV-012");
    // A race is left to people.
    let race = results
        .iter()
        .find(|one| one["ruleId"] == "INV-038")
        .unwrap();
    assert_eq!(
        (&race["kind"], &race["level"]),
        (&"review".into(), &"none".into())
    );
    // The schema rejects invalid reports.
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!schema.is_valid(&broken));
}

#[test]
fn junit_is_xml_with_a_case_for_each_invariant() {
    let folder = folder();
    let (status, text, _) = judge(folder.path(), &["--all", "--format", "junit"]);
    assert_eq!(status, 1);
    assert!(text.starts_with("<?xml version=\"1.0\""), "{text}");
    assert_eq!(text.matches("<testcase ").count(), 92, "{text}");
    assert_eq!(text.matches("<failure").count(), failures(folder.path()));
    assert!(
        text.contains("<skipped message=\"never exercised\""),
        "{text}"
    );
    assert!(text.contains("<skipped message=\"race\""), "{text}");
    // Text of a peer remains text.
    assert!(!text.contains("<b>") && !text.contains('\u{1b}'), "{text}");
    // Every element that is opened is closed.
    for name in ["testsuites", "testsuite", "testcase", "failure", "skipped"] {
        let begin = format!("<{name}");
        let opened: Vec<&str> = text
            .split(&begin)
            .skip(1)
            .filter(|rest| rest.starts_with([' ', '>', '/']))
            .collect();
        let alone = opened
            .iter()
            .filter(|rest| rest[..rest.find('>').unwrap()].ends_with('/'))
            .count();
        let closed = text.matches(&format!("</{name}>")).count();
        assert_eq!(opened.len(), closed + alone, "{name}");
    }
}

fn failures(folder: &Path) -> usize {
    let (_, text, _) = judge(folder, &["--all", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    usize::try_from(report["failed_invariant_count"].as_u64().unwrap()).unwrap()
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let folder = folder();
    let (status, text, _) = judge(folder.path(), &["--all", "--format", "github"]);
    assert_eq!(status, 1);
    let stray = text.lines().find(|line| line.contains("INV-012")).unwrap();
    assert!(
        stray.starts_with(
            "::error file=s x.tape.jsonl,line=6,title=INV-012 a%2Cb%3Ac%25|<s>::server: "
        ),
        "{stray}"
    );
    // Only our own commands begin a line.
    for line in text.lines().filter(|line| line.starts_with("::")) {
        let ours = [
            "::error file=s x",
            "::warning file=s x",
            "::notice file=s x",
        ];
        assert!(ours.iter().any(|start| line.starts_with(start)), "{line}");
    }
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    let (_, markdown, _) = judge(folder.path(), &["--all", "--format", "markdown"]);
    assert_eq!(summary, markdown);
    assert!(
        !markdown.contains("<b>") && !markdown.contains('\u{1b}'),
        "{markdown}"
    );
    assert!(markdown.contains("\n| fail | INV-012 "), "{markdown}");
    let (told, passed) = markdown.split_once("<details>").unwrap();
    for (rows, bars) in [(told, 5), (passed, 3)] {
        for row in rows.lines().filter(|line| line.contains(" INV-")) {
            assert_eq!(row.replace("\\|", "").matches('|').count(), bars, "{row}");
        }
    }
}

#[test]
fn other_formats_leave_the_summary_alone() {
    let folder = folder();
    judge(folder.path(), &["--format", "markdown"]);
    assert!(!folder.path().join("summary.md").exists());
}

#[test]
fn a_baseline_expects_what_it_lists_and_tells_what_is_stale() {
    let folder = folder();
    let path = folder.path();
    let with = |options: &[&str]| {
        let mut all = vec!["--all", "--baseline", "known.json"];
        all.extend(options);
        judge(path, &all)
    };
    // Without the file nothing can be compared.
    let (status, _, errors) = with(&[]);
    assert_eq!(status, 2);
    assert!(errors.contains("--update-baseline"), "{errors}");
    let (status, text, _) = with(&["--update-baseline"]);
    assert_eq!(status, 0, "{text}");
    let (status, text, _) = with(&[]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("EXPECTED      INV-012"), "{text}");
    // An invariant that passes was listed by hand.
    let known = fs::read_to_string(path.join("known.json")).unwrap();
    fs::write(
        path.join("known.json"),
        known.replace("\"INV-012\"", "\"INV-012\", \"INV-008\""),
    )
    .unwrap();
    let (status, text, _) = with(&["--format", "json"]);
    assert_eq!(status, 1);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["baseline"]["stale"][0]["id"], "INV-008");
    // One that was never exercised may remain listed.
    fs::write(
        path.join("known.json"),
        known.replace("\"INV-012\"", "\"INV-012\", \"INV-043\""),
    )
    .unwrap();
    assert_eq!(with(&[]).0, 0);
    // A failure that is not listed counts.
    fs::write(path.join("known.json"), known.replace("INV-012", "INV-013")).unwrap();
    let (status, text, _) = with(&["--format", "junit"]);
    assert_eq!(status, 1);
    // It, and the listed one that does not fail.
    assert_eq!(text.matches("<failure").count(), 2, "{text}");
    assert!(text.contains("remove it from the baseline"), "{text}");
    assert!(text.contains("expected by the baseline"), "{text}");
    // An update removes those that pass and keeps the rest.
    let (status, ..) = with(&["--update-baseline"]);
    assert_eq!(status, 0);
    let again = fs::read_to_string(path.join("known.json")).unwrap();
    assert!(again.contains("INV-012"), "{again}");
    fs::write(
        path.join("known.json"),
        "{\"baseline\": 1,\n\"expected\": {}}",
    )
    .unwrap();
    let (status, _, errors) = with(&[]);
    assert_eq!(status, 2);
    assert!(
        errors.contains("line 2, column 10: unknown field `expected`"),
        "{errors}"
    );
}
