//! A folder of recordings, verified one after another.

use std::fs;

use super::run;
use crate::support::native;

/// A cassette with one request, and its answer.
fn cassette(answer: &str) -> String {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum"}}"#;
    let response = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{answer}"}}]}}}}"#
    );
    format!(r#"{{"version":"1","exchanges":[{{"request":{request},"response":{response}}}]}}"#)
}

#[test]
fn every_recording_of_a_folder_is_verified_in_a_session_of_its_own() {
    let stage = tempfile::tempdir().unwrap();
    let all = stage.path().join("all");
    fs::create_dir(&all).unwrap();
    fs::write(stage.path().join("live.json"), cassette("5")).unwrap();
    fs::write(all.join("a.json"), cassette("5")).unwrap();
    fs::write(all.join("b.json"), cassette("6")).unwrap();
    fs::write(all.join("package.json"), "{}").unwrap();
    let server = [
        "--",
        env!("CARGO_BIN_EXE_tapewright"),
        "replay",
        "live.json",
    ];
    let verify = |options: &[&str]| {
        run(
            stage.path(),
            &[&["verify", "all"], options, &server].concat(),
            &[],
        )
    };
    let done = verify(&["--json"]);
    assert_eq!(done.status, 1, "{}", done.error);
    let told = done.json();
    let counts = |at: usize| (told[at]["same"].clone(), told[at]["drifted"].clone());
    assert_eq!(told[0]["tape"], native("all/a.json"));
    assert_eq!(counts(0), (1.into(), 0.into()));
    assert_eq!(counts(1), (0.into(), 1.into()));
    let done = verify(&[]);
    for text in ["all/a.json", "all/b.json", "1 drifted, 1 the same"] {
        assert!(done.out.contains(&native(text)), "{text}: {}", done.out);
    }
    let done = verify(&["--update"]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    assert_eq!(verify(&[]).status, 0);
    assert_eq!(
        fs::read_to_string(all.join("a.json")).unwrap(),
        cassette("5")
    );
}

#[test]
fn recordings_of_several_servers_of_an_agent_are_not_sent_to_one() {
    let stage = tempfile::tempdir().unwrap();
    for label in ["fs", "web"] {
        let header = serde_json::json!({
            "tape": "2.4", "created": "2026-11-26T03:00:00.000Z", "by": "test", "transport": "stdio",
            "label": label, "part_of": "one", "redacted": true,
        });
        let file = stage.path().join(format!("{label}.tape.jsonl"));
        fs::write(file, format!("{header}\n")).unwrap();
    }
    let done = run(stage.path(), &["verify", ".", "--", "true"], &[]);
    assert_eq!(done.status, 2, "{}", done.out);
    assert!(
        done.error.contains("several servers: fs, web"),
        "{}",
        done.error
    );
}
