//! The reports, and the schema of the one for programs.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use serde_json::Value;

use crate::suite::stage::{Stage, with_peer};

const TOOLS: &str = r#"tools:
  - name: "passes | well"
    server: peer
    tool: echo
  - name: "fails # here"
    server: peer
    tool: echo
    args: { message: "<b>\u001b[31m" }
    expect:
      - target: result.content[0].text
        matcher: { exact: "other" }
      - target: result.nowhere
        matcher: { exact: 1 }
  - name: cannot be judged
    server: peer
    tool: add
    expect:
      - target: result.structuredContent.sum
        matcher: { starts-with: "4" }
evals:
  - { name: e, server: peer, prompt: p, rubric: r }
"#;

#[test]
fn the_schema_describes_the_report() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    let (_, live) = stage.json(&["suite.yaml", "--record=rec"]);
    let (_, scored) = stage.json(&["suite.yaml", "--capture", "rec/peer.json"]);
    let schema = include_str!("../../../schemas/json/report.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    for report in [&live, &scored] {
        let errors: Vec<String> = validator
            .iter_errors(report)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    // It is closed: an undocumented member is an error.
    let mut odd = live.clone();
    odd["suites"][0]["tests"][0]["colour"] = "red".into();
    assert!(!validator.is_valid(&odd));
}

#[test]
fn junit_and_tap_are_what_their_readers_expect() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    let words = [
        "suite.yaml",
        "--reporter",
        "tap",
        "--reporter",
        "junit=out.xml",
    ];
    let said = stage.run(&words);
    let xml = Report::deserialize_from_str(&stage.read("out.xml")).expect("JUnit");
    assert_eq!((xml.tests, xml.failures, xml.errors), (4, 1, 1));
    let cases = &xml.test_suites[0].test_cases;
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(
        names,
        ["passes | well", "fails # here", "cannot be judged", "e"]
    );
    let kind = |case: &TestCase| match &case.status {
        TestCaseStatus::NonSuccess { kind, .. } => Some(*kind),
        _ => None,
    };
    let kinds: Vec<_> = cases.iter().map(kind).collect();
    let (failure, error) = (NonSuccessKind::Failure, NonSuccessKind::Error);
    assert_eq!(kinds, [None, Some(failure), Some(error), None]);
    tap(&said.out);
}

/// Reads TAP 14 line by line: a version, a plan, numbered points, blocks of YAML below them,
/// and remarks.
fn tap(text: &str) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let plan = lines.next().and_then(|line| line.strip_prefix("1.."));
    let count: usize = plan.and_then(|count| count.parse().ok()).expect("a plan");
    let (mut points, mut block) = (0, false);
    for line in lines {
        match line {
            "  ---" if !block && points > 0 => block = true,
            "  ..." if block => block = false,
            _ if block => assert!(line.starts_with("  "), "{line}"),
            _ if line.starts_with("# ") => {}
            _ => {
                points += 1;
                let rest = line.strip_prefix("not ").unwrap_or(line);
                assert!(rest.starts_with(&format!("ok {points} - ")), "{line}");
            }
        }
    }
    assert_eq!((points, block), (count, false), "{text}");
}

#[test]
fn several_reports_come_from_one_run() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    let words = [
        "suite.yaml",
        "--reporter",
        "tap",
        "--reporter",
        "junit=out.xml",
        "--reporter",
        "md=out.md",
        "--reporter",
        "json=out.json",
        "--reporter",
        "github=out.txt",
    ];
    let said = stage.run(&words);
    assert_eq!(said.status, 2);
    assert!(
        said.out
            .starts_with("TAP version 14\n1..4\nok 1 - passes | well\nnot ok 2 - fails \\# here\n"),
        "{}",
        said.out
    );
    assert!(said.out.contains("  severity: fail"), "{}", said.out);
    let junit = stage.read("out.xml");
    assert!(
        junit.contains("tests=\"4\"")
            && junit.contains("failures=\"1\"")
            && junit.contains("errors=\"1\""),
        "{junit}"
    );
    assert!(junit.contains("&lt;b&gt;"), "{junit}");
    let markdown = stage.read("out.md");
    assert!(markdown.contains("| fail | fails \\# here |"), "{markdown}");
    let github = stage.read("out.txt");
    assert!(
        github.contains(
            "::error file=suite.yaml,line=14,col=18,endColumn=36,title=fails # here::exact on"
        ),
        "{github}"
    );
    let json: Value = serde_json::from_str(&stage.read("out.json")).expect("JSON");
    assert_eq!(json["summary"]["total"], 4);
    for text in [&said.out, &junit, &markdown, &github] {
        assert!(
            !text.contains('\u{1b}'),
            "nothing reaches the terminal as a command: {text}"
        );
    }
}

