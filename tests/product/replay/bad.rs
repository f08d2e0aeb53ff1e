//! Files that cannot be served: each error has a position, and a hint.

use std::fs;
use std::path::Path;

use crate::cli::golden::golden;

/// Files by the name of their error.
const BAD: &[(&str, &str)] = &[
    ("empty", ""),
    ("blank", " \n\n"),
    ("not_json", "hello: world\n"),
    ("yaml", "version: \"1\"\nexchanges: []\n"),
    ("no_object", "[1, 2"),
    ("a_number", "17"),
    (
        "cut",
        "{\"version\":\"1\",\"exchanges\":[{\"request\":{\"jsonrpc\":\"2.0\",\"id\":1",
    ),
    (
        "second_line",
        "{\n  \"version\": \"1\",\n  \"exchanges\": [,]\n}",
    ),
    ("trailing", "{\"version\":\"1\",\"exchanges\":[]} {}"),
    ("comment", "{\"version\":\"1\", // ours\n\"exchanges\":[]}"),
    (
        "bad_escape",
        "{\"version\":\"1\",\"exchanges\":[],\"x\":\"\\q\"}",
    ),
    (
        "control",
        "{\"version\":\"1\",\"exchanges\":[],\"x\":\"a\tb\"}",
    ),
    (
        "bad_number",
        "{\"version\":\"1\",\"exchanges\":[],\"x\":01}",
    ),
    ("no_version", "{\"exchanges\":[]}"),
    ("version_number", "{\"version\":1,\"exchanges\":[]}"),
    ("version_2", "{\"version\":\"2\",\"exchanges\":[]}"),
    ("version_null", "{\"version\":null,\"exchanges\":[]}"),
    ("no_exchanges", "{\"version\":\"1\"}"),
    ("exchanges_object", "{\"version\":\"1\",\"exchanges\":{}}"),
    ("exchange_number", "{\"version\":\"1\",\"exchanges\":[3]}"),
    (
        "no_request",
        "{\"version\":\"1\",\"exchanges\":[{\"response\":{\"id\":1,\"result\":{}}}]}",
    ),
    (
        "no_response",
        "{\"version\":\"1\",\"exchanges\":[{\"request\":{\"id\":1,\"method\":\"x\"}}]}",
    ),
    (
        "request_text",
        "{\"version\":\"1\",\"exchanges\":[{\"request\":\"x\",\"response\":{\"id\":1,\"result\":{}}}]}",
    ),
    (
        "response_null",
        "{\"version\":\"1\",\"exchanges\":[{\"request\":{\"id\":1,\"method\":\"x\"},\"response\":null}]}",
    ),
    (
        "agent_cassette",
        "{\"schema_version\":\"v1\",\"agent_name\":\"a\",\"model\":\"m\",\"trace\":{}}",
    ),
    (
        "unanswered_number",
        "{\"version\":\"1\",\"exchanges\":[],\"unanswered\":[3]}",
    ),
    (
        "messages_text",
        "{\"version\":\"1\",\"exchanges\":[],\"messages\":\"x\"}",
    ),
    (
        "tape_of_the_future",
        "{\"tape\":\"9.0\",\"created\":\"2026-11-21T04:00:00Z\",\"by\":\"x\",\"transport\":\"stdio\",\"label\":\"l\",\"pid\":1}\n",
    ),
    (
        "tape_broken_amid",
        "{\"tape\":\"1.0\",\"created\":\"2026-11-21T04:00:00Z\",\"by\":\"x\",\"transport\":\"stdio\",\"label\":\"l\",\"pid\":1}\n{\"seq\":1,\"at_us\":1,\"dir\":\"sideways\"}\n{\"seq\":2,\"at_us\":2,\"closed\":\"end of input\",\"dir\":\"to_client\"}\n",
    ),
];

fn refused(case: &str, folder: &Path) {
    golden(
        &format!("replay_bad/{case}"),
        folder,
        &["replay", "tape.json"],
    );
}

#[test]
fn bad_recordings_are_refused_with_their_place() {
    for (case, text) in BAD {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tape.json"), text).unwrap();
        refused(case, folder.path());
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = b"{\"version\":\"1\",\"exchanges\":[],\"x\":\"\xff\xfe\"}";
    fs::write(folder.path().join("tape.json"), bytes).unwrap();
    refused("not_utf8", folder.path());
}

#[test]
fn two_megabytes_of_nesting_are_refused() {
    for (case, open, close) in [
        ("nested_arrays", "[", "]"),
        ("nested_objects", "{\"a\":", "}"),
    ] {
        let depth = (2 << 20) / open.len();
        let result = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let text = format!(
            "{{\"version\":\"1\",\"exchanges\":[{{\"request\":{{\"id\":1,\"method\":\"x\"}},\"response\":{{\"id\":1,\"result\":{result}}}}}]}}"
        );
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tape.json"), text).unwrap();
        refused(case, folder.path());
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused("missing", folder.path());
    fs::create_dir(folder.path().join("tape.json")).unwrap();
    refused("folder", folder.path());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let minimal = "{\"version\":\"1\",\"exchanges\":[]}";
    fs::write(folder.path().join("tape.json"), minimal).unwrap();
    for (case, options) in [
        ("option_match", &["--match", "fuzzy"][..]),
        ("option_ignore", &["--ignore", "params"]),
        ("option_map", &["--map", "/home/ann"]),
        ("option_map_relative", &["--map", "/home/ann=here"]),
        ("option_pace", &["--pace", "-1"]),
        ("option_pace_cap", &["--pace-cap", "soon"]),
        ("option_output", &["-o", "tape.json"]),
        ("option_report", &["--report", "missing/"]),
        ("option_listen", &["--listen", "0.0.0.0:0"]),
        ("option_listen_word", &["--listen", "here"]),
        ("option_pattern", &["--redact-pattern", "("]),
        ("option_exhausted", &["--exhausted", "forever"]),
    ] {
        let arguments = [&["replay", "tape.json"][..], options].concat();
        golden(&format!("replay_bad/{case}"), folder.path(), &arguments);
    }
}

/// The documented minimal cassette, hand-written and unmodified.
#[test]
fn a_cassette_written_by_hand_is_served_as_it_stands() {
    let text = r#"{
  "version": "1",
  "exchanges": [
    {
      "request":  { "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} },
      "response": { "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": { "name": "issues", "version": "1.0" } } }
    },
    {
      "request":  { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "search", "arguments": { "query": "login bug" } } },
      "response": { "jsonrpc": "2.0", "id": 2, "result": { "content": [ { "type": "text", "text": "issue #42: login bug" } ] } }
    }
  ]
}"#;
    let folder = tempfile::tempdir().unwrap();
    let mut session = super::session(folder.path(), text, &["--strict"]);
    let opened = super::ask(
        &mut session,
        1,
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"other","version":"9"}}"#,
    );
    assert_eq!(opened["result"]["serverInfo"]["name"], "issues");
    let found = super::ask(
        &mut session,
        2,
        "tools/call",
        r#"{"arguments":{"query":"login bug"},"name":"search"}"#,
    );
    assert_eq!(
        found["result"]["content"][0]["text"],
        "issue #42: login bug"
    );
    assert_eq!(session.finish(super::LIMIT).code(), Some(0));
}
