//! `record --suite`: a session is scored while it is recorded, and comes out as the tape
//! does afterwards.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::suite::stage::{CommandOutput, Stage, everything, said, verdicts};
use crate::support::http::{Gateway, PATIENCE};
use crate::support::system::STOPPED;
use crate::support::{Session, peer};

const RECORDER: &str = env!("CARGO_BIN_EXE_tapewright");

/// The suite for everything, and a second one that sends the same to a recorder in front of the
/// server.
fn stage() -> Stage {
    let stage = Stage::new();
    let text = fs::read_to_string(everything()).expect("the suite");
    stage.write("suite.yaml", &text);
    stage
}

/// The suite with another server in place of its own.
fn asks(stage: &Stage, server: &str) {
    let text = stage.read("suite.yaml");
    let own = "    command: [\"${PEER}\", \"suite\"]\n    env:\n      GREETING: \"hello from the suite\"\n";
    assert!(text.contains(own));
    stage.write("asks.yaml", &text.replace(own, server));
}

/// A server that is a recorder in front of the peer.
fn recorder(options: &str) -> String {
    format!(
        "    command: ['{RECORDER}', record, --label, peer, {options}, --, \"${{PEER}}\", suite]\n    env: {{ GREETING: \"hello from the suite\" }}\n"
    )
}

/// The common part of the live report and one over the tape, which is everything except for
/// durations.
fn same(stage: &Stage, live: &str, tape: &Path) -> Value {
    let live: Value = serde_json::from_str(&stage.read(live)).expect("JSON");
    let tape = tape.to_str().expect("text");
    let suite = live["suites"][0]["suite"].as_str().expect("a path");
    let (_, later) = stage.json(&[suite, "--capture", tape]);
    for part in ["tests", "tools", "notes", "skipped"] {
        let (live, later) = (&live["suites"][0][part], &later["suites"][0][part]);
        assert_eq!(live, later, "{part}");
    }
    live
}

#[test]
fn over_stdio_the_rows_are_those_of_the_tape() {
    for more in [
        "--durability, queue",
        "--durability, written, --check, --strict",
    ] {
        let stage = stage();
        let options =
            format!("-o, s.json, --suite, suite.yaml, --reporter, json=live.json, {more}");
        asks(&stage, &recorder(&options));
        let (status, asked) = stage.json(&["asks.yaml"]);
        assert_eq!(status, 0, "{more}: {asked:#}");
        let live = same(&stage, "live.json", &stage.path("s.tape.jsonl"));
        assert_eq!(verdicts(&live), verdicts(&asked), "{more}");
        assert!(verdicts(&live).len() >= 40);
    }
}

