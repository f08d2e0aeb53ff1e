//! Mistakes that are easy to make on the command line, and the hints that they get.

use std::fs;
use std::path::Path;

use super::golden::{folder, run};

const CASSETTE: &str = r#"{"version":"1","exchanges":[
{"request":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",
"capabilities":{},"clientInfo":{"name":"c","version":"1"}}},"response":{"jsonrpc":"2.0","id":0,
"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}},
{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call",
"params":{"name":"add","arguments":{"a":1}}},
"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}]}}}]}"#;

/// What a refused command says; its exit status must be 2.
fn refused(folder: &Path, typed: &str) -> String {
    let words: Vec<&str> = typed.split(' ').collect();
    let (status, out, said) = run(folder, &words);
    assert_eq!((status, out.as_str()), (2, ""), "{typed}: {said}");
    said
}

fn refused_with(folder: &Path, cases: &[(&str, &str)]) {
    for (typed, hint) in cases {
        let said = refused(folder, typed);
        assert!(said.contains(hint), "{typed}: {said}");
    }
}

#[test]
fn a_value_that_needs_an_equals_sign_is_no_command_and_no_suite() {
    let folder = folder(&[("suite.yaml", "servers: {}\n")]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    refused_with(
        folder.path(),
        &[
            (
                "record -o g.json --listen 0 --page 0 -v -- node server.js",
                "write `--page=0`",
            ),
            (
                "record --page 127.0.0.1:0 node server.js",
                "write `--page=127.0.0.1:0`",
            ),
            ("run suite.yaml --record rec2/", "write `--record=rec2/`"),
            ("run suite.yaml --record empty", "write `--record=empty`"),
        ],
    );
    assert!(!folder.path().join("g.json").exists());
}

#[test]
fn a_hint_names_the_command_in_use() {
    let folder = folder(&[("demo.json", CASSETTE)]);
    refused_with(
        folder.path(),
        &[
            (
                "compliance doctor demo.json",
                "give a recording with `--capture demo.json`",
            ),
            (
                "compliance doctor server",
                "tapewright compliance doctor [OPTIONS] -- COMMAND",
            ),
        ],
    );
}

#[test]
fn what_is_no_recording_is_called_so() {
    let folder = folder(&[
        ("suite.yaml", "servers:\n  s: { command: x }\n"),
        ("passwd", "root:x:0:0:root:/root:/bin/sh\n"),
        ("empty.json", ""),
        ("cut.json", r#"{"version":"1","exch"#),
    ]);
    for command in ["show", "replay", "scrub --check", "inspect"] {
        refused_with(
            folder.path(),
            &[
                (&format!("{command} suite.yaml"), "this is not a recording"),
                (&format!("{command} passwd"), "this is not a recording"),
                (&format!("{command} empty.json"), "this is not a recording"),
                (&format!("{command} cut.json"), "if the file was cut short"),
            ],
        );
    }
    refused_with(
        folder.path(),
        &[("diff passwd passwd", "this is not a recording")],
    );
}

#[test]
fn a_suite_that_is_given_as_a_recording_is_called_one_by_every_command() {
    let suite = "servers:\n  s: { command: x }\n";
    let folder = folder(&[
        ("suite.yaml", suite),
        ("flow.yml", "{ servers: { s: { command: x } } }\n"),
        ("other.yaml", "name: something else\n"),
    ]);
    for command in [
        "compliance doctor --capture",
        "compliance invariants --capture",
        "compliance run --capture",
        "diff suite.yaml",
        "export --as cassette -o out.json",
        "init -o out.yaml",
        "inspect",
        "replay",
        "scrub",
        "scrub --check",
        "show",
        "verify --upstream http://127.0.0.1:1/mcp",
        "view",
    ] {
        let typed = format!("{command} suite.yaml");
        let said = refused(folder.path(), &typed);
        for part in [
            "`suite.yaml`: this is not a recording but a suite",
            "run it with `tapewright run suite.yaml`",
        ] {
            assert!(said.contains(part), "{typed}: {said}");
        }
    }
    let kept = fs::read_to_string(folder.path().join("suite.yaml")).unwrap();
    assert_eq!(kept, suite);
    refused_with(
        folder.path(),
        &[
            ("show flow.yml", "`tapewright run flow.yml`"),
            ("show other.yaml", "give a tape, a cassette or a capture"),
        ],
    );
}

#[test]
fn a_time_limit_of_nothing_is_refused() {
    let folder = folder(&[("suite.yaml", "servers: {}\n")]);
    for typed in [
        "run suite.yaml --timeout 0",
        "run suite.yaml --http-timeout 0ms",
        "run suite.yaml --connect-timeout 0",
        "verify demo.json --timeout 0 -- server",
        "init --timeout 0 -- server",
        "compliance doctor --timeout 0 -- server",
        "compliance run --timeout 0 -- server",
        "record --connect-timeout 0 --upstream http://127.0.0.1:1/mcp",
        "record --head-timeout 0 --listen 0 -- server",
        "record --body-timeout 0 --listen 0 -- server",
    ] {
        let said = refused(folder.path(), typed);
        assert!(said.contains("must be longer than 0"), "{typed}: {said}");
    }
}

#[test]
fn an_unreachable_control_is_named() {
    let folder = folder(&[]);
    for typed in ["sessions", "fault list"] {
        let place = "unix:none.sock";
        let said = refused(folder.path(), &format!("{typed} --control {place}"));
        assert!(
            said.contains(&format!("control API at `{place}`")),
            "{said}"
        );
    }
}

#[test]
fn codes_that_tapewright_prints_are_explained() {
    let folder = folder(&[]);
    let (status, list, _) = run(folder.path(), &["explain"]);
    assert_eq!(status, 0);
    let codes = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let codes: Vec<&str> = codes.collect();
    for code in ["-32000", "-32020", "-32602", "unknown-key", "unused"] {
        assert!(codes.contains(&code), "{code}: {list}");
    }
    for code in codes {
        let (status, page, said) = run(folder.path(), &["explain", code]);
        assert_eq!((status, said.as_str()), (0, ""), "{code}");
        assert!(page.starts_with(code), "{page}");
    }
}

#[test]
fn a_revision_may_be_written_with_or_without_its_v() {
    let folder = folder(&[]);
    let compare = |from, to| run(folder.path(), &["compliance", "diff", from, to, "--json"]);
    let plain = compare("2025-06-18", "2025-11-25");
    assert_eq!(plain.0, 0, "{}", plain.2);
    assert_eq!(plain, compare("v2025-06-18", "v2025-11-25"));
}

#[test]
fn a_suite_in_another_folder_names_its_recording_from_there() {
    let folder = folder(&[("demo.json", CASSETTE)]);
    fs::create_dir(folder.path().join("sub")).unwrap();
    let (status, _, said) = run(folder.path(), &["init", "demo.json", "-o", "sub/s.yaml"]);
    assert_eq!(status, 0, "{said}");
    let suite = fs::read_to_string(folder.path().join("sub/s.yaml")).unwrap();
    assert!(suite.contains(r#"cassette: "../demo.json""#), "{suite}");
    let (status, out, said) = run(folder.path(), &["run", "sub/s.yaml"]);
    assert_eq!(status, 0, "{out}{said}");
}
