//! Two recordings of agents, compared.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::links;
use crate::support::tapewright;

fn diff(before: &Path, after: &Path, options: &[&str]) -> (Option<i32>, String) {
    let output = tapewright()
        .arg("diff")
        .args([before, after])
        .args(options)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

#[test]
fn calls_of_models_are_compared_with_calls_and_servers_with_servers() {
    let long = format!("{}x{}", "a".repeat(2_000), "b".repeat(2_000));
    let (one, _) = links::recording_of(&long);
    let (other, _) = links::recording_of(&long.replace('x', "y"));
    let run = |folder: &tempfile::TempDir| -> PathBuf { folder.path().join("run") };
    let (before, after) = (run(&one), run(&other));
    let (status, text) = diff(&before, &before, &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("Result: 0 changed, 0 new, 0 gone, 5 the same"),
        "{text}"
    );
    let (status, text) = diff(&before, &after, &[]);
    assert_eq!(status, Some(1), "{text}");
    for part in [
        ": models\n",
        "anthropic claude-unheard-of\n",
        "$.request.messages[2].content[0].content[0].text: before …aaa",
        "xbbb",
        "ybbb",
        "Result: 1 changed, 0 new, 0 gone, 4 the same",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Long texts are cut around the difference.
    assert!(text.len() < 3_000, "{text}");
    let (_, text) = diff(&before, &after, &["--json"]);
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["model_calls"].as_array().unwrap().len(), 2);
    assert_eq!(told["model_calls"][0]["change"], "same");
    assert_eq!(told["model_calls"][1]["change"], "changed");
    assert_eq!(told["model_calls"][1]["target"], "claude-unheard-of");
    assert_eq!(told["servers"][0]["server"], "fs");
    assert_eq!(told["servers"][0]["exchanges"].as_array().unwrap().len(), 3);
    let pointer = "/request/messages/2/content/*/content";
    assert_eq!(diff(&before, &after, &["--ignore", pointer]).0, Some(0));
    // For the tapes of the models alone, too.
    let models = |run: &Path| run.join("models.tape.jsonl");
    let (status, text) = diff(&models(&before), &models(&after), &["--json"]);
    assert_eq!(status, Some(1), "{text}");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&told["changed"], &told["same"]), (&1.into(), &1.into()));
    one_without_a_server(&before, &after);
}

/// A server that one of them never started is missing.
fn one_without_a_server(before: &Path, after: &Path) {
    std::fs::remove_file(after.join("fs.tape.jsonl")).unwrap();
    let (status, text) = diff(before, after, &["--json"]);
    assert_eq!(status, Some(1), "{text}");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["gone"], 3);
    let none = tempfile::tempdir().unwrap();
    let output = tapewright()
        .arg("diff")
        .args([before, none.path()])
        .output();
    let output = output.unwrap();
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{why}");
    assert!(why.contains("no recording in this folder"), "{why}");
}
