//! A report is written whatever happens, and each error has a name.

use std::process::Stdio;
use std::time::Duration;

use crate::suite::stage::{Stage, verdicts, with_peer};
use crate::support::http::Gateway;
use crate::support::{eventually, peer, signal, wait};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server that answers `initialize` with this revision, and a tool call as given by `call`.
fn server(revision: &str, call: &str) -> String {
    format!(
        r#"while read -r line; do case "$line" in
  *'"method":"initialize"'*) echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}';;
  *'"method":"tools/call"'*) {call};;
esac; done
"#
    )
}

const ONE_SERVER: &str = "servers:\n  s: { command: [\"sh\", \"server.sh\"] }\n";

#[test]
fn what_came_instead_of_an_answer_is_named_and_the_server_is_started_again() {
    let stage = Stage::new();
    let call = "echo rubbish; echo '{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":{}}'; echo '{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}'";
    stage.write("server.sh", &server("2025-11-25", call));
    let tests = "tools:\n  - { name: a, server: s, tool: t, timeout_ms: 1500 }\ncompliance:\n  - { name: again, server: s, check: initialize }\n";
    stage.write("suite.yaml", &format!("{ONE_SERVER}{tests}"));
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let note = report["suites"][0]["tests"][0]["failures"][0]["note"].to_string();
    for part in [
        "no answer within 1500 ms",
        "rubbish",
        r#"id \"2\", a string"#,
        "id 99, which was never requested",
    ] {
        assert!(note.contains(part), "{part}: {note}");
    }
    let (_, report) = stage.json(&["suite.yaml", "--retry", "1"]);
    let notes = report["suites"][0]["notes"].to_string();
    assert!(notes.contains("was restarted"), "{notes}");
}

#[test]
fn a_server_in_trouble_keeps_its_session() {
    let server = peer().display().to_string();
    let gateway = Gateway::start(&[
        "--listen",
        "127.0.0.1:0",
        "--fault",
        "http-status status=500 tool=echo nth=1",
        "--",
        &server,
        "suite",
    ]);
    let stage = Stage::new();
    let url = gateway.line["listening"].as_str().expect("a URL");
    let tests =
        "tools:\n  - { name: a, server: s, tool: echo }\n  - { name: b, server: s, tool: echo }\n";
    stage.write(
        "suite.yaml",
        &format!("servers:\n  s: {{ url: \"{url}\" }}\n{tests}"),
    );
    let (_, report) = stage.json(&["suite.yaml"]);
    let statuses: Vec<_> = verdicts(&report).into_iter().map(|(_, one)| one).collect();
    assert_eq!(statuses, ["fail", "pass"], "{report:#}");
    assert_eq!(report["suites"][0]["notes"], serde_json::json!([]));
}

#[test]
fn a_suite_that_cannot_run_has_a_report_in_every_format() {
    let stage = Stage::new();
    let gone =
        "servers:\n  s: { command: [\"./gone\"] }\ntools:\n  - { name: a, server: s, tool: t }\n";
    for (suite, part) in [
        (gone, "cannot connect to the server"),
        ("servers: 5\n", "must be an object"),
    ] {
        stage.write("suite.yaml", suite);
        for format in ["json", "junit", "tap", "github", "markdown"] {
            let said = stage.run(&["suite.yaml", "--reporter", format]);
            assert_eq!(said.status, 2, "{format}");
            assert!(said.out.contains(part), "{format}: {}", said.out);
            let file = format!("{format}=report");
            assert_eq!(stage.run(&["suite.yaml", "--reporter", &file]).status, 2);
            assert!(stage.read("report").contains(part), "{format}");
        }
    }
}

#[test]
fn an_interrupted_run_reports_what_was_done() {
    for name in ["INT", "TERM"] {
        interrupted(name);
    }
}

fn interrupted(name: &str) {
    let stage = Stage::new();
    stage.write("server.sh", &server("2025-11-25", "echo x >> called"));
    let tests = "compliance:\n  - { name: done, server: s, check: initialize }\ntools:\n  - { name: hangs, server: s, tool: t }\n  - { name: later, server: s, tool: t }\n";
    stage.write("suite.yaml", &format!("{ONE_SERVER}{tests}"));
    let mut child = stage
        .command()
        .args(["run", "suite.yaml", "--reporter", "json=report.json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a run");
    assert!(eventually(PATIENCE, || stage.path("called").exists()));
    signal(child.id(), name);
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(130));
    let report = stage.read("report.json");
    assert!(report.contains("the run was interrupted"), "{report}");
    let report = serde_json::from_str(&report).expect("JSON");
    assert_eq!(verdicts(&report).len(), 3);
}

