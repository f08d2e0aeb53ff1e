//! `run --capture`: nothing is sent, and a question that was never asked never passes.

use serde_json::Value;

use crate::suite::stage::{Stage, verdicts};

/// A suite whose server must never be started.
const SUITE: &str = r#"
servers:
  weather:
    command: ["false"]
tools:
  - name: forecast of Paris
    server: weather
    tool: forecast
    args: { city: Paris, days: 2 }
    expect:
      - target: result.content[0].text
        matcher: { contains: sunny }
  - name: every forecast has text
    server: weather
    tool: forecast
    expect:
      - target: result.content[0].type
        matcher: { exact: text }
  - name: forecast of Rome
    server: weather
    tool: forecast
    args: { city: Rome }
    expect:
      - target: result.content[0].text
        matcher: { contains: sunny }
compliance:
  - name: speaks a revision
    server: weather
    check: initialize
    expect:
      - target: result.protocolVersion
        matcher: { exact: "2025-06-18" }
"#;

/// A capture with these tool calls, each with its arguments and its text.
fn capture(label: &str, calls: &[(&str, &str)]) -> String {
    let mut exchanges = vec![
        r#"{"request":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}},"response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}}"#.to_owned(),
    ];
    for (id, (arguments, text)) in calls.iter().enumerate() {
        let id = id + 1;
        exchanges.push(format!(
            r#"{{"request":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"forecast","arguments":{arguments}}}}},"response":{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}}}"#
        ));
    }
    let exchanges = exchanges.join(",");
    format!(r#"{{"server_label":"{label}","exchanges":[{exchanges}]}}"#)
}

fn statuses(report: &Value) -> Vec<String> {
    verdicts(report)
        .into_iter()
        .map(|(_, status)| status)
        .collect()
}

#[test]
fn every_exchange_that_asks_the_same_is_judged() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let calls = [
        (r#"{"days":2.0,"city":"Paris"}"#, "sunny"),
        (r#"{"city":"Paris","days":2}"#, "rain"),
        (r#"{"city":"Oslo"}"#, "snow"),
    ];
    stage.write("session.json", &capture("weather", &calls));
    let (status, report) = stage.json(&["suite.yaml", "--capture", "session.json"]);
    assert_eq!(status, 1, "{report:#}");
    assert_eq!(statuses(&report), ["fail", "pass", "not_exercised", "pass"]);
    let tests = &report["suites"][0]["tests"];
    assert_eq!(tests[0]["exercised"], 2);
    assert_eq!(tests[1]["exercised"], 3);
    assert_eq!(tests[2]["exercised"], 0);
    assert_eq!(tests[0]["failures"][0]["exchange"]["request"], 5);
    let tools = &report["suites"][0]["tools"][0];
    assert_eq!(
        (&tools["name"], &tools["calls"]),
        (&"forecast".into(), &3.into())
    );
    assert_eq!(tools["tests"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_was_never_asked_is_not_passed() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let calls = [(r#"{"city":"Paris","days":2}"#, "sunny")];
    stage.write("session.json", &capture("weather", &calls));
    let words = ["suite.yaml", "--capture", "session.json"];
    let (status, report) = stage.json(&words);
    assert_eq!(status, 3, "{report:#}");
    assert_eq!(report["summary"]["not_exercised"], 1);
    let (status, report) = stage.json(&[&words[..], &["--allow-unexercised"]].concat());
    assert_eq!(status, 0);
    assert_eq!(statuses(&report)[2], "not_exercised");
    let said = stage.run(&words);
    assert!(
        said.out.contains("NOT EXERCISED  forecast of Rome"),
        "{}",
        said.out
    );
    assert!(said.out.contains("Tools of the recording"), "{}", said.out);
}

#[test]
fn a_recording_of_another_label_is_told() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let calls = [(r#"{"city":"Rome"}"#, "sunny")];
    stage.write("session.json", &capture("met", &calls));
    // One server and one label: they belong together.
    let said = stage.run(&["suite.yaml", "--capture", "session.json"]);
    assert!(said.err.contains("`met`, and counts as"), "{}", said.err);
    let two = SUITE.replace("tools:", "  other:\n    command: [\"false\"]\ntools:");
    stage.write("two.yaml", &two);
    let said = stage.run(&["two.yaml", "--capture", "session.json"]);
    assert_eq!(said.status, 3, "{}", said.out);
    assert!(said.err.contains("no server `met`"), "{}", said.err);
}

#[test]
fn sessions_of_an_array_keep_their_ids_apart() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let one = capture("weather", &[(r#"{"city":"Paris","days":2}"#, "sunny")]);
    let other = capture("weather", &[(r#"{"city":"Rome"}"#, "sunny")]);
    stage.write("session.json", &format!("[{one},{other}]"));
    let (status, report) = stage.json(&["suite.yaml", "--capture", "session.json"]);
    assert_eq!(status, 0, "{report:#}");
}

#[test]
fn faults_and_gaps_decide_nothing() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let head =
        r#"{"tape":"1.1","created":"","by":"tapewright","transport":"stdio","label":"weather"}"#;
    let ask = r#"{"seq":1,"at_us":10,"dir":"to_server","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"Rome"}}}}"#;
    let answer = r#"{"seq":2,"at_us":20,"dir":"to_client","message":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}"#;
    let fault = r#"{"seq":3,"at_us":30,"dir":"to_client","faulted":"dropped"}"#;
    let tape = [head, ask, answer, fault].join("\n") + "\n";
    stage.write("faulted.tape.jsonl", &tape);
    let (status, report) = stage.json(&[
        "suite.yaml",
        "--capture",
        "faulted.tape.jsonl",
        "--include",
        "Rome",
    ]);
    assert_eq!(status, 3, "{report:#}");
    assert_eq!(statuses(&report), ["inconclusive"]);
}

#[test]
fn a_recording_that_cannot_be_read_is_told() {
    let stage = Stage::new();
    stage.write("suite.yaml", SUITE);
    let said = stage.run(&["suite.yaml", "--capture", "nowhere.json"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("nowhere.json"), "{}", said.err);
    assert!(said.out.is_empty());
}
