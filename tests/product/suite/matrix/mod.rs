//! The same verdict in three ways: live, from the recorded cassette, and from its tape.
//!
//! Every row has the same verdict in all ways, or is inconclusive with a reason if a recording
//! cannot decide it. Each row declares whether that is allowed.

mod server;
mod table;

use serde_json::Value;

use crate::suite::stage::Stage;
use table::{ANSWER, FIELDS, Live, MATCHERS};

/// One test of the suite.
struct Row {
    name: String,
    /// Tool and arguments.
    tool: String,
    /// The block below `expect:`, on one line.
    expect: String,
    live: Live,
    /// Whether a recording may be inconclusive.
    doubtful: bool,
}

impl Row {
    fn new(name: impl Into<String>, tool: &str, expect: impl Into<String>, live: Live) -> Self {
        Self {
            name: name.into(),
            tool: tool.to_owned(),
            expect: expect.into(),
            live,
            doubtful: false,
        }
    }

    fn or_inconclusive(self) -> Self {
        Self {
            doubtful: true,
            ..self
        }
    }
}

/// A call of `answer` that differs from every other one.
fn answer(number: usize, result: &str) -> String {
    format!("answer, args: {{ case: {number}, result: {result} }}")
}

fn assertion(target: &str, matcher: &str) -> String {
    format!("[{{ target: result.{target}, matcher: {{ {matcher} }} }}]")
}

fn rows(http: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (target, matcher, live) in MATCHERS {
        let name = format!("{target} {matcher}");
        let tool = answer(rows.len(), ANSWER);
        rows.push(Row::new(name, &tool, assertion(target, matcher), *live));
    }
    for (field, stdio, over_http) in FIELDS {
        let live = if http { *over_http } else { *stdio };
        let tool = answer(rows.len(), ANSWER);
        let row = Row::new(*field, &tool, format!("{{ {field} }}"), live);
        // A cassette does not show that its session never used HTTP.
        let headers = field.starts_with("response_headers");
        rows.push(if headers && !http {
            row.or_inconclusive()
        } else {
            row
        });
    }
    rows.push(Row::new(
        "took longer than it may",
        "wait, args: { ms: 40 }",
        "{ max_duration_ms: 20 }",
        Live::Fail,
    ));
    rows.extend(special(http, rows.len()));
    rows.extend(greetings(http));
    rows
}

/// The conditions for the answer to the opening.
fn greetings(http: bool) -> Vec<Row> {
    let named = "[{ target: result.serverInfo.name, matcher: { regex: \".\" } }]";
    let unnamed = "[{ target: result.serverInfo.name, matcher: { exact: \"\" } }]";
    let kind = if http { Live::Pass } else { Live::Fail };
    let check = |name: &str, expect: &str, live| Row::new(name, GREETING, expect, live);
    let header = check(
        "its header",
        "{ response_headers: { x-kind: plain } }",
        kind,
    );
    vec![
        check("its name", named, Live::Pass),
        check("not its name", unnamed, Live::Fail),
        check("its time", "{ max_duration_ms: 60000 }", Live::Pass),
        if http {
            header
        } else {
            header.or_inconclusive()
        },
    ]
}

/// In place of a tool.
const GREETING: &str = "the opening";

/// Cases in which a recording is easily wrong.
fn special(http: bool, first: usize) -> Vec<Row> {
    let refused = "[{ target: result.error.code, matcher: { exact: -32000 } }]";
    let not_refused = "[{ target: result.error.code, matcher: { not: { exact: -32001 } } }]";
    let secret = r#"{"content":[],"text":"token ghp_0123456789abcdefABCDEF0123456789abcd"}"#;
    let text = "token ghp_0123456789abcdefABCDEF0123456789abcd";
    let stamped = "answer, args: { id: \"${ID}\", at: \"${AT}\", result: { content: [], a: 1 } }";
    let counted = "answer, args: { n: ${ONE}, result: { content: [], b: 1 } }";
    let mut rows = vec![
        Row::new("an error that is expected", "refuse", refused, Live::Pass),
        Row::new("an error", "refuse, args: { a: 1 }", "[]", Live::Fail),
        Row::new(
            "ids and times",
            stamped,
            assertion("a", "exact: 1"),
            Live::Pass,
        ),
        Row::new(
            "ids and times that fail",
            &stamped.replace("a: 1", "a: 2"),
            assertion("a", "exact: 1"),
            Live::Fail,
        )
        .or_inconclusive(),
        Row::new(
            "a secret",
            &answer(first, secret),
            assertion("text", &format!("exact: \"{text}\"")),
            Live::Pass,
        )
        .or_inconclusive(),
        Row::new(
            "not a secret",
            &answer(first + 1, secret),
            assertion("text", &format!("not: {{ exact: \"{text}\" }}")),
            Live::Fail,
        )
        .or_inconclusive(),
        Row::new(
            "beside a secret",
            &answer(first + 2, secret),
            assertion("content", "exact: []"),
            Live::Pass,
        ),
        Row::new("a number", counted, assertion("b", "exact: 1"), Live::Pass),
    ];
    if http {
        let key = "{ response_headers: { x-api-key: canary-9c1f77aa20d3e4b5 } }";
        rows.push(
            Row::new(
                "a secret header",
                &answer(first + 3, ANSWER),
                key,
                Live::Pass,
            )
            .or_inconclusive(),
        );
        for (name, expect) in [
            ("broken", "[]"),
            ("broken, and that is expected", refused),
            ("broken, and not otherwise", not_refused),
        ] {
            let tool = format!("broken, args: {{ case: {} }}", rows.len());
            rows.push(Row::new(name, &tool, expect, Live::Fail).or_inconclusive());
        }
    }
    for (name, expect) in [
        ("gone", "[]"),
        ("gone, and that is expected", refused),
        ("gone, and not otherwise", not_refused),
    ] {
        let tool = format!("die, args: {{ case: {} }}", rows.len());
        rows.push(Row::new(name, &tool, expect, Live::Fail).or_inconclusive());
    }
    rows
}

