//! Live failures, and assertions that could not be judged.

use crate::suite::stage::{Stage, verdicts, with_peer};

#[test]
fn each_outcome_has_its_status() {
    let stage = Stage::new();
    let suite = with_peer(
        r#"tools:
  - name: fails
    server: peer
    tool: echo
    args: { message: "hello, world!" }
    expect:
      - target: result.content[0].text
        matcher: { exact: "hello, world" }
        message: echo should be exact
  - name: cannot be judged
    server: peer
    tool: add
    expect:
      - target: result.structuredContent.sum
        matcher: { icontains: "4" }
  - name: passes
    server: peer
    tool: echo
"#,
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 2, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, ["fail", "error", "pass"]);
    let failure = &report["suites"][0]["tests"][0]["failures"][0];
    assert_eq!(failure["test_name"], "fails");
    assert_eq!(failure["matcher"], "exact");
    assert_eq!(failure["message"], "echo should be exact");
    assert_eq!(failure["diff"], "+!");
    assert_eq!(failure["place"]["line"], 11);
    let said = stage.run(&["suite.yaml"]);
    for part in [
        "FAIL  fails",
        "suite.yaml:11:18",
        "^^^",
        "echo should be exact",
        "string  \"hello, world!\"",
        "ERROR  cannot be judged",
        "PASS  passes",
    ] {
        assert!(said.out.contains(part), "`{part}` in {}", said.out);
    }
    assert!(said.out.find("FAIL  fails") < said.out.find("PASS  passes"));
}

