//! Rows of the reference that concern a whole run, by their numbers there. Those about matchers and
//! targets, 1 to 42, 57, 62 to 64 and 68, are in the package `assertions`; 43, 44 and 55 in
//! `control`, 47 and 67 in `failing`, 60 in `reach`.

use crate::suite::stage::{CommandOutput, Stage, said, verdicts, with_peer};

/// The statuses of a suite with the peer, and the exit status.
fn run(rest: &str) -> (i32, Vec<String>) {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(rest));
    let (status, report) = stage.json(&["suite.yaml"]);
    let statuses = verdicts(&report).into_iter().map(|(_, status)| status);
    (status, statuses.collect())
}

/// The error of a suite that cannot run.
fn refused(suite: &str) -> String {
    let stage = Stage::new();
    stage.write("suite.yaml", suite);
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 2, "{}", said.out);
    assert!(said.out.is_empty(), "{}", said.out);
    said.err
}

#[test]
fn row_13_a_pattern_nobody_reaches_stops_the_run() {
    let rest = "tools:\n  - { name: a, server: peer, tool: echo }\n  - name: b\n    server: peer\n    tool: echo\n    expect: [{ target: result, matcher: { regex: \"(\" } }]\n";
    assert!(refused(&with_peer(rest)).contains("regular expression"));
}

#[test]
fn row_14_dollars_are_collapsed_before_a_pattern_is_read() {
    let rest = "tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: { message: foo }\n    expect: [{ target: \"result.content[0].text\", matcher: { regex: \"^foo$$\" } }]\n";
    assert_eq!(run(rest), (0, vec!["pass".to_owned()]));
}

#[test]
fn row_45_a_failed_tool_is_an_answer() {
    assert_eq!(
        run("tools:\n  - { name: a, server: peer, tool: fail }\n").0,
        0
    );
}

#[test]
fn row_46_tests_of_one_name_run_as_written() {
    let rest = "tools:\n  - name: same\n    server: peer\n    tool: echo\n    args: { message: one }\n    expect: [{ target: \"result.content[0].text\", matcher: { exact: one } }]\n  - name: same\n    server: peer\n    tool: echo\n    args: { message: two }\n    expect: [{ target: \"result.content[0].text\", matcher: { exact: two } }]\n";
    assert_eq!(run(rest), (0, vec!["pass".to_owned(), "pass".to_owned()]));
}

#[test]
fn row_48_an_unset_variable_stops_the_run() {
    let rest = "tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: { message: \"${ZZZ_NOT_SET}\" }\n";
    assert!(refused(&with_peer(rest)).contains("ZZZ_NOT_SET"));
}

#[test]
fn rows_49_and_51_variables_arrive_as_written() {
    let rest = "variables:\n  name: { value: abc }\ntools:\n  - name: a\n    server: peer\n    tool: echo\n    args: { message: \"$name ${name} $${name} price $$5 $5\" }\n    expect: [{ target: \"result.content[0].text\", matcher: { exact: \"abc abc $${name} price $$5 $5\" } }]\n";
    assert_eq!(run(rest).0, 0);
}

#[test]
fn row_56_the_long_form_of_a_snapshot_works() {
    let rest = "tools:\n  - name: a\n    server: peer\n    tool: echo\n    expect: [{ target: result, matcher: { snapshot: { name: x, update: false } } }]\n";
    assert_eq!(run(rest).0, 0);
}

#[test]
fn row_59_a_cassette_and_a_url_exclude_each_other() {
    let suite = "servers:\n  a: { cassette: x.json, url: http://localhost }\ntools: []\n";
    assert!(refused(suite).contains("cassette"));
}

#[test]
fn row_61_the_budget_of_latency_is_advisory() {
    let stage = Stage::new();
    let rest = "performance: { p95_latency_ms: 1 }\ntools:\n  - { name: a, server: peer, tool: wait, args: { ms: 50 } }\n";
    stage.write("suite.yaml", &with_peer(rest));
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    assert!(
        report["suites"][0]["notes"]
            .to_string()
            .contains("advisory")
    );
}

#[test]
fn row_65_headers_of_a_command_fail_the_test() {
    let rest = "tools:\n  - name: a\n    server: peer\n    tool: echo\n    expect: { response_headers: { content-type: x } }\n";
    assert_eq!(run(rest), (1, vec!["fail".to_owned()]));
}

#[test]
fn row_66_tests_of_one_server_run_in_order() {
    let mut rest = String::from("tools:\n");
    for step in 0..30 {
        let what = match step % 3 {
            0 => "{ do: write, id: a, text: t }",
            1 => "{ do: read, id: a }",
            _ => "{ do: forget, id: a }",
        };
        let wanted = ["written", "t", "forgotten"][step % 3];
        let test = format!(
            "  - name: step {step}\n    server: peer\n    tool: note\n    args: {what}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ exact: {wanted} }} }}]\n"
        );
        rest.push_str(&test);
    }
    let (status, statuses) = run(&rest);
    assert_eq!((status, statuses.len()), (0, 30), "{statuses:?}");
}

/// A suite whose one test echoes a text and expects another one.
fn echoes(rest: &str, text: &str, expected: &str) -> String {
    with_peer(&format!(
        "{rest}tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: {{ message: \"{text}\" }}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ exact: \"{expected}\" }} }}]\n"
    ))
}

#[test]
fn row_50_a_variable_that_is_empty_is_set() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &echoes("", "[${E:-fb}] [${ZZZ_NOT_SET:-fb}]", "[] [fb]"),
    );
    let mut command = stage.command();
    let CommandOutput { status, out, .. } = said(command.args(["run", "suite.yaml"]).env("E", ""));
    assert_eq!(status, 0, "{out}");
}

#[test]
fn rows_52_and_53_the_environment_is_above_files_and_the_suite() {
    let stage = Stage::new();
    let variables =
        "variables:\n  name: { value: abc }\n  K: { from_env: NOWHERE_SET, default: d }\n";
    let suite = echoes(variables, "${name} ${K} ${OTHER}", "outer process file");
    stage.write("suite.yaml", &suite);
    stage.write("more.env", "K=file\nOTHER=file\n");
    let mut command = stage.command();
    command.args(["run", "suite.yaml", "--env-file", "more.env"]);
    let CommandOutput { status, out, .. } = said(command.env("name", "outer").env("K", "process"));
    assert_eq!(status, 0, "{out}");
    // Options of this one run take precedence over everything.
    let mut command = stage.command();
    command.args([
        "run",
        "suite.yaml",
        "--env-file",
        "more.env",
        "--var",
        "OTHER=file",
    ]);
    command.args(["--var", "name=outer", "--var", "K=process"]);
    let CommandOutput { status, out, .. } = said(command.env("name", "lost"));
    assert_eq!(status, 0, "{out}");
}

#[test]
fn row_54_variables_stand_beside_the_suite_wherever_it_is_run_from() {
    let stage = Stage::new();
    stage.write("deep/suite.yaml", &echoes("", "${BESIDE}", "yes"));
    stage.write("deep/.env", "BESIDE=yes\n");
    stage.write(".env", "BESIDE=no\n");
    let said = stage.run(&["deep/suite.yaml"]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let said = stage.run(&["deep/suite.yaml", "--no-env-file"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("BESIDE"), "{}", said.err);
}

#[test]
fn row_58_what_is_imported_is_used_in_a_run() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &echoes("imports: [shared.yaml]\n", "${who}", "them"),
    );
    stage.write("shared.yaml", "variables: { who: { value: them } }\n");
    assert_eq!(stage.run(&["suite.yaml"]).status, 0);
}
