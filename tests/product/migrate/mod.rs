//! Suites and cassettes, rewritten for 2026-07-28.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::json;

use crate::cli::scrub::json_lines;
use crate::support::system::{assert_mode, set_mode};
use crate::support::{native, tapewright};

const SUITE: &str = "# ours\nservers:\n  s: { command: [x] }\ntools:\n  - name: t\n    server: s\n    tool: t\n    expect: [{ target: error.code, matcher: { exact: -32002 } }]\nresources:\n  - name: a # where\n    server: s\n    uri: a://b\n    expect:\n      - target: result.error.code   # its code\n        matcher: { exact: -32002 }\ncompliance:\n  - name: l\n    server: s\n    check: logging/setLevel";
const CASSETTE: &str = "{\"version\":\"1\",\"meta\":{\"z\":\"1\",\"a\":\"2\"},\n \"exchanges\":[\n  {\"request\":{\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"a://b\"}},\"response\":{\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}},\n  {\"request\":{\"id\":2,\"method\":\"tools/call\"},\"response\":{\"id\":2,\"error\":{\"code\":-32002,\"message\":\"no\"}}}]}\n\n";

fn migrate(arguments: &[&str], folder: &Path) -> Output {
    let mut command = tapewright();
    command.arg("migrate").args(arguments).current_dir(folder);
    command.output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("suite.yaml"), SUITE).unwrap();
    fs::write(folder.path().join("sub/c.json"), CASSETTE).unwrap();
    fs::write(folder.path().join("other.json"), "{\"code\":-32002}").unwrap();
    folder
}

#[test]
fn broken_yaml_in_a_folder_is_told() {
    let folder = folder();
    fs::write(folder.path().join("broken.yaml"), "tools: [").unwrap();
    let output = migrate(&["."], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("skipped") && errors.contains("broken.yaml"),
        "{errors}"
    );
    assert!(!errors.contains("other.json"), "{errors}");
}

#[test]
fn without_write_the_difference_is_shown_and_nothing_changes() {
    let folder = folder();
    let output = migrate(&["."], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(&native("--- ./suite.yaml\n+++ ./suite.yaml\n@@ line 15 @@")),
        "{text}"
    );
    assert!(
        text.contains("-        matcher: { exact: -32002 }\n+        matcher: { exact: -32602 }"),
        "{text}"
    );
    assert!(
        text.contains(&(native("./suite.yaml:19: ") + "`logging/setLevel`")),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("suite.yaml")).unwrap(),
        SUITE
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("sub/c.json")).unwrap(),
        CASSETTE
    );
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("2 codes to change in 2 files"), "{told}");
}

#[test]
fn json_has_a_line_for_each_suite_and_cassette() {
    let folder = folder();
    let lines = |arguments: &[&str]| {
        let output = migrate(arguments, folder.path());
        assert_eq!(output.status.code(), Some(0));
        json_lines(&String::from_utf8(output.stdout).unwrap(), "migrate")
    };
    let all = lines(&[".", "--json"]);
    let [cassette, suite] = all.as_slice() else {
        panic!("two files: {all:?}");
    };
    assert_eq!(cassette["file"], native("./sub/c.json"));
    assert_eq!(suite["file"], native("./suite.yaml"));
    assert_eq!(
        suite["edits"],
        json!([{"line": 15, "from": "-32002", "to": "-32602"}])
    );
    assert_eq!(suite["notes"][0]["line"], 19);
    assert_eq!(suite["changed"], false);
    let written = lines(&["--write", "--format", "json", "suite.yaml"]);
    assert_eq!(written[0]["changed"], true);
    let again = lines(&["--write", "--json", "suite.yaml"]);
    assert_eq!(
        (&again[0]["changed"], &again[0]["edits"]),
        (&json!(false), &json!([]))
    );
}

#[test]
fn with_write_only_the_codes_of_missing_resources_change() {
    let folder = folder();
    let suite = folder.path().join("suite.yaml");
    set_mode(&suite, 0o640);
    let output = migrate(&[".", "--write", "--to", "2026-07-28"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let expected = SUITE.replace(
        "# its code\n        matcher: { exact: -32002 }",
        "# its code\n        matcher: { exact: -32602 }",
    );
    assert_ne!(expected, SUITE);
    assert_eq!(fs::read_to_string(&suite).unwrap(), expected);
    assert_mode(&suite, 0o640);
    let cassette = CASSETTE.replacen("-32002", "-32602", 1);
    assert_eq!(
        fs::read_to_string(folder.path().join("sub/c.json")).unwrap(),
        cassette
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("other.json")).unwrap(),
        "{\"code\":-32002}"
    );
    // A second run changes nothing.
    let again = migrate(&["."], folder.path());
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(told.contains("nothing to change"), "{told}");
}

#[test]
fn another_revision_or_another_file_is_refused() {
    let folder = folder();
    for arguments in [
        &["suite.yaml", "--to", "2025-11-25"][..],
        &["other.json"],
        &["missing.yaml"],
    ] {
        let output = migrate(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
