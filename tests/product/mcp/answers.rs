//! The answers of the tools: the same as those of the commands, bounded, and only from the folder.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use super::{Asking, PATIENCE, TAPE, library, text};
use crate::support::{eventually, record, tapewright};

fn printed(folder: &std::path::Path, arguments: &[&str]) -> String {
    let output = tapewright()
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tools_tell_what_the_commands_tell() {
    let folder = library();
    let mut asking = Asking::of(folder.path(), &[]);
    let shown = printed(folder.path(), &["show", TAPE, "--json", "tool:e"]);
    let shown: Vec<Value> = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let asked = json!({ "recording": TAPE, "filter": ["tool:e"] });
    let found = asking.told("find_exchanges", &asked);
    assert_eq!(found["lines"], Value::Array(shown));

    let inspected = printed(folder.path(), &["inspect", TAPE, "--json"]);
    let inspected: Value = serde_json::from_str(&inspected).unwrap();
    let told = asking.told("inspect_recording", &json!({ "recording": TAPE }));
    for member in ["methods", "tools", "hangs", "protocol_version", "ended"] {
        assert_eq!(told["report"][member], inspected[member], "{member}");
    }
    let hangs = asking.told("find_hangs", &json!({ "recording": TAPE }));
    assert_eq!(hangs["found"], inspected["hangs_count"]);

    let http = "handshake-http.tape.jsonl";
    let differ = printed(folder.path(), &["diff", TAPE, http, "--json"]);
    let differ: Value = serde_json::from_str(&differ).unwrap();
    let told = asking.told("diff_recordings", &json!({ "before": TAPE, "after": http }));
    for member in ["changed", "new", "gone", "same", "latency"] {
        assert_eq!(told[member], differ[member], "{member}");
    }
    let judged = [
        "compliance",
        "invariants",
        "--all",
        "--format",
        "json",
        "--capture",
        http,
    ];
    let judged: Value = serde_json::from_str(&printed(folder.path(), &judged)).unwrap();
    let told = asking.told("judge_recording", &json!({ "recording": http }));
    assert_eq!(told["counts"]["fail"], judged["failed_invariant_count"]);
    let page = asking.told("explain_code", &json!({ "code": "inv-012" }));
    let explained = printed(folder.path(), &["explain", "INV-012"]);
    assert_eq!(page["page"], explained.as_str());
    assert!(asking.end().success());
}

/// The messages of a session in which nothing is wrong.
const CLEAN: &str = r#"{"server_label":"adder","server_capabilities":{"tools":{}},"exchanges":[
{"request":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}},
"response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}},
{"request":{"jsonrpc":"2.0","method":"notifications/initialized"},"response":null},
{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}},
"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}]}}}]}"#;

#[test]
fn a_captured_session_without_findings_is_said_to_be_clean() {
    let folder = tempfile::tempdir().unwrap();
    let broken = CLEAN.replace(
        r#""content":[{"type":"text","text":"1"}]"#,
        r#""content":1"#,
    );
    assert_ne!(broken, CLEAN);
    fs::write(folder.path().join("clean.capture.json"), CLEAN).unwrap();
    fs::write(folder.path().join("broken.capture.json"), broken).unwrap();
    let mut asking = Asking::of(folder.path(), &[]);
    for (name, verdict, findings, said) in [
        ("clean.capture.json", "clean", 0, "(adder): clean"),
        (
            "broken.capture.json",
            "broken",
            1,
            "(adder): broken: 1 invariant",
        ),
    ] {
        let asked = json!({ "recording": name, "all": false });
        let answer = asking.call("judge_recording", &asked);
        let told = &answer["structuredContent"];
        assert_eq!(told["judged"][0]["label"], "adder", "{told:#}");
        assert_eq!(told["judged"][0]["verdict"], verdict, "{told:#}");
        assert_eq!(told["judged"][0]["counts"], told["counts"], "{told:#}");
        let found = told["findings"].as_array().unwrap();
        assert_eq!(found.len(), findings, "{told:#}");
        assert!(text(&answer).contains(said), "{answer:#}");
    }
    let listed = asking.told("list_recordings", &json!({}));
    let listed = listed["recordings"].as_array().unwrap();
    assert!(listed.iter().all(|one| one["redacted"].is_null()));
}

