//! Reading files written by a person or another tool.

use tapewright_schemas::event::Direction;
use tapewright_schemas::recording::{Document, DocumentError, FileKind};

fn error(text: &str) -> String {
    Document::read(text.to_owned())
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_documented_example_is_read() {
    let text = r#"{
  "version": "1",
  "mcptest_version": "1.3.0",
  "exchanges": [
    {
      "request":  { "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} },
      "response": { "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-03-26" } }
    },
    {
      "request":  { "jsonrpc": "2.0", "id": 2, "method": "tools/call" },
      "response": { "jsonrpc": "2.0", "id": 2, "result": {} }, "unknown": 1
    }
  ]
}"#;
    let document = Document::read(text).unwrap();
    assert_eq!(document.kind(), FileKind::Cassette);
    let recording = document.recording();
    let dirs: Vec<_> = recording.events.iter().map(|event| event.dir).collect();
    assert_eq!(
        dirs,
        [
            Direction::ToServer,
            Direction::ToClient,
            Direction::ToServer,
            Direction::ToClient
        ]
    );
    assert!(!recording.timed);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    assert_eq!(
        error("{\"version\": \"1\",\n  \"exchanges\": [,]}"),
        "line 2, column 17: byte 33 is not JSON"
    );
    assert_eq!(
        error("{\"version\":\"1\""),
        "line 1, column 15: the JSON text ends too early"
    );
    assert_eq!(
        error("{\"version\":1,\"exchanges\":[]}"),
        "unsupported `version` 1; expected the string \"1\""
    );
    assert_eq!(
        error("{\"version\":\"2\",\"exchanges\":[]}"),
        "unsupported `version` \"2\"; expected the string \"1\""
    );
    assert_eq!(error("{\"exchanges\":[]}"), "`/version` is missing or null");
    assert_eq!(
        error("{\"version\":\"1\"}"),
        "`/exchanges` is missing or null"
    );
    assert_eq!(
        error("{\"version\":\"1\",\"exchanges\":{}}"),
        "`/exchanges` must be an array"
    );
    assert_eq!(
        error(
            "{\"version\":\"1\",\"exchanges\":[{\"request\":{},\"response\":{}},{\"request\":{}}]}"
        ),
        "`/exchanges/1/response` is missing or null"
    );
    assert_eq!(
        error("[{\"server_label\":1,\"exchanges\":[]}]"),
        "`/0/server_label` must be a string"
    );
    assert_eq!(error("{\"a\":1}"), "not a tape, cassette or capture");
    assert_eq!(error("3"), "not a tape, cassette or capture");
    let bytes = b"{\n\"\xff\"}".to_vec();
    assert_eq!(
        Document::read(bytes),
        Err(DocumentError::NotUtf8 { line: 2 })
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(Document::read("\u{feff}{\"version\":\"1\",\"exchanges\":[]}\n").is_ok());
}
