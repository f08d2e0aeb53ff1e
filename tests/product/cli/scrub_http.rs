//! `tapewright scrub` on HTTP recordings by other tools: a canary in each member.

use std::cell::RefCell;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::golden::{folder, run};

/// Values that are only secret because of their place, and where each was put.
#[derive(Default)]
struct Canaries(RefCell<Vec<(String, String)>>);

impl Canaries {
    /// A new one, and its place.
    fn at(&self, place: &str) -> String {
        let mut all = self.0.borrow_mut();
        let number = all.len() + 1_000;
        let canary = format!("Qz7{number}vXk{}mP9", number * 7_919);
        all.push((canary.clone(), place.to_owned()));
        canary
    }

    /// `shape` with a canary for each `%`.
    fn within(&self, place: &str, shape: &str) -> String {
        let mut parts = shape.split('%');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text += &self.at(&format!("{place}: {shape}"));
            text += part;
        }
        text
    }

    /// The canaries that remain in a text.
    fn left(&self, text: &str) -> Vec<String> {
        let decoded: String = text
            .split('"')
            .filter_map(|word| STANDARD.decode(word).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        let all = self.0.borrow();
        let left = all
            .iter()
            .filter(|(canary, _)| text.contains(canary) || decoded.contains(canary));
        left.map(|(_, place)| place.clone()).collect()
    }
}

/// Names of fields, and values with a `%` in place of a secret.
const FIELDS: &[(&str, &str)] = &[
    ("authorization", "Bearer %"),
    ("proxy-authorization", "Basic %"),
    ("authentication-info", "nextnonce=\"%\""),
    ("cookie", "sid=%; theme=dark"),
    ("set-cookie", "session=%; Path=/; HttpOnly"),
    ("dpop", "%"),
    ("mcp-session-id", "%"),
    ("mcp-param-api-key", "%"),
    ("x-api-key", "%"),
    ("api-key", "%"),
    ("ocp-apim-subscription-key", "%"),
    ("private-token", "%"),
    ("x-access-token", "%"),
    ("x-acme-auth-token", "%"),
    ("x-amz-security-token", "%"),
    ("x-csrf-token", "%"),
    ("x-goog-api-key", "%"),
    ("x-password", "%"),
    ("x-service-secret", "%"),
    ("x-vault-token", "%"),
    ("x-note", "Authorization: Bearer %"),
    ("x-original-url", "/mcp?api_key=%"),
    ("referer", "https://a.example/?token=%"),
    ("refresh", "0; url=/next?access_token=%"),
    (
        "location",
        "https://login.example/cb?code=%&state=%&iss=https://i.example",
    ),
    ("location", "https://u:%@host.example/x"),
    ("content-location", "/x?access_token=%"),
    (
        "www-authenticate",
        "Bearer resource_metadata=\"https://a.example/.well-known/x?token=%\"",
    ),
];

/// Bodies that are not MCP messages, with a `%` in place of a secret.
const BODIES: &[&str] = &[
    r#"{"access_token":"%","refresh_token":"%","id_token":"%","token_type":"Bearer"}"#,
    r#"{"client_id":"c","client_secret":"%","registration_access_token":"%"}"#,
    r#"{"device_code":"%","user_code":"%","verification_uri_complete":"https://a.example/d?user_code=%"}"#,
    "grant_type=authorization_code&code=%&code_verifier=%&client_secret=%",
    "<a href=\"https://a.example/callback?code=%&state=%\">on</a>",
    "{\n  \"access_token\": \"%\"\n}",
];

fn fields(canaries: &Canaries, place: &str) -> Value {
    let field = |(name, shape): &(&str, &str)| {
        let value = canaries.within(&format!("{place} {name}"), shape);
        json!([name, value])
    };
    FIELDS.iter().map(field).collect()
}

fn bodies(canaries: &Canaries, place: &str) -> Vec<Value> {
    let mut bodies = Vec::new();
    for shape in BODIES {
        let text = canaries.within(place, shape);
        if !shape.contains('\n')
            && let Ok(body) = serde_json::from_str::<Value>(&text)
        {
            bodies.push(json!({"json": body}));
        }
        bodies.push(json!({"text": canaries.within(place, shape)}));
    }
    let binary = canaries.within(&format!("{place} base64"), "access_token=%&x=1");
    let binary = [b"\xff\xfe", binary.as_bytes()].concat();
    bodies.push(json!({"base64": STANDARD.encode(binary), "why": "not UTF-8"}));
    let head = canaries.within(
        &format!("{place} clipped"),
        r#"{"access_token":"%","scope":""#,
    );
    bodies.push(json!({"clipped": {"len": 900_000, "head": head}, "why": "too long"}));
    bodies
}

