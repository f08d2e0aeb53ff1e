//! Suites that are generated: from recordings, and from live servers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::suite::stage::{CommandOutput, Stage, said};
use crate::support::http::Gateway;
use crate::support::peer;

/// Recordings of real servers.
fn tapes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let files = fs::read_dir(folder).expect("a folder");
    let mut tapes: Vec<PathBuf> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.to_string_lossy().ends_with(".tape.jsonl"))
        .collect();
    tapes.sort();
    assert!(tapes.len() >= 5, "{tapes:?}");
    tapes
}

fn write(stage: &Stage, words: &[&str]) -> CommandOutput {
    said(stage.command().args(words))
}

/// Checks that every test of the report passed; returns their number.
fn all_passed(report: &Value) -> usize {
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    for test in tests {
        assert_eq!(test["status"], "pass", "{test:#}");
    }
    assert!(!tests.is_empty());
    tests.len()
}

#[test]
fn a_suite_of_a_recording_is_valid_and_passes_over_it() {
    for tape in tapes() {
        let stage = Stage::new();
        let tape = tape.to_str().expect("a path");
        let made = write(
            &stage,
            &["export", tape, "--as", "suite", "-o", "made.yaml"],
        );
        assert_eq!(made.status, 0, "{tape}: {}", made.err);
        let checked = write(&stage, &["validate", "made.yaml"]);
        assert_eq!((checked.status, checked.err.as_str()), (0, ""), "{tape}");
        let (status, report) = stage.json(&["made.yaml", "--capture", tape]);
        assert_eq!(status, 0, "{tape}: {report:#}");
        assert!(all_passed(&report) >= 5, "{tape}");
        // The same recording makes the same suite.
        let again = write(&stage, &["export", tape, "--as", "suite"]);
        let named = stage.read("made.yaml").replace("made.yaml", "SUITE.yaml");
        assert_eq!(again.out, named, "{tape}");
    }
}

#[test]
fn a_suite_of_a_cassette_passes_from_the_cassette() {
    for tape in tapes() {
        // A request of one era is not answered in the other.
        if !tape.to_string_lossy().contains("handshake-stdio") {
            continue;
        }
        let stage = Stage::new();
        let tape = tape.to_str().expect("a path");
        for words in [
            &["export", tape, "--as", "cassette", "-o", "c.json"][..],
            &["init", "c.json", "-o", "made.yaml"],
        ] {
            let made = write(&stage, words);
            assert_eq!(made.status, 0, "{words:?}: {}", made.err);
        }
        let binary = env!("CARGO_BIN_EXE_tapewright");
        let replay = format!("'{binary}' replay c.json");
        let (_, report) = stage.json(&["made.yaml", "--server-command", &replay]);
        let tests = report["suites"][0]["tests"].as_array().expect("tests");
        let passed = tests.iter().filter(|test| test["status"] == "pass");
        // The runner's client declares no sampling, elicitation, roots or tasks: tests that need
        // them are skipped.
        assert!(passed.count() >= 5, "{report:#}");
    }
}

