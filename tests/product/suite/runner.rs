//! The usual behaviour of a test runner: which tests run, how often, and what is reported about
//! them.

use serde_json::Value;

use crate::suite::stage::{CommandOutput, Stage, said, verdicts, with_peer};

/// Four tests of one server, the third of which fails.
const FOUR: &str = "tools:\n  - { name: one, server: peer, tool: echo, tags: [a] }\n  - { name: two, server: peer, tool: echo, args: { message: m } }\n  - { name: three, server: peer, tool: add, expect: [{ target: result.isError, matcher: { exact: 7 } }] }\ncompliance:\n  - { name: four, server: peer, check: tools/list }\n";

fn stage(rest: &str) -> Stage {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(rest));
    stage
}

fn names(report: &Value) -> Vec<String> {
    verdicts(report).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn what_would_run_is_listed_and_nothing_runs() {
    let stage = stage(FOUR);
    let listed = stage.run(&["suite.yaml", "--list", "--exclude", "two"]);
    assert_eq!(
        (listed.status, listed.out.as_str()),
        (
            0,
            "Suite suite.yaml\n  one  [tool]  #a\n  three  [tool]\n  four  [compliance]\n"
        )
    );
    let (status, report) = stage.json(&["suite.yaml", "--list", "--tag", "a"]);
    assert_eq!(status, 0);
    assert_eq!(report["suites"][0]["tests"][0]["name"], "one");
    assert_eq!(stage.run(&["suite.yaml", "--list", "--tag", "z"]).status, 3);
}

#[test]
fn the_parts_of_a_run_are_the_run() {
    let stage = stage(FOUR);
    let mut all = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let (_, report) = stage.json(&["suite.yaml", "--shard", shard]);
        all.extend(names(&report));
    }
    assert_eq!(all, ["one", "two", "three", "four"]);
    assert_eq!(stage.run(&["suite.yaml", "--shard", "4/3"]).status, 2);
}

#[test]
fn words_select_tests() {
    let stage = stage(FOUR);
    for (words, wanted) in [
        (&["tool:echo"][..], &["one", "two"][..]),
        (&["tool:echo", "tag:a"], &["one"]),
        (&["kind:compliance"], &["four"]),
        (&["server:peer", "re:^t"], &["two", "three"]),
    ] {
        let filters: Vec<&str> = words.iter().flat_map(|word| ["--filter", word]).collect();
        let (_, report) = stage.json(&[&["suite.yaml"], &filters[..]].concat());
        assert_eq!(names(&report), wanted, "{words:?}");
    }
    assert_eq!(stage.run(&["suite.yaml", "--filter", "kind:x"]).status, 2);
}

#[test]
fn no_test_at_all_may_be_allowed() {
    let stage = stage(FOUR);
    assert_eq!(stage.run(&["suite.yaml", "--tag", "z"]).status, 3);
    let words = ["suite.yaml", "--tag", "z", "--pass-with-no-tests"];
    assert_eq!(stage.run(&words).status, 0);
}

#[test]
fn a_test_that_passes_on_retry_is_flaky() {
    // The transform counts its runs: the second one has another result.
    let rest = "tools:\n  - name: flips\n    server: peer\n    tool: echo\n    transform: { response: ./flip.sh }\n    expect: [{ target: result.flip, matcher: { exact: 2 } }]\n";
    let stage = stage(rest);
    let script = stage.write(
        "flip.sh",
        "#!/bin/sh\ncat > /dev/null\necho x >> flips\nn=0\nfor line in $(cat flips); do n=$((n+1)); done\nprintf '{\"result\":{\"flip\":%s}}' $n\n",
    );
    crate::support::system::make_executable(&script);
    let (status, report) = stage.json(&["suite.yaml", "--retry", "2"]);
    assert_eq!(status, 0, "{report:#}");
    let test = &report["suites"][0]["tests"][0];
    assert_eq!((&test["flaky"], &test["asked"]), (&true.into(), &2.into()));
    assert_eq!(report["summary"]["flaky"], 1);
    assert!(
        test["warnings"][0]
            .as_str()
            .is_some_and(|one| one.starts_with("flaky"))
    );
    for (reporter, part) in [
        ("pretty", "1 passed, 1 of them flaky"),
        ("junit", "flakyFailure"),
        ("tap", "# flaky"),
        ("github", "::warning"),
        ("markdown", "(flaky)"),
    ] {
        std::fs::remove_file(stage.path("flips")).expect("a file");
        let said = stage.run(&["suite.yaml", "--retry", "2", "--reporter", reporter]);
        assert!(said.out.contains(part), "{reporter}: {}", said.out);
    }
    // The third time it is something else again.
    assert_eq!(stage.run(&["suite.yaml"]).status, 1);
}