#[test]
fn over_every_bridge_the_rows_are_those_of_the_tape() {
    let stage = stage();
    let peer = peer().display().to_string();
    let suite = stage.path("suite.yaml").display().to_string();
    let scored = |name: &str| {
        let report = format!("json={}", stage.path(name).display());
        let options = [
            ["--label", "peer"],
            ["--suite", &suite],
            ["--reporter", &report],
            ["--var", "PEER=not-started"],
        ]
        .concat();
        options.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let url = |gateway: &Gateway| {
        gateway.line["listening"]
            .as_str()
            .expect("a URL")
            .to_owned()
    };
    // HTTP in front, a process behind.
    let mut options = scored("front.json");
    let script = r#"GREETING="hello from the suite" "$0" suite"#;
    let server = ["--listen", "127.0.0.1:0", "--", "sh", "-c", script, &peer];
    options.extend(server.map(str::to_owned));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let front = Gateway::start(&options);
    // HTTP on both sides.
    let options = scored("gateway.json");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let gateway = Gateway::to_url(&url(&front), &options);
    // Standard input in front, HTTP behind.
    let bridge = format!(
        "    command: ['{RECORDER}', record, --label, peer, -o, bridge.tape.jsonl, --suite, suite.yaml, --reporter, json=bridge.json, --upstream, \"{}\"]\n",
        url(&gateway)
    );
    asks(&stage, &bridge);
    let (status, asked) = stage.json(&["asks.yaml"]);
    assert_eq!(status, 0, "{asked:#}");
    let asked = verdicts(&asked);
    let live = same(&stage, "bridge.json", &stage.path("bridge.tape.jsonl"));
    assert_eq!(verdicts(&live), asked);
    for (mut running, report) in [(gateway, "gateway.json"), (front, "front.json")] {
        running.signal("TERM");
        running.ended();
        assert_eq!(running.errors(), "", "{report}");
        let live = same(&stage, report, &running.tape());
        assert_eq!(verdicts(&live), asked, "{report}");
    }
}

const SMALL: &str = r#"servers:
  peer: { command: ["false"] }
tools:
  - name: holds
    server: peer
    tool: echo
    expect:
      - { target: result.isError, matcher: { exact: false } }
  - name: does not hold
    server: peer
    tool: add
    expect:
      - { target: result.structuredContent.sum, matcher: { exact: 7 } }
  - { name: never asked, server: peer, tool: env }
"#;

/// A session that calls these tools, with arguments after a space, recorded with these options.
fn session(stage: &Stage, options: &[&str], tools: &[&str]) -> CommandOutput {
    let mut lines = vec![
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
    ];
    for (id, tool) in (1..).zip(tools) {
        let (tool, arguments) = tool.split_once(' ').unwrap_or((tool, "{}"));
        lines.push(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
    }
    stage.write("input", &(lines.join("\n") + "\n"));
    let input = fs::File::open(stage.path("input")).expect("a file");
    let mut command = stage.command();
    command
        .args(["record", "-o", "s.json", "--suite", "suite.yaml"])
        .args(options)
        .arg("--")
        .arg(peer())
        .arg("suite")
        .env("LARGE", "x".repeat(2_000))
        .stdin(input);
    said(&mut command)
}

#[test]
fn the_report_is_beside_the_protocol_and_the_status_is_the_childs() {
    let stage = Stage::new();
    stage.write("suite.yaml", SMALL);
    let plain = session(&stage, &[], &["echo", "add"]);
    assert_eq!(plain.status, 0, "{}", plain.err);
    for line in plain.out.lines() {
        let message: Value = serde_json::from_str(line).expect("the protocol, and nothing else");
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert_eq!(plain.out.lines().count(), 3);
    for part in [
        "FAIL  does not hold",
        "suite.yaml:13:58",
        "recorded  event ",
        "NOT EXERCISED  never asked",
        "PASS  holds",
        "Result: 1 passed, 1 failed, 1 not exercised",
    ] {
        assert!(plain.err.contains(part), "`{part}` in {}", plain.err);
    }
    // The same, for programs; nothing is printed.
    let options = ["--reporter", "junit=out.xml", "--reporter", "json=out.json"];
    let quiet = session(&stage, &options, &["echo", "add"]);
    assert_eq!((quiet.status, quiet.err.as_str()), (0, ""));
    assert!(stage.read("out.xml").contains("failures=\"1\""));
    same(&stage, "out.json", &stage.path("s.tape.jsonl"));
    // A reporter without a file is printed to standard error.
    let tap = session(&stage, &["--reporter", "tap"], &["echo", "add"]);
    assert!(
        tap.err.starts_with("TAP version 14\n1..3\nok 1 - holds"),
        "{}",
        tap.err
    );
}

#[test]
fn strict_tells_how_it_came_out() {
    for (options, tools, status) in [
        (&["--strict"][..], &["echo", "add"][..], 1),
        (&["--strict"], &["echo"], 3),
        (&["--strict", "--allow-unexercised"], &["echo"], 0),
        (&["--allow-unexercised"], &["add"], 0),
    ] {
        let stage = Stage::new();
        stage.write("suite.yaml", SMALL);
        let said = session(&stage, options, tools);
        assert_eq!(said.status, status, "{options:?} {tools:?}: {}", said.err);
    }
    // An assertion that could not be judged is an error in the suite.
    let stage = Stage::new();
    stage.write("suite.yaml", &SMALL.replace("exact: 7", "icontains: x"));
    assert_eq!(session(&stage, &["--strict"], &["add"]).status, 2);
}

#[test]
fn what_a_fault_touched_and_what_was_clipped_decides_nothing() {
    let large = r#"env {"name":"LARGE"}"#;
    for (options, tool, row) in [
        (
            &["--fault", "error tool=echo code=-32000 message=no"][..],
            "echo",
            0,
        ),
        (&["--max-message", "1000"], large, 2),
    ] {
        let stage = Stage::new();
        stage.write("suite.yaml", SMALL);
        let all = [options, &["--reporter", "json=out.json"]].concat();
        session(&stage, &all, &[tool]);
        let live = same(&stage, "out.json", &stage.path("s.tape.jsonl"));
        let (_, status) = &verdicts(&live)[row];
        assert_eq!(status, "inconclusive", "{options:?}: {live:#}");
    }
}

#[test]
fn in_a_folder_every_session_is_told_apart() {
    let stage = Stage::new();
    stage.write("suite.yaml", SMALL);
    let asks = SMALL.replace(
        "command: [\"false\"]",
        &format!(
            "command: ['{RECORDER}', record, --label, peer, -o, rec/, --upstream, \"${{URL}}\"]"
        ),
    );
    stage.write("asks.yaml", &asks.replace("exact: 7", "exact: 0"));
    let suite = stage.path("suite.yaml").display().to_string();
    let report = format!("json={}", stage.path("out.json").display());
    let peer = peer().display().to_string();
    let folder = format!("{}/", stage.path("sessions").display());
    let scored = ["--suite", &suite, "--reporter", &report];
    let mut command = stage.command();
    command
        .args([
            "record",
            "-o",
            &folder,
            "--label",
            "peer",
            "--listen",
            "127.0.0.1:0",
        ])
        .args(scored)
        .args(["--", &peer, "suite"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut front = Session::start(command);
    let line: Value = serde_json::from_str(&front.line()).expect("JSON");
    let url = line["listening"].as_str().expect("a URL");
    for _ in 0..2 {
        let status = said(stage.command().args(["run", "asks.yaml"]).env("URL", url)).status;
        assert_eq!(status, 0);
    }
    front.signal("TERM");
    assert_eq!(front.finish(PATIENCE).code(), Some(STOPPED));
    let report: Value = serde_json::from_str(&stage.read("out.json")).expect("JSON");
    let test = &report["suites"][0]["tests"][1];
    assert_eq!(
        (&test["status"], &test["exercised"]),
        (&"fail".into(), &2.into())
    );
    let session = |number: usize| test["failures"][number]["exchange"]["session"].as_u64();
    let (first, second) = (session(0), session(1));
    assert!(
        first.is_some() && second.is_some() && first != second,
        "{test:#}"
    );
}

#[test]
fn what_cannot_be_scored_is_refused_before_anything_starts() {
    let two = SMALL.replace("tools:", "  other: { command: [\"false\"] }\ntools:");
    for (suite, options, part) in [
        (
            SMALL.replace("exact: 7", "equals: 7"),
            &[][..],
            "suite.yaml:13:60",
        ),
        (
            two,
            &["--label", "elsewhere"],
            "`--label peer` or `--label other`",
        ),
        (
            SMALL.to_owned(),
            &["--mode", "none"],
            "cannot be used with `--mode`",
        ),
        (
            SMALL.to_owned(),
            &["--reporter", "tap", "--reporter", "json"],
            "only one report",
        ),
        (SMALL.to_owned(), &["--reporter", "html"], "expected one of"),
    ] {
        let stage = Stage::new();
        stage.write("suite.yaml", &suite);
        if options.contains(&"--mode") {
            stage.write("s.json", r#"{"version":"1","exchanges":[]}"#);
        }
        let said = session(&stage, options, &["echo"]);
        assert_eq!(said.status, 2, "{options:?}: {}", said.err);
        assert!(said.err.contains(part), "`{part}` in {}", said.err);
        assert!(said.out.is_empty() && !stage.path("s.tape.jsonl").exists());
    }
    for (words, part) in [
        (&["--var", "a=b"][..], "need `--suite`"),
        (&["--reporter", "tap"], "--suite <SUITE>"),
        (&["--strict"], "`--suite SUITE`"),
        (&["--allow-unexercised"], "--suite <SUITE>"),
    ] {
        let stage = Stage::new();
        let said = said(
            stage
                .command()
                .arg("record")
                .args(words)
                .args(["--", "true"]),
        );
        assert_eq!(said.status, 2, "{words:?}");
        assert!(said.err.contains(part), "{words:?}: {}", said.err);
    }
    let stage = Stage::new();
    stage.write("suite.yaml", SMALL);
    let words = ["record", "--forward-proxy", "0", "--suite", "suite.yaml"];
    let said = said(stage.command().args(words));
    assert_eq!(said.status, 2);
    assert!(said.err.contains("`--label peer`"), "{}", said.err);
}

#[test]
fn secrets_of_the_suite_stay_off_the_tape_and_out_of_the_report() {
    const CANARY: &str = "canary-6b0e4a52-value";
    let stage = Stage::new();
    let suite = SMALL.replace("exact: false", "exact: \"${GREETING_TOKEN}\"");
    stage.write("suite.yaml", &suite);
    stage.write(".env", &format!("GREETING_TOKEN={CANARY}\n"));
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"it is CANARY"}}}"#,
        "",
    ];
    stage.write("input", &input.join("\n").replace("CANARY", CANARY));
    let mut command = stage.command();
    command
        .args(["record", "-o", "s.json", "--suite", "suite.yaml", "--"])
        .arg(peer())
        .arg("suite")
        .stdin(fs::File::open(stage.path("input")).expect("a file"));
    let said = said(&mut command);
    assert!(
        said.err.contains("FAIL  holds") && !said.err.contains(CANARY),
        "{}",
        said.err
    );
    for name in ["s.json", "s.tape.jsonl"] {
        let text = stage.read(name);
        assert!(text.contains("it is ") && !text.contains(CANARY), "{text}");
    }
}
