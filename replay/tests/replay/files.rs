//! Which files can be served.

use tapewright_replay::Script;

use super::stage::{Stage, cassette, exchange};

/// The example of the format's documentation.
const SEED: &str = r#"{
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

#[test]
fn a_hand_written_cassette_works_as_it_stands() {
    let mut stage = Stage::new(SEED);
    let answer = stage.ask("0", "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert_eq!(answer["result"]["serverInfo"]["name"], "issues");
    let call = r#"{"name":"search","arguments":{"query":"login bug"}}"#;
    let answer = stage.ask("\"b\"", "tools/call", call);
    assert_eq!(answer["id"], "b");
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "issue #42: login bug"
    );
}

#[test]
fn answers_stand_on_one_line() {
    let mut stage = Stage::new(
        "{\"version\":\"1\",\"exchanges\":[{\"request\":{\"method\":\"m\"},\"response\":{\n  \"id\": 1,\r\n  \"result\": {\"a\": \"x\\ny  z\"}\n}}]}",
    );
    let said = stage.send(r#"{"jsonrpc":"2.0","id":9,"method":"m"}"#);
    assert_eq!(said, [r#"{"id":9,"result":{"a":"x\ny  z"}}"#]);
}

#[test]
fn a_response_without_an_id_gets_one() {
    let mut stage = Stage::new(&cassette(&[
        r#"{"request":{"method":"m"},"response":{"result":{}}}"#,
        r#"{"request":{"method":"n"},"response":{}}"#,
    ]));
    assert_eq!(
        stage.send(r#"{"id":9,"method":"m"}"#),
        [r#"{"id":9,"result":{}}"#]
    );
    assert_eq!(stage.send(r#"{"id":9,"method":"n"}"#), [r#"{"id":9}"#]);
}

#[test]
fn envelopes_keep_their_own_text() {
    let result =
        r#"{"big":123456789012345678901234567890,"f":1.0,"z":null,"a":"\u00e9","dup":1,"dup":2}"#;
    let mut stage = Stage::new(&cassette(&[&exchange("m", "", result)]));
    let said = stage.send(r#"{"id":1.0,"method":"m"}"#);
    assert_eq!(
        said,
        [format!(r#"{{"jsonrpc":"2.0","id":1.0,"result":{result}}}"#)]
    );
}

#[test]
fn a_capture_and_a_tape_are_served() {
    let capture = r#"{"server_label":"s","exchanges":[{"request":{"id":1,"method":"initialize"},"response":{"id":1,"result":{"a":1}}},{"request":{"method":"notifications/initialized"}}]}"#;
    assert_eq!(Stage::new(capture).result("initialize", ""), r#"{"a":1}"#);
    let tape = concat!(
        r#"{"tape":"1.0","created":"","by":"","transport":"stdio","label":"x","command":[],"pid":1}"#,
        "\n",
        r#"{"seq":1,"at_us":1000,"dir":"to_server","message":{"jsonrpc":"2.0","id":4,"method":"m"}}"#,
        "\n",
        r#"{"seq":2,"at_us":2000,"dir":"to_client","message":{"jsonrpc":"2.0","id":4,"result":7}}"#,
        "\n",
    );
    assert_eq!(Stage::new(tape).result("m", ""), "7");
    let script = Script::load(tape.as_bytes().to_vec()).unwrap();
    assert!(script.incomplete().is_some(), "the tape has no footer");
}

#[test]
fn a_request_with_a_null_id_is_answered_from_a_tape() {
    let tape = concat!(
        r#"{"tape":"1.0","created":"","by":"","transport":"stdio","label":"x","command":[],"pid":1}"#,
        "\n",
        r#"{"seq":1,"at_us":1000,"dir":"to_server","message":{"jsonrpc":"2.0","id":null,"method":"m"}}"#,
        "\n",
        r#"{"seq":2,"at_us":2000,"dir":"to_client","message":{"jsonrpc":"2.0","id":null,"result":7}}"#,
        "\n",
    );
    assert_eq!(
        Stage::new(tape).send(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#),
        [r#"{"jsonrpc":"2.0","id":null,"result":7}"#]
    );
}

#[test]
fn probes_are_served_beside_the_session() {
    let recording = r#"{"version":"1","exchanges":[{"request":{"id":0,"method":"initialize"},"response":{"id":0,"result":1}}],
      "probes":[{"request":{"id":9,"method":"server/discover"},"response":{"id":9,"error":{"code":-32601,"message":"no"}}}]}"#;
    let mut stage = Stage::new(recording);
    assert_eq!(
        stage.ask("3", "server/discover", "")["error"]["code"],
        -32601
    );
    assert_eq!(stage.result("initialize", ""), "1");
}

#[test]
fn a_bad_file_is_refused_with_the_place() {
    let deep = format!("{{\"version\":\"1\",\"exchanges\":{}", "[".repeat(2 << 20));
    let cases = [
        ("", "not a recording"),
        ("{\n  \"version\": \"1\",\n  oops\n}", "line 3, column 3"),
        (&SEED[..SEED.len() - 20], "line 10, column 121"),
        (
            &SEED.replace("\"1\",", "\"2\","),
            "unsupported `version` \"2\"",
        ),
        (&SEED.replace("\"1\",", "1,"), "unsupported `version` 1"),
        (
            &SEED.replace("\"version\": \"1\",", ""),
            "`/version` is missing",
        ),
        (
            &SEED.replace("exchanges", "exchange"),
            "`/exchanges` is missing",
        ),
        (
            &SEED.replace("response", "answer"),
            "`/exchanges/0/response` is missing",
        ),
        (
            r#"{"version":"1","exchanges":[7]}"#,
            "`/exchanges/0` must be an object",
        ),
        (
            r#"{"version":"1","exchanges":{}}"#,
            "`/exchanges` must be an array",
        ),
        (
            r#"{"version":"1","exchanges":[{"request":1,"response":{}}]}"#,
            "`/exchanges/0/request`",
        ),
        (
            r#"{"version":"1","exchanges":[{"request":{},"response":{},"stream":[{"from":"me"}]}]}"#,
            "`/exchanges/0/stream/0/from`",
        ),
        (
            r#"{"version":"1","exchanges":[],"messages":[{"from":"client","base64":"?"}]}"#,
            "`/messages/0/base64`",
        ),
        (&deep, "nested deeper"),
        ("{}", "not a tape"),
        (r#"{"version":"1","exchanges":[]} x"#, "line 1, column 32"),
    ];
    for (text, expected) in cases {
        let error = Script::load(text.as_bytes().to_vec())
            .map(drop)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
}