#[test]
fn a_test_takes_part_as_the_suite_says() {
    let rest = "tools:\n  - { name: later, server: gone, tool: echo, skip: \"waits for #7\" }\n  - { name: thrice, server: peer, tool: echo, repeat: 3 }\n  - { name: skipped, server: peer, tool: echo, skip: true }\n  - { name: runs, server: peer, tool: echo, skip: false }\n";
    let stage = Stage::new();
    let suite = with_peer(rest).replace(
        "servers:\n",
        "servers:\n  gone: { command: [\"./gone\"] }\n",
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let statuses: Vec<_> = verdicts(&report).into_iter().map(|(_, one)| one).collect();
    assert_eq!(statuses, ["skip", "pass", "skip", "pass"]);
    let tests = &report["suites"][0]["tests"];
    assert_eq!(tests[0]["reasons"][0], "waits for #7");
    assert_eq!(tests[1]["asked"], 3);
    stage.write(
        "suite.yaml",
        &suite.replace("name: runs,", "name: runs, only: true,"),
    );
    let (_, report) = stage.json(&["suite.yaml"]);
    assert_eq!(names(&report), ["runs"]);
    assert!(
        stage
            .run(&["suite.yaml"])
            .err
            .contains("`only` skips 3 of 4 tests")
    );
}

#[test]
fn a_test_runs_once_for_each_row() {
    let test = |data: &str| {
        with_peer(&format!(
            "tools:\n  - name: \"adds ${{data.a}}\"\n    server: peer\n    tool: echo\n    args: {{ message: \"${{data.word}} and ${{data.a}}\" }}\n    data: {data}\n    expect: [{{ target: \"result.content[0].text\", matcher: {{ exact: \"${{data.want}}\" }} }}]\n  - {{ name: plain, server: peer, tool: echo, data: [{{ x: 1 }}, {{ x: 2 }}] }}\n"
        ))
    };
    let stage = Stage::new();
    stage.write(
        "rows.csv",
        "a,word,want\n1,\"x, y\",\"x, y and 1\"\n2.5,z,z and 2.5\n",
    );
    stage.write(
        "rows.json",
        r#"[{"a":1,"word":"w","want":"w and 1"},{"a":[2],"word":"v","want":"v and [2]"}]"#,
    );
    for (data, wanted) in [
        ("rows.csv", ["adds 1", "adds 2.5"]),
        ("./rows.json", ["adds 1", "adds [2]"]),
        (
            "[{ a: p, word: q, want: q and p }, { a: true, word: r, want: r and true }]",
            ["adds p", "adds true"],
        ),
    ] {
        stage.write("suite.yaml", &test(data));
        let (status, report) = stage.json(&["suite.yaml"]);
        assert_eq!(status, 0, "{report:#}");
        assert_eq!(names(&report)[..2], wanted);
        assert_eq!(names(&report)[2..], ["plain [1]", "plain [2]"]);
    }
    for (data, part) in [
        ("none.csv", "it does not exist"),
        ("rows.txt", "`.csv`"),
        ("[{ a: 1, word: x }]", "a row of `data` has no `want`"),
        ("[]", "is empty"),
    ] {
        stage.write("rows.txt", "");
        stage.write("suite.yaml", &test(data));
        let said = stage.run(&["suite.yaml"]);
        assert_eq!(said.status, 2, "{data}");
        assert!(said.err.contains(part), "{data}: {}", said.err);
    }
}

#[test]
fn a_suite_comes_from_standard_input_or_from_here() {
    let stage = stage(FOUR);
    let suite = std::fs::File::open(stage.path("suite.yaml")).expect("the suite");
    let mut command = stage.command();
    command.args(["run", "-", "--tag", "a"]).stdin(suite);
    let CommandOutput { status, out, err } = said(&mut command);
    assert_eq!(status, 0, "{out}{err}");
    let said = stage.run(&["--tag", "a"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("tapewright.yaml"), "{}", said.err);
    stage.write("mcptest.yaml", &stage.read("suite.yaml"));
    let said = stage.run(&["--tag", "a"]);
    assert!(said.out.starts_with("Suite mcptest.yaml"), "{}", said.out);
    stage.write("tapewright.yaml", &stage.read("suite.yaml"));
    let said = stage.run(&["--tag", "a"]);
    assert!(
        said.out.starts_with("Suite tapewright.yaml"),
        "{}",
        said.out
    );
}

#[test]
fn with_nothing_failed_the_last_failed_are_all() {
    let stage = stage("tools:\n  - { name: one, server: peer, tool: echo }\n");
    for _ in 0..2 {
        let (status, report) = stage.json(&["suite.yaml", "--last-failed"]);
        assert_eq!((status, names(&report)), (0, vec!["one".to_owned()]));
    }
}

#[test]
fn the_report_goes_into_a_file_and_each_has_its_own() {
    let stage = stage(FOUR);
    let words = [
        "suite.yaml",
        "--tag",
        "a",
        "-o",
        "report.json",
        "--reporter",
        "json",
    ];
    let said = stage.run(&words);
    assert_eq!((said.status, said.out.as_str()), (0, ""));
    assert!(stage.read("report.json").contains("\"report\": \"1\""));
    let twice = ["suite.yaml", "--reporter", "junit=f", "--reporter", "tap=f"];
    let said = stage.run(&twice);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("two reports with the same file"),
        "{}",
        said.err
    );
}

#[test]
fn the_time_of_the_command_line_is_that_of_tests_without_one() {
    let rest = "performance: { default_timeout_ms: 30000 }\ntools:\n  - { name: slow, server: peer, tool: wait, args: { ms: 60000 } }\n";
    let stage = stage(rest);
    let (status, report) = stage.json(&["suite.yaml", "--timeout", "3s"]);
    assert_eq!(status, 1);
    let note = &report["suites"][0]["tests"][0]["failures"][0]["note"];
    assert_eq!(note, "no answer within 3000 ms");
}

#[test]
fn options_about_servers_stand_on_either_side_of_the_command() {
    let stage = Stage::new();
    let server = "servers:\n  peer: { command: [\"./gone\"] }\n";
    stage.write("suite.yaml", &format!("{server}{FOUR}"));
    let server = format!("'{}' suite", crate::support::peer().display());
    let option = ["--server-command", server.as_str()];
    let run = ["run", "suite.yaml", "--tag", "a"];
    for words in [[&option[..], &run].concat(), [&run[..], &option].concat()] {
        let CommandOutput { status, out, err } = said(stage.command().args(&words));
        assert_eq!(status, 0, "{words:?}: {out}{err}");
        assert!(err.contains("--server-command"), "{err}");
    }
    let both = [&["--server-url", "http://localhost:1/"][..], &run, &option].concat();
    assert_eq!(said(stage.command().args(both)).status, 2);
    let other = [&option[..], &["schema"]].concat();
    let CommandOutput { status, err, .. } = said(stage.command().args(other));
    assert_eq!(status, 2);
    assert!(err.contains("only works with `run`"), "{err}");
}

#[test]
fn an_injected_error_is_judged_by_whatever_matcher_there_is() {
    let injected = "fixtures:\n  errors: [{ name: busy, code: -32000, message: try later, applies_to: any }]\n";
    let test = |expect: &str| {
        with_peer(&format!(
            "{injected}tools:\n  - name: a\n    server: peer\n    tool: echo\n    inject_error: busy\n    expect: [{expect}]\n"
        ))
    };
    let stage = Stage::new();
    for (expect, wanted) in [
        (
            "{ target: \"\", matcher: { exact: { result: { jsonrpc: \"2.0\", error: { code: -32000, message: try later } } } } }",
            0,
        ),
        (
            "{ target: result, matcher: { cel: \"value.error.code == -32000\" } }",
            0,
        ),
        (
            "{ target: result, matcher: { cel: \"value.error.code == 1\" } }",
            1,
        ),
        (
            "{ target: result.error.message, matcher: { icontains: LATER } }",
            0,
        ),
        ("{ target: result.isError, matcher: { exact: true } }", 1),
    ] {
        stage.write("suite.yaml", &test(expect));
        let (status, report) = stage.json(&["suite.yaml"]);
        assert_eq!(status, wanted, "{expect}: {report:#}");
    }
    stage.write(
        "suite.yaml",
        &test("{ target: result.isError, matcher: { exact: true } }"),
    );
    let said = said(stage.command().args(["validate", "suite.yaml"]));
    assert_eq!(said.status, 0);
    assert!(
        said.out.contains("look at `result.error.code`"),
        "{}",
        said.out
    );
}