#[test]
fn a_capture_with_a_secret_is_not_shown_until_it_is_scrubbed() {
    let folder = tempfile::tempdir().unwrap();
    let name = "secret.capture.json";
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let secret = CLEAN.replace(r#""text":"1""#, &format!(r#""text":"{key}""#));
    fs::write(folder.path().join(name), secret).unwrap();
    let mut asking = Asking::of(folder.path(), &[]);
    let refused = asking.refused("judge_recording", &json!({ "recording": name }));
    assert!(refused.contains("`tapewright scrub FILE`"), "{refused}");
    printed(folder.path(), &["scrub", name]);
    let told = asking.told("judge_recording", &json!({ "recording": name }));
    assert_eq!(told["sessions"], 1);
}

#[test]
fn a_step_holds_of_the_recording_that_it_was_written_from() {
    let folder = library();
    let mut asking = Asking::of(folder.path(), &[]);
    let asked = json!({ "recording": TAPE, "seq": 15 });
    let written = asking.told("write_suite_step", &asked);
    assert_eq!(written["block"], "tools");
    assert!(written["step"].as_str().unwrap().contains("tool: echo"));
    fs::write(
        folder.path().join("suite.yaml"),
        written["suite"].as_str().unwrap(),
    )
    .unwrap();
    let run = tapewright()
        .current_dir(folder.path())
        .args(["run", "suite.yaml", "--capture", TAPE])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let refused = asking.refused("write_suite_step", &json!({ "recording": TAPE, "id": "0" }));
    assert!(refused.contains("cannot be a test"), "{refused}");
}

#[test]
fn pages_hold_every_line_once() {
    let folder = library();
    let mut asking = Asking::of(folder.path(), &[]);
    let whole = json!({ "recording": TAPE, "limit": 200 });
    let whole = asking.told("find_exchanges", &whole)["lines"].clone();
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut asked = json!({ "recording": TAPE, "limit": 5 });
        if !cursor.is_null() {
            asked["cursor"] = cursor;
        }
        let page = asking.told("find_exchanges", &asked);
        let lines = page["lines"].as_array().unwrap();
        assert!(lines.len() <= 5);
        pages.extend(lines.clone());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(Value::Array(pages), whole);
}

#[test]
fn an_exchange_comes_in_pieces_that_are_the_whole() {
    let folder = library();
    let mut asking = Asking::of(folder.path(), &[]);
    let whole = json!({ "recording": TAPE, "id": "2", "max_bytes": 32_768 });
    let whole = asking.told("show_exchange", &whole);
    assert_eq!(whole["exchange"]["method"], "tools/list");
    assert_eq!(whole["next_cursor"], Value::Null);
    let (mut answer, mut cursor, mut pages) = (String::new(), Value::Null, 0);
    loop {
        let mut asked = json!({ "recording": TAPE, "id": "2", "max_bytes": 1_500 });
        if !cursor.is_null() {
            asked["cursor"] = cursor;
        }
        let page = asking.told("show_exchange", &asked);
        answer.push_str(page["answer"]["text"].as_str().unwrap());
        (cursor, pages) = (page["next_cursor"].clone(), pages + 1);
        if cursor.is_null() {
            break;
        }
    }
    assert!(pages > 3, "{pages}");
    assert_eq!(whole["answer"]["text"], answer.as_str());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], 2);
}

