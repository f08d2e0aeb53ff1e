//! Which tests run, when a run stops, and what it leaves behind.

use crate::suite::stage::{Stage, verdicts, with_peer};
use crate::support::native;

const TOOLS: &str = r"tools:
  - { name: one, server: peer, tool: echo, tags: [smoke] }
  - { name: two, server: peer, tool: refuse, tags: [smoke, slow] }
  - { name: three, server: peer, tool: echo, tags: [other] }
compliance:
  - { name: ping, server: peer, check: ping }
";

fn names(stage: &Stage, words: &[&str]) -> Vec<String> {
    let (_, report) = stage.json(&[&["suite.yaml"], words].concat());
    verdicts(&report)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn tests_are_selected_by_tags_and_names() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    for (words, expected) in [
        (&["--tag", "smoke"][..], &["one", "two"][..]),
        (
            &["--tag", "smoke", "--tag", "other"],
            &["one", "two", "three"],
        ),
        (&["--tag", "smoke", "--skip-tag", "slow"], &["one"]),
        (&["--skip-tag", "smoke"], &["three", "ping"]),
        (&["--include", "t"], &["two", "three"]),
        (&["--include", "re:^t.o$"], &["two"]),
        (&["--include", "t", "--exclude", "w"], &["three"]),
    ] {
        assert_eq!(names(&stage, words), expected, "{words:?}");
    }
    let said = stage.run(&["suite.yaml", "--tag", "nothing"]);
    assert_eq!(said.status, 3, "{}", said.out);
    assert!(said.err.contains("no test is selected"), "{}", said.err);
    let said = stage.run(&["suite.yaml", "--include", "re:("]);
    assert_eq!(said.status, 2, "{}", said.err);
}

#[test]
fn what_failed_last_can_run_again_alone() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    let said = stage.run(&["suite.yaml", "--last-failed", "--reporter", "tap"]);
    assert!(said.err.contains("no failed tests known"), "{}", said.err);
    assert_eq!(said.status, 1);
    assert_eq!(names(&stage, &["--last-failed"]), ["two"]);
    // Tests that did not run are remembered: a run of others does not clear them.
    assert_eq!(names(&stage, &["--include", "one"]), ["one"]);
    assert_eq!(names(&stage, &["--last-failed"]), ["two"]);
    stage.write("suite.yaml", &with_peer(&TOOLS.replace("refuse", "echo")));
    assert_eq!(names(&stage, &["--last-failed"]), ["two"]);
    let said = stage.run(&["suite.yaml", "--last-failed"]);
    assert_eq!(said.status, 0, "{}", said.out);
    assert!(said.err.contains("running all"), "{}", said.err);
}

#[test]
fn a_run_stops_at_the_first_failure_when_asked() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    let (status, report) = stage.json(&["suite.yaml", "--bail"]);
    assert_eq!(status, 1);
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, ["pass", "fail", "skip", "skip"]);
}

#[test]
fn snapshots_are_recorded_compared_and_refreshed() {
    let stage = Stage::new();
    let suite = |text: &str| {
        with_peer(&format!(
            "tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: {{ message: \"{text}\" }}\n    expect:\n      - {{ target: result.content, matcher: {{ snapshot: tools/echo }} }}\n"
        ))
    };
    stage.write("suite.yaml", &suite("first"));
    assert_eq!(stage.run(&["suite.yaml"]).status, 0);
    let file = "snapshots/tools/echo.json";
    assert!(
        stage.read(file).contains("\"text\": \"first\""),
        "{}",
        stage.read(file)
    );
    assert_eq!(stage.run(&["suite.yaml"]).status, 0);
    stage.write("suite.yaml", &suite("second"));
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 1);
    assert!(
        said.out.contains(&native(
            "snapshot at snapshots/tools/echo.json did not match"
        )),
        "{}",
        said.out
    );
    let refused = crate::suite::stage::said(
        stage
            .command()
            .args(["run", "suite.yaml", "-u"])
            .env("CI", "true"),
    );
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(stage.read(file).contains("first"));
    let allowed = crate::suite::stage::said(
        stage
            .command()
            .args(["run", "suite.yaml", "-u", "--allow-update-in-ci"])
            .env("CI", "true"),
    );
    assert_eq!(allowed.status, 0, "{}", allowed.err);
    assert!(stage.read(file).contains("second"));
    stage.write(file, "{");
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(
        said.status, 2,
        "a snapshot that cannot be read decides nothing: {}",
        said.out
    );
}