#[test]
fn a_suite_of_a_server_passes_against_it_over_stdio_and_over_http() {
    let stage = Stage::new();
    let peer = peer().display().to_string();
    let made = write(&stage, &["init", "--all-tools", "--", &peer, "suite"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let (status, report) = stage.json(&["tapewright.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let tests = all_passed(&report);
    assert!(tests >= 4, "{report:#}");

    let front = Gateway::start(&["--listen", "127.0.0.1:0", "--", &peer, "suite"]);
    let url = front.line["listening"].as_str().expect("a URL");
    let words = ["init", "--all-tools", "--upstream", url, "-o", "http.yaml"];
    let made = write(&stage, &words);
    assert_eq!(made.status, 0, "{}", made.err);
    let (status, report) = stage.json(&["http.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    assert_eq!(all_passed(&report), tests);
}

#[test]
fn a_tool_that_may_change_something_is_not_called_and_stands_as_a_comment() {
    let stage = Stage::new();
    let peer = peer().display().to_string();
    let made = write(&stage, &["init", "--", &peer, "suite"]);
    assert_eq!(made.status, 0, "{}", made.err);
    let suite = stage.read("tapewright.yaml");
    assert!(
        suite.contains("# It does not say that it changes nothing"),
        "{suite}"
    );
    assert!(suite.contains("  #   tool: echo\n"), "{suite}");
    assert!(!suite.contains("\n    tool: "), "{suite}");
    let checked = write(&stage, &["validate", "tapewright.yaml"]);
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_that_is_asked_for() {
    let stage = Stage::new();
    let tape = tapes().remove(0);
    let tape = tape.to_str().expect("a path");
    stage.write("tapewright.yaml", "mine");
    let refused = write(&stage, &["init", tape]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("already exists"), "{}", refused.err);
    assert_eq!(stage.read("tapewright.yaml"), "mine");
    assert_eq!(write(&stage, &["init", tape, "--force"]).status, 0);
    assert!(stage.read("tapewright.yaml").starts_with("# Written from"));
}

#[test]
fn secrets_are_in_no_suite_and_calls_with_them_are_skipped() {
    let stage = Stage::new();
    let peer = peer().display().to_string();
    let made = said(
        stage
            .command()
            .env("MY_API_KEY", "hunter2-hunter2-hunter2")
            .args([
                "init",
                "--all-tools",
                "--",
                &peer,
                "suite",
                "--api-key=hunter2-hunter2-hunter2",
            ]),
    );
    // The peer does not know this role and exits: nothing is written, and the secret is not
    // printed.
    assert_eq!(made.status, 2, "{}", made.err);
    assert!(!made.err.contains("hunter2"), "{}", made.err);
    assert!(!stage.path("tapewright.yaml").exists());

    let exchange = r#"{"interactions":[]}"#;
    stage.write("empty.json", exchange);
    let nothing = write(&stage, &["init", "empty.json", "-o", "x.yaml"]);
    assert_eq!(nothing.status, 2, "{}", nothing.err);

    let line = |dir: &str, seq: u32, message: &str| {
        format!(
            "{{\"seq\":{seq},\"at_us\":{seq},\"dir\":\"{dir}\",\"number\":1,\"message\":{message}}}\n"
        )
    };
    let tape = [
        "{\"tape\":\"2.0\",\"transport\":\"stdio\",\"label\":\"vault\",\"command\":[\"vault\",\"--token\",\"<REDACTED:token#1>\"]}\n".to_owned(),
        line("to_server", 1, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open","arguments":{"key":"<REDACTED:key#1>","cost":"$5"}}}"#),
        line("to_client", 2, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"open, for $HOME"}]}}"#),
    ]
    .concat();
    stage.write("vault.tape.jsonl", &tape);
    let made = write(
        &stage,
        &[
            "export",
            "vault.tape.jsonl",
            "--as",
            "suite",
            "-o",
            "v.yaml",
        ],
    );
    assert_eq!(made.status, 0, "{}", made.err);
    let suite = stage.read("v.yaml");
    assert!(suite.contains("skip: "), "{suite}");
    assert!(
        suite.contains("command: [vault, \"--token\", \"${SECRET_1}\"]"),
        "{suite}"
    );
    assert!(suite.contains("exact: \"open, for $$HOME\""), "{suite}");
    let checked = said(
        stage
            .command()
            .env("SECRET_1", "x")
            .args(["validate", "v.yaml"]),
    );
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
}

#[test]
fn a_suite_of_a_cassette_reaches_the_server_that_its_tape_names() {
    let stage = Stage::new();
    let peer = peer().display().to_string();
    let suite = "servers: { p: { command: [\"${PEER}\", suite] } }\ntools:\n  - { name: a, server: p, tool: echo, args: { message: hello } }\n";
    stage.write("first.yaml", suite);
    let recorded = stage.run(&["first.yaml", "--record=r"]);
    assert_eq!(recorded.status, 0, "{}", recorded.err);
    let input = fs::read_to_string(stage.path("r/p.json")).unwrap();
    assert!(input.contains("hello"));
    // A tape of `record` says how its server was started; one of `run --record` does not.
    let made = write(&stage, &["init", "r/p.json", "-o", "made.yaml"]);
    assert_eq!(made.status, 0, "{}", made.err);
    assert!(
        made.err.contains("does not say how to reach"),
        "{}",
        made.err
    );
    let text = stage.read("made.yaml");
    assert!(text.contains("cassette: \"./r/p.json\""), "{text}");
    assert!(text.contains("in place of `cassette`"), "{text}");

    let tape = stage.read("r/p.tape.jsonl");
    let (header, rest) = tape.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["command"] = serde_json::json!([peer, "suite"]);
    header["cwd"] = "/somewhere/else".into();
    stage.write("r/p.tape.jsonl", &format!("{header}\n{rest}"));
    let made = write(&stage, &["init", "r/p.json", "--force", "-o", "made.yaml"]);
    assert!(!made.err.contains("how to reach"), "{}", made.err);
    let text = stage.read("made.yaml");
    assert!(
        text.contains("command: ") && !text.contains("cassette: "),
        "{text}"
    );
    assert!(text.contains("started in /somewhere/else"), "{text}");
    let (status, report) = stage.json(&["made.yaml"]);
    assert_eq!(status, 0, "{report:#}");

    // Both are given by relative paths, and neither is below the other.
    fs::create_dir(stage.path("sub")).unwrap();
    fs::remove_file(stage.path("r/p.tape.jsonl")).unwrap();
    let mut command = stage.command();
    let made = said(
        command
            .args(["init", "../r/p.json", "-o", "made.yaml"])
            .current_dir(stage.path("sub")),
    );
    assert_eq!(made.status, 0, "{}", made.err);
    let text = stage.read("sub/made.yaml");
    assert!(text.contains("cassette: \"../r/p.json\""), "{text}");
}