#[test]
fn a_tape_that_grows_moves_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let tape = "grows.tape.jsonl";
    let whole = fs::read_to_string(library().path().join(TAPE)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let path = folder.path().join(tape);
    // The last line was begun, but is incomplete.
    let torn = &lines[60][..lines[60].len() / 2];
    fs::write(&path, format!("{}\n{torn}", lines[..60].join("\n"))).unwrap();
    let mut asking = Asking::of(folder.path(), &[]);
    let asked = json!({ "recording": tape, "limit": 10 });
    let first = asking.told("find_exchanges", &asked);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let rest = format!("{}\n{}\n", &lines[60][torn.len()..], lines[61..].join("\n"));
    file.write_all(rest.as_bytes()).unwrap();
    let (mut seen, mut cursor) = (
        first["lines"].as_array().unwrap().clone(),
        first["next_cursor"].clone(),
    );
    while !cursor.is_null() {
        let asked = json!({ "recording": tape, "limit": 10, "cursor": cursor });
        let page = asking.told("find_exchanges", &asked);
        seen.extend(page["lines"].as_array().unwrap().clone());
        cursor = page["next_cursor"].clone();
    }
    let all = asking.told(
        "find_exchanges",
        &json!({ "recording": tape, "limit": 200 }),
    );
    let places = |lines: &[Value]| -> Vec<u64> {
        let places = lines
            .iter()
            .map(|line| line["request_seq"].as_u64().unwrap());
        places.collect()
    };
    assert_eq!(places(&seen), places(all["lines"].as_array().unwrap()));
}

#[test]
fn what_is_asked_wrong_says_what_to_do() {
    let folder = library();
    let mut asking = Asking::of(folder.path(), &[]);
    for (tool, asked, said) in [
        (
            "inspect_recording",
            json!({ "recording": "handshake-stdi.tape.jsonl" }),
            "did you mean `handshake-stdio.tape.jsonl`?",
        ),
        (
            "find_exchanges",
            json!({ "recording": TAPE, "filter": ["tol:x"] }),
            "did you mean `tool`?",
        ),
        (
            "find_exchanges",
            json!({ "recording": TAPE, "cursor": "a" }),
            "`next_cursor` of an earlier answer",
        ),
        (
            "find_exchanges",
            json!({ "recording": TAPE, "limit": "many" }),
            "`tools/list` has the schema",
        ),
        (
            "show_exchange",
            json!({ "recording": TAPE }),
            "either `seq` or `id`",
        ),
        (
            "show_exchange",
            json!({ "recording": TAPE, "seq": 3 }),
            "belongs to no exchange",
        ),
        (
            "explain_code",
            json!({ "code": "INV-0121" }),
            "did you mean",
        ),
        (
            "diff_recordings",
            json!({ "before": TAPE, "after": TAPE, "ignore": ["x"] }),
            "/result/content/0/text",
        ),
    ] {
        let refused = asking.refused(tool, &asked);
        assert!(refused.contains(said), "{tool}: {refused}");
    }
    // A cursor of one query is not valid for another.
    let page = asking.told("find_exchanges", &json!({ "recording": TAPE, "limit": 1 }));
    let asked = json!({ "recording": TAPE, "filter": ["tool:e"], "cursor": page["next_cursor"] });
    let refused = asking.refused("find_exchanges", &asked);
    assert!(refused.contains("another question"), "{refused}");
    let unknown = asking.ask("tools/call", &json!({ "name": "none", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_told() {
    use std::os::unix::fs::symlink;
    let folder = library();
    let outside = folder.path().join("outside");
    let inner = folder.path().join("inner");
    for made in [&outside, &inner] {
        fs::create_dir(made).unwrap();
    }
    fs::copy(folder.path().join(TAPE), outside.join(TAPE)).unwrap();
    symlink(outside.join(TAPE), inner.join("link.tape.jsonl")).unwrap();
    symlink(&outside, inner.join("linked")).unwrap();
    let mut asking = Asking::of(&inner, &[]);
    let listed = asking.told("list_recordings", &json!({}));
    assert_eq!(listed["recordings"], json!([]));
    let absolute = outside.join(TAPE).display().to_string();
    let climbing = format!("../outside/{TAPE}");
    let linked = format!("linked/{TAPE}");
    for name in [
        &climbing,
        &absolute,
        &linked,
        "link.tape.jsonl",
        "..",
        "/",
        "a\0b",
    ] {
        for tool in [
            "inspect_recording",
            "find_exchanges",
            "find_hangs",
            "judge_recording",
        ] {
            let refused = asking.refused(tool, &json!({ "recording": name }));
            assert!(refused.contains("no recording `"), "{refused}");
        }
        let uri = format!("tapewright://recording/{}", name.replace('/', "%2F"));
        let read = asking.ask("resources/read", &json!({ "uri": uri }));
        assert_eq!(read["error"]["code"], -32002, "{read}");
    }
}

#[test]
fn a_recording_with_its_secrets_is_told_to_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let tape = fs::read_to_string(library().path().join(TAPE)).unwrap();
    let bare = tape.replacen("\"redacted\":true", "\"redacted\":false", 1);
    fs::write(folder.path().join("bare.tape.jsonl"), bare).unwrap();
    // A cassette of another tool has no data about that.
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let exchange = json!({
        "request": { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "login", "arguments": { "api_key": secret } } },
        "response": { "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": format!("with {secret}") }] } },
    });
    let cassette = json!({ "version": "1", "exchanges": [exchange] });
    fs::write(folder.path().join("other.json"), cassette.to_string()).unwrap();
    let mut asking = Asking::of(folder.path(), &[]);
    let refused = asking.refused(
        "inspect_recording",
        &json!({ "recording": "bare.tape.jsonl" }),
    );
    assert!(refused.contains("tapewright scrub"), "{refused}");
    let shown = asking.call(
        "show_exchange",
        &json!({ "recording": "other.json", "id": "1" }),
    );
    assert!(
        shown.to_string().contains("login") && !shown.to_string().contains(secret),
        "{shown}"
    );
}

