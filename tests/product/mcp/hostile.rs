//! Recordings of hostile peers: their text never moves a cursor, and no answer grows with it.

use std::fs;

use serde_json::{Value, json};

use super::Asking;

/// Text that would colour a terminal, set its title and clipboard, and reverse the writing
/// direction.
const NASTY: &str = "\u{1b}[31m\u{1b}]0;title\u{7}\u{1b}]52;c;YQ==\u{7}\u{9b}2J\u{202e}\u{200b}\r\n::error::<script>alert(1)</script>";
/// The longest line that the server may answer with, in bytes.
const LONGEST: usize = 250_000;
const NAME: &str = if cfg!(windows) {
    "a\u{202e}b.tape.jsonl"
} else {
    "a\u{1b}]0;x\u{7}\u{202e}<b>.tape.jsonl"
};
const URI: &str = if cfg!(windows) {
    "tapewright://recording/a%E2%80%AEb.tape.jsonl"
} else {
    "tapewright://recording/a%1B%5D0;x%07%E2%80%AE%3Cb%3E.tape.jsonl"
};

/// A tape in which every text is hostile, and many are long.
fn tape() -> String {
    let long = format!("{NASTY}{}", "x".repeat(40_000));
    let header = json!({ "tape": "2.2", "created": "2026-11-21T04:00:00Z", "transport": "stdio",
        "label": NASTY, "command": [NASTY, &long], "pid": 1, "redacted": true });
    let mut lines = vec![header.to_string()];
    let mut add = |members: Value| {
        let mut event = json!({ "seq": lines.len(), "at_us": 1_000 * lines.len() });
        let event_members = event.as_object_mut().unwrap();
        event_members.extend(members.as_object().unwrap().clone());
        lines.push(event.to_string());
    };
    let message =
        |dir: &str, message: Value| json!({ "dir": dir, "era": "handshake", "message": message });
    add(message(
        "to_server",
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": NASTY, "capabilities": {}, "clientInfo": { "name": NASTY, "version": &long } } }),
    ));
    add(message(
        "to_client",
        json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": &long, "version": NASTY } } }),
    ));
    add(message(
        "to_server",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
    ));
    add(message(
        "to_client",
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [
        { "name": NASTY, "description": &long, "inputSchema": { "type": "object" } }, { "name": &long } ] } }),
    ));
    for number in 0..40 {
        let id = format!("{NASTY}{number}");
        add(message(
            "to_server",
            json!({ "jsonrpc": "2.0", "id": &id, "method": "tools/call", "params": {
            "name": if number % 2 == 0 { NASTY } else { &long }, "arguments": { NASTY: NASTY } } }),
        ));
        if number % 3 > 0 {
            add(message(
                "to_client",
                json!({ "jsonrpc": "2.0", "id": &id, "result": {
                "content": [{ "type": "text", "text": if number == 1 { &long } else { NASTY } }] } }),
            ));
        }
    }
    add(message(
        "to_server",
        json!({ "jsonrpc": "2.0", "id": 99, "method": &long }),
    ));
    add(message(
        "to_client",
        json!({ "jsonrpc": "2.0", "method": &long, "params": { NASTY: &long } }),
    ));
    add(json!({ "dir": "to_client", "stderr": NASTY.replace(['\r', '\n'], " ") }));
    add(
        json!({ "dir": "to_server", "conduit": 9, "request": { "method": NASTY, "target": &long, "version": "HTTP/1.1",
        "fields": [[NASTY, NASTY], ["x-long", &long]] } }),
    );
    add(
        json!({ "dir": "to_client", "conduit": 9, "response": { "status": 200, "version": NASTY,
        "fields": [[NASTY, &long]] } }),
    );
    add(message("to_client", json!([NASTY, &long])));
    lines.join("\n") + "\n"
}

/// Whether a text has no effect other than being printed.
fn is_plain(text: &str) -> bool {
    text.chars().all(|char| {
        let bidi = matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        char == '\n' || !char.is_control() && !bidi
    })
}

#[test]
fn no_tool_hands_out_what_moves_a_terminal_or_grows_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), tape()).unwrap();
    fs::write(
        folder.path().join("other.tape.jsonl"),
        tape().replace("alert(1)", "alert(2)"),
    )
    .unwrap();
    fs::write(
        folder.path().join("broken.tape.jsonl"),
        format!("{{\"tape\":\"2.2\"}}\n{NASTY}\n"),
    )
    .unwrap();
    let mut asking = Asking::of(folder.path(), &[]);
    let all =
        ["kind:exchange,notification,progress,late,orphan,noise,stderr,http,fault,finding,gap"];
    let mut calls = vec![
        ("list_recordings", json!({})),
        ("inspect_recording", json!({ "recording": NAME })),
        ("find_exchanges", json!({ "recording": NAME, "limit": 200 })),
        (
            "find_exchanges",
            json!({ "recording": NAME, "filter": all, "limit": 200 }),
        ),
        (
            "find_exchanges",
            json!({ "recording": NAME, "filter": ["alert"] }),
        ),
        (
            "find_exchanges",
            json!({ "recording": NAME, "filter": [NASTY] }),
        ),
        (
            "find_exchanges",
            json!({ "recording": NAME, "filter": [format!("x:{NASTY}")] }),
        ),
        (
            "find_exchanges",
            json!({ "recording": "broken.tape.jsonl" }),
        ),
        ("find_hangs", json!({ "recording": NAME, "limit": 200 })),
        (
            "judge_recording",
            json!({ "recording": NAME, "limit": 200 }),
        ),
        (
            "diff_recordings",
            json!({ "before": NAME, "after": "other.tape.jsonl", "limit": 200 }),
        ),
        ("explain_code", json!({ "code": NASTY })),
        ("inspect_recording", json!({ "recording": NASTY })),
        (NASTY, json!({})),
    ];
    for seq in [1, 3, 5, 6, 9, 60] {
        calls.push((
            "show_exchange",
            json!({ "recording": NAME, "seq": seq, "max_bytes": 32_768 }),
        ));
        calls.push(("write_suite_step", json!({ "recording": NAME, "seq": seq })));
    }
    let mut succeeded = 0;
    for (tool, arguments) in calls {
        let answer = asking.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let length = answer.to_string().len();
        assert!(length < LONGEST, "{tool} {arguments}: {length}");
        if let Some(why) = answer["error"]["message"].as_str() {
            assert!(is_plain(why), "{why:?}");
            continue;
        }
        for block in answer["result"]["content"].as_array().unwrap() {
            let text = block["text"].as_str().unwrap();
            assert!(is_plain(text), "{tool} {arguments}: {text:?}");
        }
        succeeded += u32::from(answer["result"]["isError"] == false);
    }
    assert!(succeeded > 14, "{succeeded}");
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": URI })),
        (
            "prompts/get",
            json!({ "name": "why_does_this_hang", "arguments": { "recording": NASTY } }),
        ),
    ] {
        let answer = asking.ask(method, &params);
        assert!(answer["error"].is_null(), "{answer}");
        assert!(answer.to_string().len() < LONGEST, "{method}");
        let texts = [
            &answer["result"]["contents"][0]["text"],
            &answer["result"]["messages"][0]["content"]["text"],
        ];
        for text in texts.into_iter().filter_map(Value::as_str) {
            assert!(is_plain(text), "{method}: {text:?}");
        }
    }
    assert!(asking.end().success());
}
