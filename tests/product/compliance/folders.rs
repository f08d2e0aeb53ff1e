//! Several servers of one client, judged together.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{INITIALIZE, INITIALIZED, RESULT, server};
use crate::support::{Session, record, tapewright};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Records a session with a server that offers these tools, into files of this name.
fn session(folder: &Path, label: &str, tools: &[&str]) {
    let tool = |name: &&str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let tools: Vec<String> = tools.iter().map(tool).collect();
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#,
        tools.join(",")
    );
    let script = server(&[("initialize\\\"", RESULT), ("tools/list", &list)]);
    let name = |ending: &str| {
        folder
            .join(format!("{label}{ending}"))
            .display()
            .to_string()
    };
    let (cassette, capture) = (name(".json"), name(".capture.json"));
    let options = [
        "-o",
        &cassette,
        "--save-capture",
        &capture,
        "--label",
        label,
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", &script]));
    session.send(INITIALIZE);
    session.line();
    session.send(INITIALIZED);
    session.send(LIST);
    assert_eq!(session.line(), list);
    session.close_input();
    assert!(session.child.wait().unwrap().success());
}

fn judge(path: &Path, options: &[&str]) -> (i32, Value) {
    let output = tapewright()
        .args(["compliance", "invariants", "--format", "json", "--capture"])
        .arg(path)
        .args(options)
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), report)
}

fn hazards(report: &Value) -> Vec<(String, Vec<String>)> {
    let words = |value: &Value| value.as_str().unwrap().to_owned();
    let found = report["composition_findings"].as_array().unwrap().iter();
    found
        .map(|one| {
            let servers = one["servers"]
                .as_array()
                .unwrap()
                .iter()
                .map(words)
                .collect();
            (words(&one["kind"]), servers)
        })
        .collect()
}

#[test]
fn tools_of_one_name_are_a_hazard_and_ids_only_on_one_transport() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), "files", &["read", "write"]);
    session(folder.path(), "web", &["fetch", "read"]);
    // Other files next to the recordings do not matter.
    fs::write(folder.path().join("package.json"), "{\"name\":\"x\"}").unwrap();
    let (status, report) = judge(folder.path(), &[]);
    assert_eq!(status, 1);
    // Each session once, although it left three files.
    assert_eq!(report["servers"].as_array().unwrap().len(), 2);
    let overlap = (
        "tool-namespace-overlap".to_owned(),
        vec!["files".to_owned(), "web".to_owned()],
    );
    // Both clients count from zero; each server has a separate pipe.
    assert_eq!(hazards(&report), [overlap]);
    assert_eq!(report["all_safe"], false);
    assert_eq!(report["failed_invariant_count"], 0);
}

#[test]
fn captures_alone_are_compared_and_a_declared_transport_counts() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), "files", &["read"]);
    session(folder.path(), "web", &["fetch"]);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if !path.display().to_string().ends_with(".capture.json") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(judge(folder.path(), &[]).0, 0);
    let (status, report) = judge(folder.path(), &["--shared-transport"]);
    assert_eq!(status, 1);
    let kinds: Vec<String> = hazards(&report).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["shared-transport-id-collision"]);
}

#[test]
fn an_empty_folder_is_no_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (status, report) = judge(folder.path(), &[]);
    assert_eq!(status, 3);
    assert_eq!(report["servers"], Value::Array(Vec::new()));
}