#[test]
fn transforms_stand_where_they_should() {
    let stage = Stage::new();
    stage.write(
        "swap.sh",
        r#"text=$(cat)
case "$text" in *"$1"*) text=${text%%$1*}$2${text#*$1};; esac
printf '%s\n' "$text"
"#,
    );
    let suite = with_peer(
        r#"defaultTest:
  transform:
    response: sh swap.sh quiet loud
tools:
  - name: response
    server: peer
    tool: echo
    args: { message: quiet }
    expect:
      - { target: "result.content[0].text", matcher: { exact: loud } }
  - name: request
    server: peer
    tool: echo
    args: { message: before }
    transform: { request: sh swap.sh before after }
    expect:
      - { target: "result.content[0].text", matcher: { exact: after } }
  - name: assertion
    server: peer
    tool: echo
    args: { message: a }
    expect:
      - { target: "result.content[0].text", transform: sh swap.sh a b, matcher: { exact: b } }
  - name: it knows its test
    server: peer
    tool: echo
    transform: { response: "sh -c 'echo \"{\\\"result\\\":\\\"$$MCPTEST_TRANSFORM_PHASE $$MCPTEST_TEST_NAME $$MCPTEST_SERVER $$MCPTEST_TOOL\\\"}\"'" }
    expect:
      - { target: result, matcher: { exact: response it knows its test peer echo } }
  - name: it fails
    server: peer
    tool: echo
    transform: { response: "sh -c 'echo broken >&2; exit 3'" }
  - name: no JSON
    server: peer
    tool: echo
    transform: { response: "echo not json" }
"#,
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(
        statuses,
        ["pass", "pass", "pass", "pass", "fail", "fail"],
        "{report:#}"
    );
    let note = |test: usize| report["suites"][0]["tests"][test]["failures"][0]["note"].to_string();
    assert!(note(4).contains("status 3: broken"), "{}", note(4));
    assert!(note(5).contains("one JSON value"), "{}", note(5));
}

#[test]
fn compositions_run_in_order_and_hand_on_what_they_got() {
    let stage = Stage::new();
    let suite = with_peer(
        r#"compositions:
  - name: sums
    nodes:
      - { id: total, needs: [first, second], tool: add, args: { a: "${first.structuredContent.sum}", b: "${second.structuredContent.sum}" } }
      - { id: first, tool: add, args: { a: 1, b: 2 } }
      - { id: second, tool: add, args: { a: 3, b: 4 } }
      - { id: told, needs: [total], tool: echo, args: { message: "it is ${total.structuredContent.sum}" } }
      - { id: broken, needs: [total], tool: refuse }
      - { id: idle, needs: [broken], tool: echo }
    output: told
    expect:
      - { target: composition.ran, matcher: { exact: true } }
      - { target: composition.order, matcher: { exact: [first, second, total, told, broken] } }
      - { target: nodes.total.output.structuredContent.sum, matcher: { exact: 10 } }
      - { target: nodes.told.status, matcher: { exact: ok } }
      - { target: nodes.broken.status, matcher: { exact: err } }
      - { target: nodes.idle.status, matcher: { exact: skipped } }
      - { target: nodes.first.duration_ms, matcher: { schema: { type: integer, minimum: 0 } } }
      - { target: "output.content[0].text", matcher: { exact: it is 10 } }
"#,
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
}

#[test]
fn a_suite_runs_once_for_each_revision() {
    let stage = Stage::new();
    let rest = "target_versions: [\"2025-03-26\", \"2025-06-18\"]\ncompliance:\n  - name: speaks\n    server: peer\n    check: initialize\n    expect:\n      - { target: result.protocolVersion, matcher: { regex: \"^2025-0[36]\" } }\n";
    stage.write("suite.yaml", &with_peer(rest));
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let revisions: Vec<_> = tests.iter().map(|test| test["revision"].as_str()).collect();
    assert_eq!(revisions, [Some("2025-03-26"), Some("2025-06-18")]);
    let (status, report) = stage.json(&["suite.yaml", "--target-version", "2025-06-18"]);
    assert_eq!((status, verdicts(&report).len()), (0, 1));
    // A suite without servers runs against the given one.
    let unlisted = rest.split_once('\n').expect("lines").1;
    stage.write("unlisted.yaml", &with_peer(unlisted));
    let (_, report) = stage.json(&["unlisted.yaml", "--target-version", "2024-11-05"]);
    let test = &report["suites"][0]["tests"][0];
    assert_eq!(test["failures"][0]["actual"], "2024-11-05", "{test:#}");
    for (version, part) in [
        ("1999-01-01", "unknown revision"),
        ("2025-11-25", "is not in the suite's"),
    ] {
        let said = stage.run(&["suite.yaml", "--target-version", version]);
        assert_eq!(said.status, 2);
        assert!(said.err.contains(part), "{}", said.err);
    }
}

#[test]
fn the_command_line_names_another_server() {
    let stage = Stage::new();
    let suite = "servers:\n  peer:\n    url: http://127.0.0.1:1/mcp\ntools:\n  - { name: a, server: peer, tool: echo }\n";
    stage.write("suite.yaml", suite);
    let peer = crate::support::peer().display().to_string();
    let said = stage.run(&["suite.yaml", "--server-command", &format!("'{peer}' suite")]);
    assert_eq!(said.status, 0, "{}", said.err);
    assert!(
        said.err.contains("servers changed by --server-command"),
        "{}",
        said.err
    );
    stage.write(
        "server.yaml",
        &format!("server:\n  command: ['{peer}', suite]\n"),
    );
    let said = stage.run(&["suite.yaml", "--server-config", "server.yaml"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let two = suite.replace("tools:", "  other:\n    command: [\"false\"]\ntools:");
    stage.write("two.yaml", &two);
    let said = stage.run(&["two.yaml", "--server-command", "x"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("`peer`, `other`"), "{}", said.err);
    for words in [
        &["--header", "Authorization=x"][..],
        &["--header", "no value"],
        &["--server-url", "http://a", "--server-command", "b"],
    ] {
        let said = stage.run(&[&["suite.yaml"], words].concat());
        assert_eq!(said.status, 2, "{words:?}");
    }
}

#[test]
fn nothing_is_connected_for_an_injected_error() {
    let stage = Stage::new();
    let suite = "servers:\n  gone:\n    command: [\"./no-such-program\"]\nfixtures:\n  errors:\n    - { name: limited, code: -32000, message: slow down, applies_to: any }\ntools:\n  - name: a\n    server: gone\n    tool: t\n    inject_error: limited\n    expect:\n      - { target: result.error.code, matcher: { exact: -32000 } }\n  - name: the example of the document\n    server: gone\n    tool: t\n    inject_error: limited\n    expect:\n      - { target: result.isError, matcher: { exact: true } }\n";
    stage.write("suite.yaml", suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, ["pass", "fail"]);
}

#[test]
fn what_needs_a_model_is_skipped_and_said() {
    let stage = Stage::new();
    let rest = "tools:\n  - { name: a, server: peer, tool: echo }\nevals:\n  - { name: e, server: peer, prompt: p, rubric: r }\nagents:\n  - { name: g, model: claude-x, servers: [peer], prompt: p }\n";
    stage.write("suite.yaml", &with_peer(rest));
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let rows: Vec<_> = tests
        .iter()
        .map(|test| [&test["name"], &test["kind"], &test["status"]].map(|one| one.as_str()))
        .collect();
    let row = |words: [&'static str; 3]| words.map(Some);
    assert_eq!(
        rows,
        [
            row(["a", "tool", "pass"]),
            row(["g", "agent", "skip"]),
            row(["e", "eval", "skip"]),
        ]
    );
    assert_eq!(
        tests[1]["reasons"][0],
        "[STUB] ANTHROPIC_API_KEY is not set: no model was asked, and nothing is judged"
    );
    assert_eq!(report["summary"]["skipped"], 2, "{report:#}");
    let (_, report) = stage.json(&["suite.yaml", "--filter", "kind:agent"]);
    assert_eq!(verdicts(&report).len(), 1);
    let declared = "tools:\n  - { name: a, server: peer, tool: echo }\nrubrics: { r: { criteria: [{ name: n, description: d }] } }\nscorers:\n  - { name: s, type: exec, command: [x] }\nfaults:\n  - { name: f, target: { tool: t }, kind: hang }\nproviders: { p: { type: openai, base_url: \"http://localhost\" } }\nbudget: { per_test_usd_cents: 1 }\n";
    stage.write("declared.yaml", &with_peer(declared));
    let (status, report) = stage.json(&["declared.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let skipped = report["suites"][0]["skipped"].to_string();
    for what in [
        "1 rubric:",
        "1 scorer:",
        "1 fault:",
        "1 provider:",
        "1 budget:",
    ] {
        assert!(skipped.contains(what), "{what} {skipped}");
    }
    stage.write(
        "only.yaml",
        &with_peer("evals:\n  - { name: e, server: peer, prompt: p, rubric: r }\n"),
    );
    assert_eq!(stage.run(&["only.yaml"]).status, 3);
}
