//! Tests of the protocol.

use std::sync::Arc;

use serde_json::{Value, json};
use tapewright_proxy::upstream::ReadResult;
use tapewright_schemas::redact::{Rules, Settings};
use tempfile::TempDir;

use super::Sources;
use super::conversation::{Conversation, Heard};
use super::recordings::Recordings;
use super::server::Server;

/// A server of a folder without recordings.
pub(super) fn server() -> (TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        recordings: Recordings::open(Some(folder.path())).unwrap(),
        recorders: Vec::new(),
        rules: Arc::new(Rules::new(&Settings::default()).unwrap()),
    };
    (folder, Server::new(sources))
}

/// Reads until the end.
pub(super) fn rest(mut read: impl FnMut(&mut Vec<u8>) -> ReadResult) -> String {
    let mut said = Vec::new();
    while read(&mut said) != ReadResult::End {}
    String::from_utf8(said).unwrap()
}

/// A conversation with a server of an empty folder.
struct Talk {
    conversation: Conversation,
    _folder: TempDir,
}

impl Talk {
    fn new() -> Self {
        let (folder, server) = server();
        Self {
            conversation: Conversation::new(server),
            _folder: folder,
        }
    }

    /// After `initialize`.
    fn begun() -> Self {
        let mut talk = Self::new();
        talk.ask("initialize", opening("2025-11-25"));
        talk
    }

    /// The answer to a line, if any.
    fn say(&mut self, line: &str) -> Option<Value> {
        let answer = match self.conversation.hear(line.as_bytes()) {
            Heard::Nothing | Heard::Cancelled { .. } => return None,
            Heard::Answer(line) => line,
            Heard::Work { work, .. } => work(),
        };
        Some(serde_json::from_str(&answer).unwrap())
    }

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        request["params"] = params;
        let answer = self.say(&request.to_string()).unwrap();
        assert_eq!(answer["id"], 1, "{answer}");
        answer
    }

    fn code(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params)["error"]["code"].clone()
    }
}

fn opening(revision: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client })
}

/// Parameters of a request without `initialize`.
fn alone(revision: &str) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}

#[test]
fn initialize_agrees_on_what_was_asked_for_or_on_the_newest() {
    for (wanted, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let answer = Talk::new().ask("initialize", opening(wanted));
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{wanted}");
    }
    for broken in [
        json!({}),
        json!({ "protocolVersion": "2025-11-25", "capabilities": {} }),
        json!({ "protocolVersion": 5, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } }),
        json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": 5 }, "clientInfo": { "name": "x", "version": "1" } }),
    ] {
        let mut talk = Talk::new();
        assert_eq!(talk.code("initialize", broken.clone()), -32602, "{broken}");
        // A second attempt is possible.
        let answer = talk.ask("initialize", opening("2025-06-18"));
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    }
}

#[test]
fn before_it_begins_a_client_may_ping_and_discover() {
    let mut talk = Talk::new();
    assert_eq!(
        talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        None
    );
    assert_eq!(talk.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(talk.code("tools/list", json!({})), -32602);
    assert_eq!(talk.code("server/discover", alone("2099-01-01")), -32022);
    let answer = talk.ask("server/discover", alone("2026-07-28"));
    let spoken = [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ];
    assert_eq!(answer["result"]["supportedVersions"], json!(spoken));
    assert_eq!(answer["result"]["resultType"], "complete");
    // `initialize` is still possible.
    let answer = talk.ask("initialize", opening("2025-11-25"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let answer = talk.ask("prompts/list", json!({}));
    assert_eq!(answer["result"]["resultType"], Value::Null);
}

#[test]
fn without_initialize_every_request_says_what_is_needed() {
    let mut talk = Talk::new();
    let answer = talk.ask("prompts/list", alone("2026-07-28"));
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["ttlMs"], 0);
    assert_eq!(answer["result"]["cacheScope"], "private");
    let answer = talk.ask("prompts/list", json!({}));
    let why = answer["error"]["message"].as_str().unwrap();
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        why.contains("protocolVersion") && why.contains("clientCapabilities"),
        "{why}"
    );
    assert_eq!(talk.code("ping", alone("2026-07-28")), -32601);
    assert_eq!(talk.code("initialize", alone("2026-07-28")), -32601);
    let answer = talk.ask("prompts/list", alone("2099-01-01"));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
}

#[test]
fn a_resource_that_is_missing_has_the_code_of_the_revision() {
    for (mut params, code) in [(json!({}), -32002), (alone("2026-07-28"), -32602)] {
        params["uri"] = "tapewright://recording/none".into();
        assert_eq!(Talk::begun().code("resources/read", params), code);
    }
}

#[test]
fn what_cannot_be_right_is_refused_with_its_id() {
    let mut talk = Talk::begun();
    for (method, params, code) in [
        ("nonsense", json!({}), -32601),
        ("resources/subscribe", json!({ "uri": "x" }), -32601),
        ("subscriptions/listen", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("ping", json!([]), -32600),
        ("tools/list", json!({ "_meta": 5 }), -32600),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({ "name": "nope" }), -32602),
        (
            "tools/call",
            json!({ "name": "list_recordings", "arguments": [] }),
            -32602,
        ),
        ("prompts/get", json!({ "name": 5 }), -32602),
        ("prompts/get", json!({ "name": "what_changed" }), -32602),
        ("resources/read", json!({ "uri": 5 }), -32602),
        ("resources/list", json!({ "cursor": "x" }), -32602),
        ("completion/complete", json!({}), -32602),
        ("server/discover", json!({}), -32602),
    ] {
        assert_eq!(talk.code(method, params.clone()), code, "{method} {params}");
    }
    let answer = talk.ask(&format!("\u{1b}[31m{}", "x".repeat(400)), json!({}));
    let told = answer["error"]["message"].as_str().unwrap();
    assert!(told.len() < 150 && !told.contains('\u{1b}'), "{told}");
}

#[test]
fn what_is_no_message_is_refused_or_ignored() {
    let mut talk = Talk::begun();
    for line in [
        "",
        "  ",
        "\r",
        "{",
        "nonsense",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"nonsense"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
    ] {
        assert_eq!(talk.say(line), None, "{line}");
    }
    for (line, id) in [
        ("null", Value::Null),
        ("5", Value::Null),
        ("[]", Value::Null),
        ("{}", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1}"#, Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            Value::Null,
        ),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            Value::Null,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Value::Null),
        (r#"{"id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
    ] {
        let answer = talk.say(line).unwrap();
        assert_eq!(answer["error"]["code"], -32600, "{line}");
        assert_eq!(answer["id"], id, "{line}");
    }
    for id in [
        "1",
        "-3",
        "9007199254740993",
        "1.0",
        r#""a\u0041""#,
        r#""""#,
    ] {
        let line = format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\r");
        let Heard::Answer(answer) = talk.conversation.hear(line.as_bytes()) else {
            panic!("{id}");
        };
        assert_eq!(
            answer,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
}
