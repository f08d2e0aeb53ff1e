//! The same score in every format.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{report, run, scripted, text};
use crate::support::{peer, tapewright};

fn in_format(format: &str, broken: &[&str]) -> String {
    let peer = peer().display().to_string();
    let server = scripted(&peer, broken);
    let before = ["--format", format, "--spec-version", "v2025-06-18", "--"];
    let output = run(&[&before, server.as_slice()].concat());
    String::from_utf8(output.stdout).expect("text")
}

/// A peer's text that tries to break out of a format.
const EVIL: &str = r#""</pre><script>x</script>\n::error::y]]>\u001b[31m|`z`""#;

/// A report matches `schema compliance-report`.
#[track_caller]
pub(super) fn is_of_the_schema(report: &Value) {
    let schema = tapewright()
        .args(["schema", "compliance-report"])
        .output()
        .expect("it runs");
    let schema: Value = serde_json::from_slice(&schema.stdout).expect("a schema");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = schema
        .iter_errors(report)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{report:#}");
}

#[test]
fn json_is_of_its_schema() {
    let peer = peer().display().to_string();
    for broken in [&[][..], &["error", "tools/list", "-32603"][..]] {
        let server = scripted(&peer, broken);
        let (report, _) = report(&[&["--"], server.as_slice()].concat());
        is_of_the_schema(&report);
    }
}

#[test]
fn sarif_is_of_its_schema() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/sarif-2.1.0.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let text = in_format("sarif", &["set", "initialize", "/capabilities", EVIL]);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let errors: Vec<String> = schema
        .iter_errors(&log)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{text}");
    assert_eq!(
        log["runs"][0]["results"][0]["ruleId"], "PROTO-002",
        "{text}"
    );
}

#[test]
fn no_format_lets_a_peer_out_of_it() {
    for format in [
        "pretty", "json", "markdown", "html", "junit", "sarif", "github",
    ] {
        let text = in_format(format, &["set", "initialize", "/capabilities", EVIL]);
        assert!(text.contains("PROTO-002"), "{format}: {text}");
        assert!(!text.contains('\u{1b}'), "{format}: {text}");
        assert!(!text.contains("\n::error::y"), "{format}: {text}");
        if format == "html" {
            assert!(!text.contains("<script"), "{text}");
        }
    }
}

#[test]
fn the_scorecard_is_saved_as_it_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("card.json");
    let peer = peer().display().to_string();
    let server = scripted(&peer, &[]);
    let before = [
        "--save-scorecard",
        text(&file),
        "--server-label",
        "mine",
        "--",
    ];
    let (printed, _) = report(&[&before, server.as_slice()].concat());
    let saved: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(saved, printed);
    assert_eq!(saved["server"], "mine");
}