/// The differences between one run of the suite and the next.
struct Asks {
    id: &'static str,
    at: &'static str,
    one: &'static str,
}

fn suite(server: &str, rows: &[Row], asks: &Asks) -> String {
    let written = |row: &Row| {
        let name = serde_json::to_string(&row.name).expect("text");
        let Row { tool, expect, .. } = row;
        let ask = match tool.as_str() {
            GREETING => "check: initialize".to_owned(),
            tool => format!("tool: {tool}"),
        };
        format!("  - {{ name: {name}, server: s, {ask}, expect: {expect} }}\n")
    };
    let (checks, tools): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.tool == GREETING);
    let tools: String = tools.into_iter().map(written).collect();
    let checks: String = checks.into_iter().map(written).collect();
    let text = format!("servers:\n  s: {{ {server} }}\ntools:\n{tools}compliance:\n{checks}");
    text.replace("${ID}", asks.id)
        .replace("${AT}", asks.at)
        .replace("${ONE}", asks.one)
}

/// The rows of a report: name, status and whether it has a reason.
fn judged(report: &Value) -> Vec<(String, String, bool)> {
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    assert!(tests.len() > 1, "{report:#}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let reasons = |test: &Value| {
        test["reasons"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    };
    tests
        .iter()
        .map(|test| (text(&test["name"]), text(&test["status"]), reasons(test)))
        .collect()
}

/// Runs all rows in all ways and lists those with different verdicts.
fn matrix(server: &str, http: bool) {
    let rows = rows(http);
    let stage = Stage::new();
    stage.write("snapshots/other.json", "{\"k\":2}");
    let first = Asks {
        id: "3f0c1a52-9d4e-4b7c-8a11-5d2e6f7a8b90",
        at: "2026-01-02T03:04:05Z",
        one: "1",
    };
    let later = Asks {
        id: "7b1e9c44-2f3a-4d5b-9e66-0c1d2e3f4a5b",
        at: "2026-05-06T07:08:09Z",
        one: "1.0",
    };
    stage.write("live.yaml", &suite(server, &rows, &first));
    stage.write("later.yaml", &suite(server, &rows, &later));
    stage.write(
        "replayed.yaml",
        &suite("cassette: rec/s.json", &rows, &later),
    );
    let (_, live) = stage.json(&["live.yaml", "--record=rec"]);
    let live = judged(&live);
    let mut wrong = Vec::new();
    for (row, (name, status, _)) in rows.iter().zip(&live) {
        if row.live.word() != status {
            wrong.push(format!(
                "live: {name}: {status}, and not {}",
                row.live.word()
            ));
        }
    }
    let ways: [&[&str]; 4] = [
        &["replayed.yaml"],
        &["live.yaml", "--capture", "rec/s.tape.jsonl"],
        &["live.yaml", "--capture", "rec/s.json"],
        &["later.yaml", "--capture", "rec/s.tape.jsonl"],
    ];
    for way in ways {
        let (_, report) = stage.json(way);
        let way = way.join(" ");
        for (row, (name, status, reason)) in rows.iter().zip(judged(&report)) {
            let inconclusive = row.doubtful && status == "inconclusive" && reason;
            if status != row.live.word() && !inconclusive {
                wrong.push(format!(
                    "{way}: {name}: {status}, and not {}",
                    row.live.word()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn over_standard_input_every_way_judges_alike() {
    matrix("command: [\"${PEER}\", suite]", false);
}

#[test]
fn over_http_every_way_judges_alike() {
    matrix(&format!("url: \"{}\"", server::start()), true);
}

#[test]
fn every_matcher_is_in_the_matrix_twice() {
    for name in tapewright_assertions::matcher_names() {
        let rows = MATCHERS
            .iter()
            .filter(|(_, matcher, _)| matcher.starts_with(&format!("{name}:")));
        let outcomes: Vec<Live> = rows.map(|(_, _, live)| *live).collect();
        let model = outcomes == [Live::Error] || outcomes == [Live::Deferred];
        let both = outcomes.contains(&Live::Pass) && outcomes.contains(&Live::Fail);
        assert!(both || model, "{name}: {outcomes:?}");
    }
}
