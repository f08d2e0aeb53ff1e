//! Tests that would pass in silence: typos in targets, failed tools, calls that never happened.

use serde_json::Value;

use crate::suite::stage::{Stage, verdicts, with_peer};

/// The tests of a report.
fn tests(report: &Value) -> &[Value] {
    report["suites"][0]["tests"].as_array().expect("tests")
}

#[test]
fn a_failed_tool_is_quoted_or_warned_about() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &with_peer(
            r#"tools:
  - { name: unchecked, server: peer, tool: fail }
  - name: elsewhere
    server: peer
    tool: fail
    expect: [{ target: result.structuredContent.sum, matcher: { exact: 3 } }]
  - name: checked
    server: peer
    tool: fail
    expect: [{ target: result.isError, matcher: { not: { exact: true } } }]
  - name: shown
    server: peer
    tool: fail
    expect: [{ target: "result.content[0].text", matcher: { exact: fine } }]
"#,
        ),
    );
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let all = tests(&report);
    assert_eq!(all[0]["status"], "pass");
    let warning = all[0]["warnings"][0].to_string();
    assert!(
        warning.contains("no assertion: it went wrong"),
        "{report:#}"
    );
    for test in &all[1..3] {
        assert_eq!(test["status"], "fail", "{test:#}");
        assert_eq!(
            test["failures"][0]["tool_error"], "it went wrong",
            "{test:#}"
        );
    }
    assert_eq!(all[3]["failures"][0]["tool_error"], Value::Null);
    let said = stage.run(&["suite.yaml"]);
    let words = "the tool says that it failed: it went wrong";
    assert_eq!(said.out.matches(words).count(), 2, "{}", said.out);
}

#[test]
fn what_a_tool_says_is_reported_without_secrets() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &with_peer(
            r#"tools:
  - name: secret
    server: peer
    tool: answer
    args: { result: { isError: true, content: [{ type: text, text: "no: Bearer abcdefghijklmnopqrstuvwxyz0123456789" }] } }
    expect: [{ target: result.structuredContent.sum, matcher: { exact: 3 } }]
"#,
        ),
    );
    let (_, report) = stage.json(&["suite.yaml"]);
    let said = tests(&report)[0]["failures"][0]["tool_error"].to_string();
    assert!(
        said.contains("no: ") && !said.contains("abcdefghij"),
        "{said}"
    );
}

#[test]
fn not_at_a_target_where_nothing_is_has_a_warning() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &with_peer(
            r#"tools:
  - name: typo
    server: peer
    tool: echo
    args: { message: secret }
    expect: [{ target: "result.contnt[0].text", matcher: { not: { contains: secret } } }]
  - name: nested
    server: peer
    tool: echo
    expect: [{ target: "result.content[7]", matcher: { allOf: [{ not: { contains: secret } }] } }]
  - name: optional
    server: peer
    tool: answer
    args: { result: { content: [] } }
    expect: [{ target: result.isError, matcher: { not: { exact: true } } }]
"#,
        ),
    );
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let all = tests(&report);
    let warning = all[0]["warnings"][0].to_string();
    assert!(
        warning.contains("no member `contnt`") && warning.contains("only holds"),
        "{warning}"
    );
    assert!(all[1]["warnings"][0].to_string().contains("element 7"));
    assert!(
        all[2]["warnings"].as_array().is_none_or(Vec::is_empty),
        "{:#}",
        all[2]
    );
}

#[test]
fn a_composition_whose_output_was_never_called_fails() {
    let stage = Stage::new();
    let composition = |name: &str, expect: &str| {
        format!(
            "  - name: {name}\n    nodes:\n      - {{ id: search, tool: refuse }}\n      - {{ id: read, needs: [search], tool: echo }}\n    output: read\n{expect}"
        )
    };
    let watched = "    expect: [{ target: nodes.read.status, matcher: { exact: skipped } }]\n";
    let values = r#"  - name: inner
    nodes:
      - { id: sum, tool: add, args: { a: 1, b: 2 } }
      - { id: again, needs: [sum], tool: echo, args: { message: "${sum.sum} ${sum.content[0].text}" } }
    expect: [{ target: "output.content[0].text", matcher: { exact: "3 3" } }]
"#;
    let all = [
        composition("silent", ""),
        composition("watched", watched),
        values.to_owned(),
    ];
    stage.write(
        "suite.yaml",
        &with_peer(&format!("compositions:\n{}", all.concat())),
    );
    let (status, report) = stage.json(&["suite.yaml"]);
    let found: Vec<String> = verdicts(&report).into_iter().map(|(_, one)| one).collect();
    assert_eq!(
        (status, found),
        (1, ["fail", "pass", "pass"].map(str::to_owned).to_vec()),
        "{report:#}"
    );
    let note = tests(&report)[0]["failures"][0]["note"].to_string();
    assert!(
        note.contains("`read` has no answer: it needs `search`"),
        "{note}"
    );
}