#[test]
fn a_report_that_cannot_be_is_refused_before_anything_runs() {
    let stage = Stage::new();
    stage.write("suite.yaml", &with_peer(TOOLS));
    for (words, part) in [
        (&["--reporter", "html"][..], "expected one of"),
        (
            &["--reporter", "tap", "--reporter", "json"],
            "only one report",
        ),
        (&["--reporter", "junit=state/"], "is not a file name"),
    ] {
        let said = stage.run(&[&["suite.yaml"], words].concat());
        assert_eq!(said.status, 2, "{words:?}");
        assert!(said.err.contains(part), "{words:?}: {}", said.err);
        assert!(said.out.is_empty());
    }
}

#[test]
fn values_of_any_length_are_cut_around_what_differs_in_every_format() {
    let stage = Stage::new();
    let long = "x".repeat(300_000);
    stage.write(
        "suite.yaml",
        &with_peer(&format!(
            "tools:\n  - name: long\n    server: peer\n    tool: echo\n    args: {{ message: \"{long}THIS{long}\" }}\n    expect:\n      - target: result.content[0].text\n        matcher: {{ exact: \"{long}THAT{long}\" }}\n"
        )),
    );
    for format in ["pretty", "json", "junit", "tap", "github", "markdown"] {
        let said = stage.run(&["suite.yaml", "--reporter", format]);
        assert_eq!(said.status, 1, "{format}: {}", said.err);
        assert!(
            said.out.len() < 400_000,
            "{format}: {} bytes",
            said.out.len()
        );
        // A report for people is shorter still.
        if !matches!(format, "pretty" | "markdown") {
            let has = |text: &str| said.out.contains(text);
            assert!(has("THIS") && has("THAT"), "{format}");
            assert!(has("bytes left out"), "{format}");
        }
    }
}

#[test]
fn a_short_secret_that_is_all_of_a_value_is_in_no_report() {
    let stage = Stage::new();
    let at = "target: \"result.content[0].text\"";
    let matchers = [
        "exact: zzz",
        "contains: y",
        "starts-with: zz",
        "levenshtein: { value: qqqqqq, max: 1 }",
        "schema: { type: integer }",
        "schema: { enum: [a] }",
        "is-json: ~",
        "cel: \"value == 'u'\"",
        "allOf: [{ exact: zzz }, { contains: y }]",
        "not: { exact: \"${SHORT_PASSWORD}\" }",
    ];
    let line = |matcher: &&str| format!("      - {{ {at}, matcher: {{ {matcher} }} }}\n");
    let assertions: String = matchers.iter().map(line).collect();
    let rest = format!(
        "tools:\n  - name: a\n    server: peer\n    tool: echo\n    args: {{ message: \"${{SHORT_PASSWORD}}\" }}\n    expect:\n{assertions}"
    );
    stage.write("suite.yaml", &with_peer(&rest));
    for format in ["pretty", "json", "junit", "tap", "github", "markdown"] {
        let mut command = stage.command();
        command.args(["run", "suite.yaml", "--reporter", format]);
        command.env("SHORT_PASSWORD", "k9q");
        let said = crate::suite::stage::said(&mut command);
        assert_eq!(said.status, 1, "{format}: {}", said.err);
        assert!(said.out.contains("REDACTED"), "{format}: {}", said.out);
        assert!(!said.out.contains("k9q"), "{format}: {}", said.out);
    }
}