#[test]
fn a_time_limit_is_kept() {
    let stage = Stage::new();
    let suite = with_peer(
        r"performance:
  default_timeout_ms: 30000
tools:
  - name: too slow
    server: peer
    tool: wait
    args: { ms: 60000 }
    timeout_ms: 100
",
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let note = &report["suites"][0]["tests"][0]["failures"][0]["note"];
    assert_eq!(note, "no answer within 100 ms");
}

#[test]
fn a_server_that_ends_is_started_again() {
    let stage = Stage::new();
    let suite = with_peer(
        "tools:\n  - { name: dies, server: peer, tool: die }\n  - { name: lives, server: peer, tool: echo }\n",
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, ["fail", "pass"]);
    let notes = report["suites"][0]["notes"].to_string();
    assert!(notes.contains("was restarted"), "{notes}");
}

#[test]
fn a_server_that_cannot_be_connected_is_named() {
    let stage = Stage::new();
    for (server, part) in [
        ("command: [\"./no-such-program\"]", "cannot start"),
        ("command: [\"false\"]", "status 1"),
        ("url: \"http://127.0.0.1:1/mcp\"", "`gone`"),
    ] {
        let suite = format!(
            "servers:\n  gone:\n    {server}\ntools:\n  - {{ name: a, server: gone, tool: t }}\n"
        );
        stage.write("suite.yaml", &suite);
        let said = stage.run(&["suite.yaml"]);
        assert_eq!(said.status, 2, "{server}: {}", said.out);
        assert!(
            said.err.contains("cannot connect to the server `gone`"),
            "{}",
            said.err
        );
        assert!(said.err.contains(part), "{part}: {}", said.err);
        assert!(said.out.contains("ERROR  a"), "{}", said.out);
    }
}

#[test]
fn mistakes_of_the_suite_are_found_before_anything_runs() {
    let stage = Stage::new();
    let suite = with_peer(
        "tools:\n  - name: a\n    server: peer\n    tool: echo\n    expect:\n      - target: result[\n        matcher: { regex: \"(\" }\n",
    );
    stage.write("suite.yaml", &suite);
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("suite.yaml:9:17"), "{}", said.err);
    assert!(said.out.is_empty());
    let said = stage.run(&["nowhere.yaml"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("nowhere.yaml"), "{}", said.err);
}

#[test]
fn a_report_names_each_suite_that_cannot_be_used_and_no_other() {
    let stage = Stage::new();
    stage.write("good.yaml", &with_peer("tools: []\n"));
    for name in ["bad.yaml", "worse.yaml"] {
        stage.write(name, "foo: 1\n");
    }
    let said = stage.run(&["bad.yaml", "--format", "github"]);
    assert!(said.out.contains("file=bad.yaml,line=1,"), "{}", said.out);
    let said = stage.run(&["bad.yaml", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let place = &report["suites"][0]["tests"][0]["place"];
    assert_eq!(
        (&place["file"], &place["line"]),
        (&"bad.yaml".into(), &1.into())
    );
    for format in ["junit", "tap", "github", "json", "markdown"] {
        let said = stage.run(&["good.yaml", "bad.yaml", "worse.yaml", "--format", format]);
        assert_eq!(said.status, 2, "{format}");
        for (name, is_told) in [("good.", false), ("bad.", true), ("worse.", true)] {
            assert_eq!(said.out.contains(name), is_told, "{format}: {}", said.out);
        }
    }
}

#[test]
fn a_request_that_was_never_recorded_fails_loudly() {
    let stage = Stage::new();
    let cassette = r#"{"version":"1","exchanges":[
        {"request":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}},"response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}},
        {"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"a"}}},"response":{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"boom"}}}]}"#;
    stage.write("tape.json", cassette);
    let suite = "servers:\n  recorded:\n    cassette: ./tape.json\ntools:\n  - name: recorded error\n    server: recorded\n    tool: search\n    args: { q: a }\n    expect:\n      - { target: result.error.code, matcher: { exact: -32020 } }\n  - name: stale\n    server: recorded\n    tool: search\n    args: { q: b }\n    expect:\n      - { target: result.error.code, matcher: { exact: -32020 } }\n";
    stage.write("suite.yaml", suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(
        statuses,
        ["pass", "fail"],
        "a miss is no error of the server"
    );
    let note = report["suites"][0]["tests"][1]["failures"][0]["note"].to_string();
    assert!(note.contains("replay:"), "{note}");
    let said = stage.run(&["suite.yaml"]);
    assert!(said.out.contains("[replay]"), "{}", said.out);
}

#[test]
fn known_failures_do_not_fail_a_run_until_they_pass() {
    let stage = Stage::new();
    let suite = |text: &str| {
        format!(
            "servers: {{ p: {{ command: [\"${{PEER}}\", suite] }} }}\ntools:\n  - name: good\n    server: p\n    tool: echo\n    args: {{ message: hello }}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ exact: hello }} }}]\n  - name: bad\n    server: p\n    tool: echo\n    args: {{ message: hello }}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ exact: {text} }} }}]\n"
        )
    };
    stage.write("s.yaml", &suite("other"));
    let known = ["s.yaml", "--baseline", "known.json"];
    let missing = stage.run(&known);
    assert_eq!(missing.status, 2, "{}", missing.err);
    assert!(missing.err.contains("--update-baseline"), "{}", missing.err);

    let updated = stage.run(&[&known[..], &["--update-baseline"]].concat());
    assert_eq!(updated.status, 0, "{}{}", updated.out, updated.err);
    let written: serde_json::Value = serde_json::from_str(&stage.read("known.json")).unwrap();
    let expected = serde_json::json!({ "baseline": 1, "expected_failures": { "s.yaml": ["bad"] } });
    assert_eq!(written, expected);

    let (status, report) = stage.json(&known);
    assert_eq!(status, 0, "{report:#}");
    assert_eq!(report["summary"]["known_failures"], 1);
    assert_eq!(report["summary"]["failed"], 0);
    let junit = stage.run(&[&known[..], &["--reporter", "junit"]].concat());
    assert!(junit.out.contains("skipped=\"1\""), "{}", junit.out);

    // A fixed test must pass; nothing else may fail.
    stage.write("s.yaml", &suite("hello"));
    let outdated = stage.run(&known);
    assert_eq!(outdated.status, 1, "{}", outdated.out);
    assert!(outdated.out.contains("now passes"), "{}", outdated.out);
    let mended = stage.run(&[&known[..], &["--update-baseline"]].concat());
    assert_eq!(mended.status, 0, "{}", mended.out);
    assert_eq!(stage.run(&known).status, 0);

    stage.write("known.json", "{\"baseline\": 2}");
    let newer = stage.run(&known);
    assert_eq!(newer.status, 2);
    assert!(newer.err.contains("version 2"), "{}", newer.err);
}
