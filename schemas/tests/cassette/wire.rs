//! Real sessions, as they crossed the wire.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::support::{Script, ids};

/// The lines of a wire sample: whether the client sent them, and their bytes.
fn lines(name: &str) -> Vec<(bool, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/wire")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let mut streams: [Vec<u8>; 2] = Default::default();
    let mut found = Vec::new();
    for read in text.lines() {
        let read: Value = serde_json::from_str(read).unwrap();
        let client = match read[1].as_str().unwrap() {
            "c2s" | ">" => true,
            "s2c" | "<" => false,
            _ => continue,
        };
        // Every character represents one byte.
        let bytes = read[2]
            .as_str()
            .unwrap()
            .chars()
            .map(|char| u8::try_from(u32::from(char)).unwrap());
        let stream = &mut streams[usize::from(client)];
        stream.extend(bytes);
        while let Some(end) = stream.iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = stream.drain(..=end).collect();
            line.pop();
            found.push((client, line));
        }
    }
    found
}

fn check(name: &str) {
    let lines = lines(name);
    assert!(lines.len() > 20, "{name}");
    let mut script = Script::default();
    let mut requests = Vec::new();
    let mut answers = HashMap::new();
    let mut texts = Vec::new();
    for (client, line) in lines {
        let value: Value = serde_json::from_slice(&line).unwrap();
        let has = |name: &str| value.get(name).is_some();
        if client && has("method") && has("id") {
            requests.push(value["id"].to_string());
        } else if !client && !has("method") {
            answers.insert(value["id"].to_string(), value.clone());
        }
        texts.push(String::from_utf8(line.clone()).unwrap());
        script = if client {
            script.c(line)
        } else {
            script.s(line)
        };
    }
    let (text, cassette) = script.cassette();
    // Lists have an element on each line.
    let on_one_line = text.replace("\n        ", "");
    let answered: Vec<_> = requests
        .iter()
        .filter(|id| answers.contains_key(*id))
        .cloned()
        .collect();
    assert_eq!(ids(&cassette), answered, "{name}");
    for exchange in cassette["exchanges"].as_array().unwrap() {
        assert_eq!(
            exchange["response"],
            answers[&exchange["request"]["id"].to_string()]
        );
    }
    let unanswered = cassette
        .get("unanswered")
        .map_or(0, |all| all.as_array().unwrap().len());
    assert_eq!(unanswered, requests.len() - answered.len(), "{name}");
    assert!(
        texts.iter().all(|line| on_one_line.contains(line.as_str())),
        "{name}"
    );
    let capture = script.capture();
    assert!(capture["server_capabilities"].is_object());
}

#[test]
fn a_typescript_session_is_whole() {
    check("ts1-everything.952.jsonl");
}

#[test]
fn a_python_session_is_whole() {
    check("py-everything.881.jsonl");
}
