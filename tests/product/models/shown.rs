//! A recording of an agent, shown as one conversation.

use std::path::Path;

use serde_json::{Value, json};
use tapewright_schemas::published;

use super::{Models, inspected, links};
use crate::support::http::{chunk, json as answered};
use crate::support::tapewright;

/// The output of `show` for a file or a folder, and its exit status.
fn shown(path: &Path, options: &[&str]) -> (Option<i32>, String) {
    let output = tapewright()
        .arg("show")
        .arg(path)
        .args(options)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

fn rows(path: &Path, options: &[&str]) -> Vec<Value> {
    let (_, text) = shown(path, &[&["--json"], options].concat());
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema = published::find(name).unwrap();
    let schema: Value = serde_json::from_str(schema.text()).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// The names of these calls: the method and the tool, or the model.
fn names(rows: &[Value]) -> Vec<String> {
    let name = |row: &Value| match row["kind"].as_str() {
        Some("model") => format!("{}: {}", row["part"], row["model"]).replace('"', ""),
        _ => format!("{}: {}", row["part"], row["tool"]).replace('"', ""),
    };
    rows.iter().map(name).collect()
}

#[test]
fn the_tapes_of_a_recording_are_one_conversation_in_order_of_time() {
    let (folder, _) = links::recording();
    let run = folder.path().join("run");
    let all = rows(&run, &[]);
    let (model, other) = ("models: claude-unheard-of", "fs: ");
    let [list, read, ping] = ["list", "read", "ping"].map(|tool| format!("{other}{tool}"));
    assert_eq!(names(&all), [model, &list, &read, &ping, model]);
    let times: Vec<f64> = all
        .iter()
        .map(|row| row["at_ms"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let (models, exchanges) = (validator("model-call"), validator("exchange"));
    for row in &all {
        let is_model = row["kind"] == "model";
        let validator = if is_model { &models } else { &exchanges };
        let wrong: Vec<String> = validator
            .iter_errors(row)
            .map(|one| one.to_string())
            .collect();
        assert!(wrong.is_empty(), "{row}: {wrong:?}");
        let file = row["file"].as_str().unwrap();
        assert!(file.ends_with(".tape.jsonl"), "{row}");
    }
    let uses = &all[0]["tool_uses"];
    assert_eq!(uses[0]["by"]["tool"], "read");
    assert_eq!(uses[0]["by"]["seq"], all[2]["request_seq"]);
    assert_eq!(
        (&uses[2]["fate"], &uses[3]["fate"]),
        (&"elsewhere".into(), &"never".into())
    );
    assert_eq!(all[2]["asked_by"]["id"], "toolu_1");
    assert_eq!(all[2]["asked_by"]["model_call"], all[0]["request_seq"]);
    assert_eq!(all[2]["asked_by"]["file"], "models.tape.jsonl");
    assert_eq!(all[3].get("asked_by"), None);
    assert_eq!(all[0]["provider"], "anthropic");
    assert_eq!(
        (&all[0]["input_tokens"], &all[0]["output_tokens"]),
        (&3.into(), &2.into())
    );
    assert_eq!(all[0]["cost_usd_microcents"], Value::Null);
    text(&run);
    words(&run);
    alone(&run);
    a_recording_is_of_its_schema(&run);
}

/// The output for people.
fn text(run: &Path) {
    let (status, text) = shown(run, &[]);
    assert_eq!(status, Some(0));
    let lines: Vec<&str> = text.lines().collect();
    for (at, parts) in [
        (
            1,
            &[
                "  models  → anthropic claude-unheard-of ",
                "tool use, 3 tokens in, 2 out, cost unknown, asks for mcp__fs__read, mcp__fs__list, Bash,",
            ][..],
        ),
        (2, &["mcp__fs__read: read of fs, event "]),
        (
            4,
            &["Bash: done by the agent, or by a server that was not recorded"],
        ),
        (5, &["mcp__fs__write: never done"]),
        (
            6,
            &["  fs      → 1    tools/call list ", "  asked in event "],
        ),
        (
            7,
            &["  fs      → 2    tools/call read ", "of models.tape.jsonl"],
        ),
        (8, &["tools/call ping "]),
        (9, &["  models  → anthropic claude-unheard-of "]),
    ] {
        for part in parts {
            assert!(lines[at].contains(part), "{at} {part}: {text}");
        }
    }
    assert!(!lines[8].contains("asked in"), "{text}");
    assert!(
        lines[11].starts_with("3 exchanges, 2 calls of models"),
        "{text}"
    );
    let (_, text) = shown(run, &["--no-times"]);
    assert!(
        text.lines()
            .skip(1)
            .take(1)
            .all(|line| line.starts_with("        -  models")),
        "{text}"
    );
    let prices = run.with_file_name("prices.json");
    let list = json!({"date": "2026-11-25", "source": "a list",
        "models": {"claude-unheard-of": {"input": 1000.0, "output": 1000.0}}});
    std::fs::write(&prices, list.to_string()).unwrap();
    let (_, text) = shown(run, &["--prices", prices.to_str().unwrap()]);
    assert!(text.contains("0.50 ct"), "{text}");
}

/// The filter words, `--id` and `--full`.
fn words(run: &Path) {
    let (model, list, read) = ("models: claude-unheard-of", "fs: list", "fs: read");
    for (words, wanted) in [
        (&["kind:model"][..], &[model, model][..]),
        (&["kind:exchange", "-tool:ping"], &[list, read]),
        (&["tool:read"], &[model, read]),
        (&["--id", "toolu_1"], &[model, read]),
        (&["--id", "2"], &[read]),
        (&["model:CLAUDE", "tool:bash"], &[model]),
        (&["--full", "be brief"], &[]),
        (&["--full", "tool_result"], &[model]),
        (&["kind:model", "status:ok", "slow:<1m"], &[model, model]),
    ] {
        assert_eq!(names(&rows(run, words)), wanted, "{words:?}");
    }
    assert_eq!(shown(run, &["model:gpt"]).0, Some(3));
    let full = rows(run, &["--full", "kind:model"]);
    assert_eq!(full[0]["request"]["messages"][0]["content"], "go");
    assert_eq!(full[0]["answer"]["content"][0]["id"], "toolu_1");
    let (_, text) = shown(run, &["--full", "kind:model"]);
    assert!(text.contains("\"content\": \"go\""), "{text}");
}

/// A single tape contains nothing about the others.
fn alone(run: &Path) {
    let all = rows(&run.join("models.tape.jsonl"), &[]);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["tool_uses"][0]["fate"], Value::Null);
    assert_eq!(all[0]["tool_uses"][3]["name"], "mcp__fs__write");
    assert_eq!(all[0].get("part"), None);
    assert_eq!(rows(&run.join("fs.tape.jsonl"), &[]).len(), 3);
}

fn a_recording_is_of_its_schema(run: &Path) {
    let told = inspected(run);
    let wrong = |name: &str, value: &Value| {
        let validator = validator(name);
        let errors = validator.iter_errors(value);
        errors.map(|one| one.to_string()).collect::<Vec<String>>()
    };
    assert_eq!(wrong("recording", &told), [""; 0]);
    for part in told["parts"].as_array().unwrap() {
        assert_eq!(wrong("inspect", part), [""; 0]);
    }
    let mut other = told.clone();
    other["tools_asked"][0]["fate"] = json!("done");
    assert!(!wrong("recording", &other).is_empty());
}

#[test]
fn a_tape_of_one_gateway_shows_streams_errors_and_what_was_cut_short() {
    let models = Models::start();
    let body = r#"{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"sing"}]}"#;
    let mut client = models.post("/openai/v1/chat/completions", "", body);
    let mut server = models.openai.accept();
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    for event in [
        r#"{"id":"c-1","model":"gpt-x-1","choices":[{"index":0,"delta":{"role":"assistant","content":"la "}}]}"#,
        r#"{"id":"c-1","choices":[{"index":0,"delta":{"content":"la"},"finish_reason":"stop"}]}"#,
        r#"{"id":"c-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":8}}}"#,
        "[DONE]",
    ] {
        server.send(chunk(format!("data: {event}\n\n")));
    }
    server.send("0\r\n\r\n");
    let head = client.head();
    client.body(&head);
    let mut refused = models.post(
        "/anthropic/v1/messages",
        "",
        r#"{"model":"claude-x","max_tokens":1,"messages":[]}"#,
    );
    let mut server = models.anthropic.accept();
    let head = server.head();
    server.body(&head);
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"too many"}}"#;
    server.send(answered("529 Overloaded", "Connection: close\r\n", error));
    let head = refused.head();
    refused.body(&head);
    let (folder, _) = models.stop();
    let tape = folder.path().join("run/models.tape.jsonl");
    let all = rows(&tape, &["--full"]);
    assert_eq!(all.len(), 2, "{all:?}");
    let song = &all[0];
    assert_eq!(
        (&song["id"], &song["stream"]),
        (&"c-1".into(), &true.into())
    );
    assert_eq!(
        (&song["cache_read_tokens"], &song["finish"]),
        (&8.into(), &"stop".into())
    );
    assert!(song["first_token_ms"].is_number(), "{song}");
    // A stream is shown as its combined response.
    assert_eq!(song["answer"]["choices"][0]["message"]["content"], "la la");
    assert_eq!(all[1]["http_status"], 529);
    assert_eq!(all[1]["answer"]["error"]["message"], "too many");
    let (_, text) = shown(&tape, &["status:error"]);
    assert!(
        text.contains("anthropic claude-x ") && text.contains("too many"),
        "{text}"
    );
    let (_, text) = shown(&tape, &["--id", "c-1"]);
    assert!(
        text.contains("9 tokens in (8 cached), 2 out, ") && text.contains("first token after"),
        "{text}"
    );
}