#[test]
fn a_revision_that_is_not_spoken_fails_alone() {
    let stage = Stage::new();
    stage.write("server.sh", &server("2025-06-18", "true"));
    let suite = "target_versions: [\"2025-11-25\", \"2025-06-18\"]\n";
    let tests = "compliance:\n  - { name: a, server: s, check: initialize }\n";
    stage.write("suite.yaml", &format!("{suite}{ONE_SERVER}{tests}"));
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let rows: Vec<String> = tests
        .iter()
        .map(|test| {
            format!("{} {} {}", test["name"], test["revision"], test["status"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        rows,
        [
            "s speaks 2025-11-25 2025-11-25 fail",
            "a 2025-11-25 skip",
            "a 2025-06-18 pass"
        ]
    );
    assert!(
        tests[0]["failures"][0]["note"]
            .to_string()
            .contains("2025-06-18")
    );
}

#[test]
fn a_folder_of_recordings_has_one_for_each_server() {
    let stage = Stage::new();
    let suite = with_peer(
        "  other:\n    command: [\"${PEER}\", \"suite\"]\ntools:\n  - { name: a, server: peer, tool: echo }\n  - { name: b, server: other, tool: add, args: { a: 1, b: 2 } }\n",
    );
    stage.write("suite.yaml", &suite);
    assert_eq!(stage.run(&["suite.yaml", "--record"]).status, 0);
    let (status, report) = stage.json(&["suite.yaml", "--capture", "cassettes"]);
    assert_eq!(status, 0, "{report:#}");
    let (status, report) = stage.json(&[
        "suite.yaml",
        "--capture",
        "cassettes/peer.json",
        "--label",
        "other",
    ]);
    let statuses: Vec<_> = verdicts(&report).into_iter().map(|(_, one)| one).collect();
    assert_eq!((status, statuses), (3, vec!["not_exercised".to_owned(); 2]));
}

#[test]
fn a_machine_does_not_bless_what_it_checks() {
    let stage = Stage::new();
    let suite = |text: &str| {
        with_peer(&format!(
            "tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: {{ message: {text} }}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ snapshot: {{ name: k, update: true }} }} }}]\n"
        ))
    };
    stage.write("suite.yaml", &suite("one"));
    assert_eq!(stage.run(&["suite.yaml"]).status, 0);
    stage.write("suite.yaml", &suite("two"));
    let mut command = stage.command();
    command.args(["run", "suite.yaml"]).env("CI", "true");
    assert_eq!(crate::suite::stage::said(&mut command).status, 1);
    assert_eq!(stage.read("snapshots/k.json").trim(), "\"one\"");
    assert_eq!(stage.run(&["suite.yaml"]).status, 0);
    assert_eq!(stage.read("snapshots/k.json").trim(), "\"two\"");
    let missing = suite("one")
        .replace("[0].text", "[9].text")
        .replace("name: k", "name: gone");
    stage.write("suite.yaml", &missing);
    assert_eq!(stage.run(&["suite.yaml"]).status, 1);
    assert!(!stage.path("snapshots/gone.json").exists());
}

#[test]
fn a_budget_that_is_exceeded_points_at_its_line() {
    let stage = Stage::new();
    let rest = "tools:\n  - name: a\n    server: peer\n    tool: wait\n    args: { ms: 30 }\n    expect:\n      max_duration_ms: 1\n";
    stage.write("suite.yaml", &with_peer(rest));
    let (_, report) = stage.json(&["suite.yaml"]);
    let place = &report["suites"][0]["tests"][0]["failures"][0]["place"];
    assert_eq!(
        (&place["line"], &place["column"]),
        (&10.into(), &7.into()),
        "{report:#}"
    );
}

#[test]
fn a_budget_of_the_default_test_points_at_its_own_line() {
    let stage = Stage::new();
    let rest = "defaultTest:\n  expect:\n    max_duration_ms: 1\n    response_headers:\n      x-a: b\ntools:\n  - name: a\n    server: peer\n    tool: wait\n    args: { ms: 30 }\n    expect:\n      max_response_tokens: 100\n";
    stage.write("suite.yaml", &with_peer(rest));
    let (_, report) = stage.json(&["suite.yaml"]);
    let failures = report["suites"][0]["tests"][0]["failures"].as_array();
    let places: Vec<_> = failures
        .expect("failures")
        .iter()
        .map(|one| (one["matcher"].as_str(), one["place"]["line"].as_u64()))
        .collect();
    let expected = [
        (Some("max_duration_ms"), Some(6)),
        (Some("response_headers"), Some(7)),
    ];
    assert_eq!(places, expected, "{report:#}");
}

#[test]
fn a_transform_lies_beside_the_suite_and_has_the_time_of_its_test() {
    let stage = Stage::new();
    let suite = |time: u64| {
        with_peer(&format!(
            "tools:\n  - name: a\n    server: peer\n    tool: echo\n    timeout_ms: {time}\n    transform: {{ response: ./slow.sh }}\n    expect: [{{ target: result.ok, matcher: {{ exact: true }} }}]\n"
        ))
    };
    let script = stage.write("deep/slow.sh", "#!/bin/sh\ncat > /dev/null\n[ -e hold ] && sleep 60\nprintf '{\"result\":{\"ok\":true}}'\n");
    crate::support::system::make_executable(&script);
    stage.write("deep/suite.yaml", &suite(30_000));
    let (status, report) = stage.json(&["deep/suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    stage.write("hold", "");
    stage.write("deep/suite.yaml", &suite(1_500));
    let (_, report) = stage.json(&["deep/suite.yaml"]);
    let note = report["suites"][0]["tests"][0]["failures"][0]["note"].to_string();
    assert!(note.contains("took longer than 1500 ms"), "{note}");
}
