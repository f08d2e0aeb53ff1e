//! The worked example of docs/judges.md runs from the shipped files, without a network and without
//! a key. `TAPEWRIGHT_BLESS=1` records its verdicts again, from a scripted judge.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/judges")
}

/// The files below a folder, by their paths from it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below it");
                found.push(name.display().to_string().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// A stage with these files of the example.
fn stage(wanted: impl Fn(&str) -> bool) -> Stage {
    let stage = Stage::new();
    for name in files(&shipped()).iter().filter(|name| wanted(name)) {
        let text = fs::read_to_string(shipped().join(name)).expect("a text");
        stage.write(name, &text);
    }
    stage
}

/// The way a user runs the example: tapewright is on the `PATH`.
fn as_shown(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    let program = std::path::absolute(env!("CARGO_BIN_EXE_tapewright")).expect("a path");
    let folder = program.parent().expect("a folder").to_owned();
    let paths = std::env::var_os("PATH").expect("a path");
    let paths = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&paths)));
    let mut command = command(stage, provider, words);
    said(command.env("PATH", paths.expect("a path")))
}

fn record() {
    let stage = stage(|name| matches!(name, "support.yaml" | "support.json"));
    for (test, verdict) in [
        ("arrives", verdict(true, 0.95, "it names Friday")),
        (
            "parcel",
            verdict(true, 0.9, "it is sorry, and sends a new one"),
        ),
    ] {
        let provider = judge(&json!([verdict]));
        let words = ["run", "support.yaml", "--record", "--filter", test];
        let told = as_shown(&stage, Some(&provider), &words);
        assert_eq!(told.status, 0, "{}\n{}", told.out, told.err);
    }
    let eval = Provider::start(&json!({
        "key": KEY,
        "sides": [verdict(true, 1.0, "it says Friday")],
        "turns": [
            {"tools": [{"name": "order_status", "arguments": {"order": "A-17"}}]},
            {"text": "Order A-17 arrives on Friday."},
        ],
    }));
    let words = [
        "eval",
        "support.yaml",
        "--record",
        "--model",
        "claude-sonnet-4-5",
    ];
    let told = as_shown(&stage, Some(&eval), &words);
    assert_eq!(told.status, 0, "{}\n{}", told.out, told.err);
    let made = stage.path("");
    for name in files(&made) {
        if name.starts_with("judgements/") || name.starts_with("cassettes/eval__") {
            let to = shipped().join(&name);
            fs::create_dir_all(to.parent().expect("a folder")).expect("made");
            fs::copy(made.join(&name), to).expect("copied");
        }
    }
}

#[test]
fn the_example_of_the_documentation_runs_offline() {
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        record();
    }
    let stage = stage(|_| true);
    let page = include_str!("../../../../docs/judges.md");
    for words in [["run", "support.yaml"], ["eval", "support.yaml"]] {
        let told = as_shown(&stage, None, &words);
        assert_eq!(told.status, 0, "{words:?}: {}\n{}", told.out, told.err);
        for line in told.out.lines().filter(|line| !line.is_empty()) {
            // Times differ between runs.
            let end = line.find("  (").or(line.find(" in ")).unwrap_or(line.len());
            let line = &line[..end];
            assert!(page.contains(line), "docs/judges.md does not show `{line}`");
        }
    }
}

#[test]
fn what_the_example_says_is_judged_and_not_only_played() {
    let stage = stage(|_| true);
    let other = stage.read("support.json").replace("on Friday", "on Monday");
    stage.write("support.json", &other);
    let told = as_shown(&stage, None, &["run", "support.yaml"]);
    assert_eq!(told.status, 2, "{}\n{}", told.out, told.err);
    assert!(told.out.contains("the candidate changed"), "{}", told.out);
}

#[test]
fn without_recordings_and_keys_each_row_says_in_a_line_why_it_is_deferred() {
    let stage = stage(|name| !name.contains("judgements/"));
    let told = as_shown(&stage, None, &["run", "support.yaml"]);
    assert_eq!(told.status, 0, "{}\n{}", told.out, told.err);
    let deferred = told.out.matches("DEFERRED").count();
    assert_eq!(deferred, 2, "{}", told.out);
    assert!(
        told.out
            .contains("; gpt-5: abstains: deferred: OPENAI_API_KEY is not set")
            && !told.out.contains("\\n"),
        "{}",
        told.out
    );
}