#[test]
fn a_recording_under_way_is_read_as_far_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("now.tape.jsonl");
    let peer = crate::support::peer();
    let options = ["-o", tape.to_str().unwrap()];
    let server = [peer.to_str().unwrap(), "suite"];
    let mut session = crate::support::Session::start(record(&options, &server));
    session.send(r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#);
    session.line();
    let mut asking = Asking::of(folder.path(), &[]);
    let asked = json!({ "recording": "now.tape.jsonl" });
    let there = eventually(PATIENCE, || {
        asking.told("find_exchanges", &asked)["lines"][0]["outcome"] == "answered"
    });
    assert!(there);
    let found = asking.told("find_exchanges", &asked);
    assert_eq!(found["is_written"], true, "{found}");
    let listed = asking.told("list_recordings", &json!({}));
    assert_eq!(listed["recordings"][0]["is_written"], true);
    assert!(session.finish(PATIENCE).success());
    let found = asking.told("find_exchanges", &asked);
    assert_eq!(found["is_written"], false, "{found}");
}

#[test]
fn without_a_folder_it_serves_where_recordings_go() {
    let home = library();
    let mut command = tapewright();
    command.env("TAPEWRIGHT_HOME", home.path()).arg("mcp");
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut session = crate::support::Session::start(command);
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#);
    assert!(session.line().contains("\"2025-06-18\""));
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_recordings"}}"#,
    );
    // A request is answered even if the client sends nothing more.
    session.close_input();
    let answer: Value = serde_json::from_str(&session.line()).unwrap();
    assert!(text(&answer["result"]).contains(TAPE), "{answer}");
    assert!(session.finish(PATIENCE).success());
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let folder = library();
    for name in ["none", TAPE] {
        let output = tapewright()
            .current_dir(folder.path())
            .args(["mcp", name])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("hint: name the folder"), "{said}");
    }
}
