//! `tapewright inspect` on recordings of HTTP.

use serde_json::{Value, json};

use super::golden::{folder, golden, run};

/// A gateway with two sessions and a request without one: each kind of failure.
fn tape() -> String {
    let mut lines = vec![
        json!({"tape": "1.2", "created": "2026-11-22T08:00:00.000Z", "by": "tapewright 0.1.0", "transport": "http",
               "label": "api", "max_message_bytes": 1_000, "redacted": true}),
    ];
    let mut opened = 0;
    let mut put = |session: u32, conduit: u32, event: Value| {
        let seq = lines.len();
        let mut line =
            json!({"seq": seq, "at_us": seq * 1_000, "session": session, "conduit": conduit});
        let members = line.as_object_mut().unwrap();
        members.extend(event.as_object().unwrap().clone());
        lines.push(line);
    };
    let mut add = |session: u32, conduit: u32, event: Value| {
        if conduit > opened {
            opened = conduit;
            let client = json!({"connection": conduit, "address": "127.0.0.1:9"});
            put(session, conduit, json!({"client": client}));
        }
        put(session, conduit, event);
    };
    let asks = |method: &str, target: &str, fields: Value| json!({"dir": "to_server", "request": {"method": method, "target": target, "version": "HTTP/1.1", "fields": fields}});
    let says = |status: u16, kind: &str| json!({"dir": "to_client", "response": {"status": status, "version": "HTTP/1.1", "fields": [["content-type", kind]]}});
    let message = |dir: &str, era: &str, message: Value| json!({"dir": dir, "era": era, "eol": "none", "message": message});
    let ends = |dir: &str, why: &str| json!({"dir": dir, "closed": why});
    let (up, down, end) = ("to_server", "to_client", "end of input");

    add(1, 1, json!({"began": "session id"}));
    add(1, 1, asks("POST", "/mcp", json!([])));
    add(
        1,
        1,
        message(
            up,
            "handshake",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
        ),
    );
    add(1, 1, ends(up, end));
    add(1, 1, says(200, "application/json"));
    add(
        1,
        1,
        json!({"added": {"request_us": 20, "response_us": 10}}),
    );
    add(
        1,
        1,
        message(
            down,
            "handshake",
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        ),
    );
    add(1, 1, ends(down, end));
    // A stream that its client resumes, and leaves.
    add(1, 2, asks("GET", "/mcp", json!([["last-event-id", "e-1"]])));
    add(1, 2, ends(up, end));
    add(1, 2, says(200, "text/event-stream; charset=utf-8"));
    add(
        1,
        2,
        json!({"dir": down, "sse": {"id": "e-2", "message": true}}),
    );
    add(
        1,
        2,
        message(
            down,
            "handshake",
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        ),
    );
    add(
        1,
        2,
        json!({"dir": down, "sse": {"comment": " still here", "message": false}}),
    );
    add(1, 2, ends(down, "receiver gone"));
    // The session is gone.
    add(1, 3, asks("POST", "/mcp?x=1", json!([])));
    add(
        1,
        3,
        message(
            up,
            "handshake",
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        ),
    );
    add(1, 3, ends(up, end));
    add(1, 3, says(404, "text/plain"));
    add(
        1,
        3,
        json!({"dir": down, "edited": {"what": "location", "before": "/a", "after": "/b"}}),
    );
    add(
        1,
        3,
        json!({"added": {"request_us": 900, "response_us": 100}}),
    );
    add(1, 3, ends(down, end));
    add(1, 3, json!({"ended": "not found"}));
    // Another one, whose server breaks off, and one that never answers.
    add(2, 4, asks("POST", "/mcp", json!([])));
    add(
        2,
        4,
        message(
            up,
            "stateless",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ),
    );
    add(2, 4, ends(up, end));
    add(2, 4, says(200, "text/event-stream"));
    add(2, 4, ends(down, "aborted"));
    add(2, 5, asks("DELETE", "/mcp", json!([])));
    add(2, 5, ends(up, end));
    add(2, 5, ends(down, "receiver gone"));
    // The recorder answers in place of a server; and a stream is still open at the end.
    add(0, 6, asks("GET", "/\u{1b}[2J", json!([])));
    add(0, 6, ends(up, end));
    add(
        0,
        6,
        json!({"dir": down, "response": {"status": 502, "version": "", "fields": [], "ours": "cannot connect"}}),
    );
    add(0, 6, ends(down, end));
    add(0, 7, asks("GET", "/mcp", json!([])));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn exchanges_are_told_for_people_and_for_programs() {
    let folder = folder(&[("api.tape.jsonl", &tape())]);
    let path = folder.path();
    golden("inspect_http", path, &["inspect", "api.tape.jsonl"]);
    golden(
        "inspect_http_json",
        path,
        &["inspect", "--json", "api.tape.jsonl"],
    );
    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&run(path, arguments).1).unwrap() };
    let told = json(&["inspect", "--json", "api.tape.jsonl"]);
    let schema = json(&["schema", "inspect"]);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&told)
        .map(|one| one.to_string())
        .collect();
    assert!(wrong.is_empty(), "not as its schema says: {wrong:?}");
    let mut members = told.as_object().unwrap().keys();
    assert!(members.all(|name| schema["properties"].get(name).is_some()));
    let (_, text, _) = run(path, &["inspect", "api.tape.jsonl"]);
    let control = |char: char| char != '\n' && char.is_control();
    assert!(
        !text.contains(control),
        "nothing of a peer moves the cursor"
    );
}

#[test]
fn a_cassette_tells_the_same_exchanges() {
    let folder = folder(&[("api.tape.jsonl", &tape())]);
    let path = folder.path();
    let told = |name: &str| -> Value {
        let (status, text, stderr) = run(path, &["inspect", "--json", name]);
        assert_eq!(status, 0, "{stderr}");
        serde_json::from_str(&text).unwrap()
    };
    let output = [
        "export",
        "api.tape.jsonl",
        "--as",
        "cassette",
        "-o",
        "api.json",
    ];
    let members = [
        "exchanges",
        "by_status",
        "ends",
        "errors_count",
        "streams",
        "edits",
        "added",
    ];
    let sessions = |report: &Value| -> Vec<Value> {
        let sessions = report["by_session"].as_array().unwrap().iter();
        let told = sessions.map(|one| {
            json!([
                one["session"],
                one["exchanges"],
                one["eras"],
                one["began"],
                one["ended"]
            ])
        });
        told.collect()
    };
    // Data that is specific to one recording is only included on request.
    for (times, told_of) in [(&["--cassette-times"][..], 7), (&[], 5)] {
        assert_eq!(run(path, &[&output[..], times].concat()).0, 0);
        let (tape, cassette) = (told("api.tape.jsonl"), told("api.json"));
        for member in &members[..told_of] {
            assert_eq!(cassette["http"][member], tape["http"][member], "{member}");
        }
        assert_eq!(sessions(&cassette), sessions(&tape));
    }
}
