//! Errors, and servers that cannot be used.

use std::fs;

use super::{run, verify};
use crate::replay::{call, cassette, opening};

#[test]
fn an_update_is_refused_in_ci_unless_it_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (recorded, live) = (cassette(&[call("1", "one")]), cassette(&[call("1", "uno")]));
    fs::write(path.join("tape.json"), &recorded).unwrap();
    fs::write(path.join("live.json"), &live).unwrap();
    let binary = env!("CARGO_BIN_EXE_tapewright");
    let server = ["--", binary, "replay", "live.json"];
    let ci = [("CI", "true")];
    let done = run(
        path,
        &[&["verify", "tape.json", "--update"][..], &server].concat(),
        &ci,
    );
    assert_eq!(done.status, 2);
    assert!(
        done.error.contains("the variable `CI` is true"),
        "{}",
        done.error
    );
    assert_eq!(
        fs::read_to_string(path.join("tape.json")).unwrap(),
        recorded
    );
    let allowed = ["verify", "tape.json", "--update", "--allow-update-in-ci"];
    let done = run(path, &[&allowed[..], &server].concat(), &ci);
    assert_eq!(done.status, 0, "{}", done.error);
    assert!(
        fs::read_to_string(path.join("tape.json"))
            .unwrap()
            .contains("uno")
    );
}

#[test]
fn a_server_that_ends_leaves_nothing_half_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(
        path.join("tape.json"),
        cassette(&[opening(), call("1", "one")]),
    )
    .unwrap();
    let server = ["sh", "-c", "echo broken pipe in the cellar >&2; exit 4"];
    let arguments = [&["verify", "tape.json", "--update", "--"][..], &server].concat();
    let before = fs::read(path.join("tape.json")).unwrap();
    let done = run(
        path,
        &arguments,
        &[("PATH", &std::env::var("PATH").unwrap())],
    );
    assert_eq!(done.status, 2);
    assert_eq!(done.out, "");
    for part in [
        "verification failed",
        "/exchanges/0 (initialize)",
        "status 4",
        "broken pipe in the cellar",
        "hint: check the command after `--`",
    ] {
        assert!(done.error.contains(part), "{part}: {}", done.error);
    }
    assert_eq!(fs::read(path.join("tape.json")).unwrap(), before);
}

#[test]
fn a_request_that_gets_no_answer_is_drift() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = cassette(&[call("1", "one")]);
    let live = r#"{"version":"1","exchanges":[],"unanswered":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}},"why":"still pending"}]}"#;
    // The time includes the handshake, which a busy machine may not complete within the first
    // limit.
    let tries = [("200ms", "200 ms"), ("2s", "2000 ms"), ("20s", "20000 ms")];
    for (timeout, shown) in tries {
        let done = verify(folder.path(), &recorded, live, &["--timeout", timeout]);
        if done.error.contains("no answer to `initialize` within") {
            continue;
        }
        assert_eq!(done.status, 1, "{}", done.error);
        let expected = format!("no answer within {shown}");
        assert!(done.out.contains(&expected), "{}", done.out);
        return;
    }
    panic!("no handshake within {tries:?}");
}

#[test]
fn nothing_more_is_sent_to_a_server_that_does_not_answer_initialize() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let recorded = cassette(&[opening(), call("1", "one")]);
    fs::write(path.join("tape.json"), recorded).unwrap();
    let mute = ["sh", "-c", "while read -r line; do :; done"];
    let arguments = ["verify", "tape.json", "--timeout", "100ms", "--"];
    let path_variable = std::env::var("PATH").unwrap();
    let variables = [("PATH", path_variable.as_str())];
    let done = run(path, &[&arguments[..], &mute].concat(), &variables);
    assert_eq!(done.status, 1, "{}", done.error);
    for part in [
        "no answer within 100 ms",
        "the server did not answer `initialize`",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("tape.json"), cassette(&[call("1", "one")])).unwrap();
    fs::write(path.join("bad.json"), "{\"version\":\"1\"").unwrap();
    let capture = r#"{"server_label":"s","server_capabilities":null,"exchanges":[]}"#;
    fs::write(path.join("capture.json"), capture).unwrap();
    for (arguments, part) in [
        (&["verify", "tape.json"][..], "no server given"),
        (&["verify", "none.json", "--", "true"], "no such file"),
        (&["verify", "bad.json", "--", "true"], "line 1"),
        (&["verify", "tape.json", "--", "./nowhere"], "cannot start"),
        (
            &["verify", "tape.json", "--upstream", "ftp://x"],
            "invalid URL in `--upstream`",
        ),
        (
            &[
                "verify",
                "tape.json",
                "--upstream",
                "http://127.0.0.1:1/mcp",
            ],
            "/exchanges/0",
        ),
        (
            &["verify", "tape.json", "--ignore", "result", "--", "true"],
            "invalid `--ignore`",
        ),
        (
            &["verify", "tape.json", "--timeout=-1", "--", "true"],
            "--timeout",
        ),
        (
            &["verify", "capture.json", "--update", "--", "true"],
            ": only a cassette can be updated, not a capture",
        ),
        (
            &["verify", "tape.json", "--allow-update-in-ci", "--", "true"],
            "--update",
        ),
    ] {
        let done = run(path, arguments, &[]);
        assert_eq!(done.status, 2, "{arguments:?}: {}{}", done.out, done.error);
        assert!(done.error.contains(part), "{arguments:?}: {}", done.error);
    }
}