fn tape(canaries: &Canaries) -> String {
    let mut lines = vec![
        json!({"tape": "1.2", "created": "2026-11-22T08:00:00.000Z", "by": "somebody else", "transport": "http",
               "label": "x", "max_message_bytes": 1000, "redacted": false}),
    ];
    let mut add = |event: Value| {
        let seq = lines.len();
        let mut line = json!({"seq": seq, "at_us": seq * 10, "session": 1, "conduit": 1});
        let members = line.as_object_mut().unwrap();
        members.extend(event.as_object().unwrap().clone());
        lines.push(line);
    };
    let within = |place: &str, shape: &str| canaries.within(place, shape);
    add(json!({"server": within("server", "https://user:%@h.example/mcp?api_key=%")}));
    add(json!({"client": {"connection": 1, "address": "127.0.0.1:9"}}));
    add(json!({"began": within("began", "session id https://h.example/?token=%")}));
    add(json!({"dir": "to_server", "request": {
        "method": "POST", "target": within("target", "/mcp?token=%&api_key=%&x=1"), "version": "HTTP/1.1",
        "fields": fields(canaries, "request")}}));
    let arguments = json!({"api_key": canaries.at("arguments")});
    add(
        json!({"dir": "to_server", "era": "handshake", "eol": "none", "message": {"jsonrpc": "2.0", "id": 1,
               "method": "tools/call", "params": {"name": "x", "arguments": arguments}}}),
    );
    for body in bodies(canaries, "body to the server") {
        add(json!({"dir": "to_server", "body": body}));
    }
    add(json!({"dir": "to_server", "trailers": [["x-api-key", canaries.at("request trailers")]]}));
    add(json!({"dir": "to_server", "closed": "end of input"}));
    add(json!({"dir": "to_client", "response": {
        "status": 200, "version": "HTTP/1.1", "fields": fields(canaries, "response"),
        "ours": within("ours", "cannot reach https://u:%@h.example/?token=%"),
        "ours_detail": within("ours detail", "cannot reach https://u:%@h.example/?token=%")}}));
    for (what, shape) in [
        ("location", "https://u:%@a.example/?access_token=%"),
        ("endpoint", "/messages?sessionId=%"),
        ("header", "Authorization: Bearer %"),
        (
            "www-authenticate",
            "Bearer resource_metadata=\"https://a.example/?token=%\"",
        ),
    ] {
        add(json!({"dir": "to_client", "edited": {
            "what": what, "before": within("before", shape), "after": within("after", shape)}}));
    }
    add(json!({"dir": "to_client", "sse": {"event": "endpoint", "message": true}}));
    // Another exchange comes between the event and its data.
    add(
        json!({"conduit": 2, "dir": "to_client", "sse": {"comment": "still here", "message": false}}),
    );
    add(json!({"dir": "to_client", "body": {"text": within("endpoint", "/messages?sessionId=%")}}));
    add(json!({"dir": "to_client", "sse": {
        "id": within("sse id", "token=%"), "event": within("sse event", "x?token=%"),
        "comment": within("sse comment", "password: %"), "message": false}}));
    for body in bodies(canaries, "body to the client") {
        add(json!({"dir": "to_client", "body": body}));
    }
    add(
        json!({"dir": "to_client", "trailers": [["x-access-token", canaries.at("response trailers")]]}),
    );
    add(
        json!({"dir": "to_client", "faulted": within("effect", "x (error): https://a.example/?token=% password=%")}),
    );
    add(json!({"dir": "to_client", "faulted": {
        "fault": within("fault", "https://a.example/?token=%"), "kind": "slow", "did": "delayed", "by_us": 5}}));
    add(
        json!({"dir": "to_client", "era": "handshake", "eol": "none", "message": {"jsonrpc": "2.0", "id": 1,
               "result": {"client_secret": canaries.at("result")}}}),
    );
    add(json!({"dir": "to_client", "closed": "end of input"}));
    add(json!({"ended": within("ended", "deleted at https://a.example/?token=%")}));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn cassette(canaries: &Canaries) -> String {
    let within = |place: &str, shape: &str| canaries.within(place, shape);
    let http = |place: &str| {
        let edits: Vec<Value> = [
            ("location", "https://u:%@a.example/?access_token=%"),
            ("endpoint", "/messages?sessionId=%"),
            ("header", "Authorization: Bearer %"),
        ]
        .iter()
        .map(|(what, shape)| {
            json!({"what": what, "before": within(place, shape), "after": within(place, shape)})
        })
        .collect();
        json!({
            "conduit": 1, "method": "POST", "path": within(place, "/mcp?token=%&api_key=%"), "status": 200,
            "at_ms": 1.0, "ended": "complete", "ours": within(place, "cannot reach https://u:%@h.example/?token=%"),
            "ours_detail": within(place, "cannot reach https://u:%@h.example/?token=%"),
            "request": fields(canaries, &format!("{place} request")),
            "request_trailers": [["x-api-key", canaries.at(place)]],
            "response": fields(canaries, &format!("{place} response")),
            "trailers": [["x-access-token", canaries.at(place)]],
            "edits": edits,
        })
    };
    let sse = |place: &str| json!({"id": within(place, "token=%"), "event": "x", "comment": within(place, "password: %")});
    let entries = |place: &str| {
        let mut entries = vec![
            json!({"from": "server", "sse": sse(place), "message": {"jsonrpc": "2.0", "method": "notifications/x",
                   "params": {"client_secret": canaries.at(place)}}}),
            json!({"from": "server", "sse": {"event": "endpoint"},
                   "body": {"text": within(place, "/messages?sessionId=%")}}),
            json!({"from": "server", "text": within(place, "password=%")}),
            json!({"from": "server", "clipped": {"len": 9_000, "head": within(place, "{\"access_token\":\"%\",\"x\":\"")}}),
            json!({"from": "client", "why": within(place, "x (error): https://a.example/?token=%")}),
            json!({"from": "client", "mark": "faulted", "effect": {
                   "fault": within(place, "https://a.example/?token=%"), "kind": "drop", "did": "dropped"}}),
        ];
        let line = [b"\xff", within(place, "access_token=%").as_bytes()].concat();
        entries.push(json!({"from": "server", "base64": STANDARD.encode(line)}));
        let bodies = bodies(canaries, place).into_iter();
        entries.extend(bodies.map(|body| json!({"from": "server", "body": body})));
        entries
    };
    let request = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x"}});
    let cassette = json!({
        "version": "1",
        "meta": {"label": "x", "upstream": within("meta", "https://u:%@h.example/?api_key=%")},
        "exchanges": [{
            "request": request(1), "response": {"jsonrpc": "2.0", "id": 1, "result": {}},
            "http": http("exchange"), "via": {"conduit": 2, "sse": sse("via")}, "stream": entries("stream"),
            "fault": within("fault", "x (error): token=%"),
        }],
        "messages": entries("messages"),
        "unanswered": [{"request": request(2), "why": "cancelled", "http": http("unanswered"), "stream": entries("unanswered stream")}],
        "http": [{"after": 1, "session": 1, "http": http("http"), "stream": entries("http stream")}],
        "sessions": [{"session": 1, "began": within("began", "session id https://a.example/?token=%"), "ended": "deleted"}],
    });
    serde_json::to_string_pretty(&cassette).unwrap()
}

/// Scrubs a file with this name; checks the output of `--check` and the scrubbed file.
fn scrubbed(name: &str, text: &str, canaries: &Canaries) -> tempfile::TempDir {
    let folder = folder(&[(name, text)]);
    assert!(!canaries.left(text).is_empty());
    let (status, told, stderr) = run(folder.path(), &["scrub", "--check", name]);
    assert_eq!(status, 1, "{stderr}");
    assert_eq!(
        canaries.left(&told),
        Vec::<String>::new(),
        "a check tells none"
    );
    let (status, _, stderr) = run(folder.path(), &["scrub", name]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let clean = fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(canaries.left(&clean), Vec::<String>::new());
    let again = run(folder.path(), &["scrub", "--check", name]);
    assert_eq!(again, (0, String::new(), String::new()), "once is enough");
    let (status, told, stderr) = run(folder.path(), &["inspect", name]);
    assert_eq!((status, stderr.as_str()), (0, ""), "{told}");
    let (status, _, stderr) = run(folder.path(), &["replay", name]);
    assert_eq!(status, 0, "{stderr}");
    folder
}

#[test]
fn no_canary_survives_in_any_member_of_a_tape() {
    let canaries = Canaries::default();
    let tape = tape(&canaries);
    let folder = scrubbed("x.tape.jsonl", &tape, &canaries);
    let clean = fs::read_to_string(folder.path().join("x.tape.jsonl")).unwrap();
    assert_eq!(clean.lines().count(), tape.lines().count());
    assert!(
        clean.contains("theme=") && clean.contains("Path=/; HttpOnly"),
        "no more than that"
    );
}

#[test]
fn no_canary_survives_in_any_member_of_a_cassette() {
    let canaries = Canaries::default();
    let cassette = cassette(&canaries);
    let folder = scrubbed("x.json", &cassette, &canaries);
    let clean = fs::read_to_string(folder.path().join("x.json")).unwrap();
    assert_eq!(clean.lines().count(), cassette.lines().count());
    assert!(
        clean.contains("theme=") && clean.contains("Path=/; HttpOnly"),
        "no more than that"
    );
}
