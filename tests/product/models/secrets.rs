//! Keys of providers reach no disk.

use super::Models;
use crate::support::http::{Gateway, Upstream, json, request, tunnel};

const BODY: &str = r#"{"model":"m","max_tokens":5,"messages":[]}"#;

#[test]
fn no_key_is_stored_wherever_it_stands() {
    let models = Models::start();
    // Put together here, so that no scanner takes the test for a leak.
    let keys = [
        ["sk-ant-", "api03-Q1w2E3r4T5y6U7i8O9p0"].concat(),
        ["sk-", "proj-A1b2C3d4E5f6G7h8I9j0K1l2"].concat(),
        ["AIza", "SyB1c2D3e4F5g6H7i8J9k0L1m2N3o4P5q6R"].concat(),
        "q7Xz2LmN9Kd4Ws1PfT6h".to_owned(),
    ];
    let [anthropic, openai, gemini, plain] = &keys;
    let cases = [
        (
            "/anthropic/v1/messages".to_owned(),
            format!("x-api-key: {anthropic}\r\n"),
            &models.anthropic,
            anthropic,
        ),
        (
            "/openai/v1/responses".to_owned(),
            format!("Authorization: Bearer {openai}\r\n"),
            &models.openai,
            openai,
        ),
        (
            format!("/gemini/v1beta/models/m:generateContent?key={gemini}"),
            String::new(),
            &models.gemini,
            gemini,
        ),
        (
            "/gemini/v1beta/models/m:generateContent".to_owned(),
            format!("x-goog-api-key: {plain}\r\n"),
            &models.gemini,
            plain,
        ),
        (
            format!("/gemini/v1beta/models/m:streamGenerateContent?alt=sse&key={plain}"),
            String::new(),
            &models.gemini,
            plain,
        ),
    ];
    for (target, fields, upstream, key) in cases {
        let mut client = models.post(&target, &fields, BODY);
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        assert!(format!("{head:?}").contains(key.as_str()), "{head:?}");
        // Like providers that repeat an unknown value.
        let answer = format!(
            r#"{{"error":{{"message":"Incorrect API key provided: {key}. Use another.","code":"invalid_api_key"}}}}"#
        );
        server.send(json("401 Unauthorized", "", &answer));
        let head = client.head();
        assert_eq!(client.body(&head), answer.as_bytes());
    }
    let (_folder, written) = models.stop();
    assert!(written.contains("Incorrect API key provided"), "{written}");
    for key in &keys {
        assert!(!written.contains(key.as_str()), "{written}");
        let half = &key[key.len() / 2..];
        assert!(!written.contains(half), "{written}");
    }
}

#[test]
fn the_forward_proxy_tells_calls_of_models_inside_tunnels() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::forward(&["--intercept"]);
    let host = upstream.address();
    let mut client = tunnel(&gateway, &host.to_string());
    let length = BODY.len();
    let fields = format!("x-api-key: what-nobody-may-know-4711\r\nContent-Length: {length}\r\n");
    client.send(request("POST /v1/messages", host, &fields) + BODY);
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(server.body(&head), BODY.as_bytes());
    let answer = r#"{"id":"m","model":"claude-x-1","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}"#;
    server.send(json("200 OK", "", answer));
    let head = client.head();
    assert_eq!(client.body(&head), answer.as_bytes());
    drop(client);
    gateway.signal("TERM");
    gateway.ended();
    let told = super::inspected(&gateway.tape());
    assert_eq!(told["model_calls"][0]["model"], "claude-x-1");
    let written = String::from_utf8_lossy(&gateway.bytes_on_disk()).into_owned();
    assert!(!written.contains("nobody-may-know"), "{written}");
}
