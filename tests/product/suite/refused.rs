//! What a run refuses, rather than to pass or fail without a reason.

use crate::suite::stage::{Stage, said, with_peer};

#[test]
fn two_suites_do_not_record_a_server_to_the_same_cassette() {
    let stage = Stage::new();
    let tools = |tool: &str| {
        with_peer(&format!(
            "tools:\n  - {{ name: one, server: peer, tool: {tool} }}\n"
        ))
    };
    stage.write("a.yaml", &tools("echo"));
    stage.write("b.yaml", &tools("add"));
    stage.write("other/b.yaml", &tools("add"));
    for record in ["--record", "--record=together"] {
        let refused = stage.run(&["a.yaml", "b.yaml", record]);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(
            refused
                .err
                .contains("the server `peer` to the same cassette"),
            "{}",
            refused.err
        );
    }
    let apart = stage.run(&["a.yaml", "other/b.yaml", "--record"]);
    assert_eq!(apart.status, 0, "{}{}", apart.out, apart.err);
    for name in ["cassettes/peer.json", "other/cassettes/peer.json"] {
        assert!(stage.path(name).exists(), "{name}");
    }
}

#[test]
fn a_transform_that_cannot_be_started_is_an_error_in_the_suite() {
    let stage = Stage::new();
    for place in [
        "transform: { response: no-such-program-here }",
        "transform: { request: no-such-program-here }",
        "expect: [{ target: result, transform: no-such-program-here, matcher: { exact: 1 } }]",
    ] {
        let suite = format!("tools:\n  - name: a\n    server: peer\n    tool: echo\n    {place}\n");
        stage.write("suite.yaml", &with_peer(&suite));
        let run = stage.run(&["suite.yaml"]);
        assert_eq!(run.status, 2, "{place}: {}", run.out);
        assert!(run.out.contains("no-such-program-here"), "{}", run.out);
    }
}

#[test]
fn an_unknown_variable_of_an_expression_is_found_by_validate() {
    let stage = Stage::new();
    for (expression, is_valid) in [
        ("vlaue.size() > 0", false),
        ("value.content.all(one, two.type == 'text')", false),
        ("value.content.all(one, one.type == 'text')", true),
        (
            "value.content.map(one, one.text).exists(one, one == 'a')",
            true,
        ),
        ("has(value.isError) && {'a': value}['a'] == value", true),
    ] {
        let suite = format!(
            "tools:\n  - name: a\n    server: peer\n    tool: echo\n    expect: [{{ target: result, matcher: {{ cel: \"{expression}\" }} }}]\n"
        );
        stage.write("suite.yaml", &with_peer(&suite));
        let checked = said(stage.command().args(["validate", "suite.yaml"]));
        let expected = if is_valid { 0 } else { 2 };
        assert_eq!(checked.status, expected, "{expression}: {}", checked.out);
        let told =
            checked.out.contains("unknown variable") || checked.err.contains("unknown variable");
        assert_eq!(
            told, !is_valid,
            "{expression}: {}{}",
            checked.out, checked.err
        );
    }
}

#[test]
fn no_missing_snapshot_is_written_in_ci() {
    let stage = Stage::new();
    let suite = "tools:\n  - name: a\n    server: peer\n    tool: echo\n    expect: [{ target: result, matcher: { snapshot: one } }]\n";
    stage.write("suite.yaml", &with_peer(suite));
    let run = |words: &[&str]| {
        let mut command = stage.command();
        said(
            command
                .args(["run", "suite.yaml"])
                .args(words)
                .env("CI", "true"),
        )
    };
    let refused = run(&[]);
    assert_eq!(refused.status, 1, "{}", refused.out);
    assert!(refused.out.contains("no snapshot at"), "{}", refused.out);
    assert!(!stage.path("snapshots").exists());
    assert_eq!(run(&["-u", "--allow-update-in-ci"]).status, 0);
    assert_eq!(run(&[]).status, 0);
}

#[test]
fn an_unknown_capability_is_refused_with_the_known_ones() {
    let stage = Stage::new();
    let words = ["compliance", "run", "--capabilities", "tool", "--", "true"];
    let refused = said(stage.command().args(words));
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(
        refused.err.contains("unknown capability `tool`") && refused.err.contains("tools"),
        "{}",
        refused.err
    );
}
