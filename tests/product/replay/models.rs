//! The model side of a recording, served as the provider: an agent runs without the real one.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::replay_server::{ReplayServer, listening};
use crate::support::http::{Gateway, Upstream, Wire, pair, request};
use crate::support::system::STOPPED;
use crate::support::tapewright;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A request, and the provider's answer.
struct Call {
    target: &'static str,
    asked: String,
    status: &'static str,
    kind: &'static str,
    body: String,
}

fn call(target: &'static str, asked: &str, kind: &'static str, body: &str) -> Call {
    Call {
        target,
        asked: asked.to_owned(),
        status: "200 OK",
        kind,
        body: body.to_owned(),
    }
}

const CHAT: &str = r#"{"model":"gpt-x","messages":[{"role":"user","content":"go"}]}"#;
const CHAT_TURN: &str = r#"{"model":"gpt-x","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"call_ID","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_ID","content":"a.txt"}]}"#;
const MESSAGES: &str =
    r#"{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"go"}]}"#;
const CONTENTS: &str = r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#;
const RESPONSES: &str = r#"{"model":"gpt-x","input":"go"}"#;

fn streamed(asked: &str) -> String {
    asked.replacen('{', r#"{"stream":true,"#, 1)
}

/// Every wire, streamed and not.
fn calls() -> Vec<Call> {
    let message = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x-1","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let events = format!(
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{}}}\n\nevent: ping\ndata: {{\"type\":\"ping\"}}\n\nevent: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n",
        r#"{"id":"msg_2","model":"claude-x-1","usage":{"input_tokens":3,"output_tokens":1}}"#
    );
    let completion = r#"{"id":"c1","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}"#;
    let chunks = "data: {\"id\":\"c2\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}}]}\n\n: waiting\n\ndata: {\"id\":\"c2\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let response = r#"{"id":"resp_1","object":"response","model":"gpt-x","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}"#;
    let response_events = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_2\",\"output\":[]}}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_2\",\"status\":\"completed\",\"output\":[]}}\n\n";
    let gemini = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hey"}]},"finishReason":"STOP"}]}"#;
    vec![
        call("/v1/messages?beta=true", MESSAGES, JSON, message),
        call(
            "/v1/messages",
            &streamed(MESSAGES).replace("go", "stream"),
            EVENTS,
            &events,
        ),
        call("/v1/chat/completions", &streamed(CHAT), EVENTS, chunks),
        call(
            "/v1/chat/completions",
            &CHAT_TURN.replace("ID", "1"),
            JSON,
            completion,
        ),
        call("/v1/responses", RESPONSES, JSON, response),
        call(
            "/v1/responses",
            &streamed(RESPONSES).replace("go", "stream"),
            EVENTS,
            response_events,
        ),
        call(
            "/v1beta/models/gemini-x:generateContent",
            CONTENTS,
            JSON,
            gemini,
        ),
        call(
            "/v1beta/models/gemini-y:streamGenerateContent?alt=sse",
            CONTENTS,
            EVENTS,
            &format!("data: {gemini}\n\n"),
        ),
        call(
            "/v1beta/models/gemini-z:streamGenerateContent",
            CONTENTS,
            JSON,
            &format!("[{gemini}]"),
        ),
    ]
}

fn send(client: &mut Wire, host: std::net::SocketAddr, target: &str, body: &str) {
    let length = body.len();
    let fields = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
    client.send(request(&format!("POST {target}"), host, &fields) + body);
}

/// Records these calls through a gateway.
fn record(calls: &[Call]) -> (Upstream, Gateway) {
    let (upstream, mut gateway) = pair(&[]);
    for call in calls {
        let mut client = gateway.connect();
        send(&mut client, gateway.address, call.target, &call.asked);
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        let Call {
            status, kind, body, ..
        } = call;
        server.send(format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nRetry-After: 7\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        let head = client.head();
        assert_eq!(client.body(&head), body.as_bytes());
    }
    gateway.signal("TERM");
    gateway.ended();
    (upstream, gateway)
}

/// The recording of an agent, in a folder.
pub(crate) fn recording(folder: &Path) {
    let (_upstream, gateway) = record(&calls()[..1]);
    std::fs::create_dir_all(folder).unwrap();
    // In the form of `record --models`.
    let tape = std::fs::read_to_string(gateway.tape()).unwrap();
    let tape = tape.replacen('{', r#"{"part_of":"one","#, 1);
    std::fs::write(folder.join("models.tape.jsonl"), tape).unwrap();
}

/// Serves a tape as the provider.
pub(super) fn serve(tape: &Path, options: &[&str]) -> ReplayServer {
    let mut command = tapewright();
    command
        .arg("replay")
        .arg(tape)
        .args(["--models", "--report"])
        .arg(tape.with_file_name("report.json"))
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    listening(&mut command)
}

fn report(tape: &Path) -> Value {
    let text = std::fs::read(tape.with_file_name("report.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The status of an answer, its type and its body.
fn asked(replay_server: &ReplayServer, target: &str, body: &str) -> (u16, String, String) {
    let mut client = replay_server.connect();
    send(&mut client, replay_server.address, target, body);
    let head = client.head();
    let kind = head.get("content-type").unwrap_or_default().to_owned();
    let body = String::from_utf8(client.body(&head)).unwrap();
    (head.status(), kind, body)
}

#[test]
fn every_wire_is_answered_byte_by_byte_without_its_provider() {
    let calls = calls();
    let (upstream, gateway) = record(&calls);
    drop(upstream);
    let replay_server = serve(&gateway.tape(), &["--strict"]);
    for call in &calls {
        let told = asked(&replay_server, call.target, &call.asked);
        assert_eq!(
            told,
            (200, call.kind.to_owned(), call.body.clone()),
            "{}",
            call.target
        );
    }
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let report = report(&gateway.tape());
    let models = &report["models"];
    assert_eq!(
        (&models["served"], &models["missed"]),
        (&9.into(), &0.into())
    );
    assert_eq!(models["unused"], 0);
    assert_eq!(models.get("converted"), None);
}

#[test]
fn another_id_of_a_tool_use_is_the_same_call_and_another_result_is_a_miss() {
    let calls = calls();
    let (_upstream, gateway) = record(&calls[2..4]);
    let replay_server = serve(&gateway.tape(), &["--strict"]);
    let target = "/openai/v1/chat/completions";
    let other = CHAT_TURN.replace("ID", "zzz");
    let (status, _, body) = asked(&replay_server, target, &other);
    assert_eq!((status, &body), (200, &calls[3].body));
    let (status, _, body) = asked(&replay_server, target, &other.replace("a.txt", "b.txt"));
    assert_eq!(status, 400);
    let error: Value = serde_json::from_str(&body).unwrap();
    let text = error["error"]["message"].as_str().unwrap();
    assert!(
        text.contains(
            "$.messages[2].content[0].content[0].text: recorded `\"a.txt\"`, asked `\"b.txt\"`"
        ),
        "{text}"
    );
    assert_eq!(replay_server.stop("TERM"), Some(1));
    let report = report(&gateway.tape());
    assert_eq!(report["models"]["misses"][0]["reason"], "never_recorded");
    assert_eq!(report["models"]["unused"], 1);
}

#[test]
fn errors_come_as_recorded_and_the_next_try_gets_the_next_answer() {
    let mut calls = calls();
    calls.truncate(1);
    let mut busy = call(
        "/v1/messages",
        MESSAGES,
        JSON,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    );
    busy.status = "529 Overloaded";
    calls.insert(0, busy);
    let (_upstream, gateway) = record(&calls);
    let replay_server = serve(&gateway.tape(), &[]);
    let mut client = replay_server.connect();
    send(&mut client, replay_server.address, "/v1/messages", MESSAGES);
    let head = client.head();
    assert_eq!((head.status(), head.get("retry-after")), (529, Some("7")));
    assert_eq!(client.body(&head), calls[0].body.as_bytes());
    assert_eq!(
        asked(&replay_server, "/v1/messages", MESSAGES).2,
        calls[1].body
    );
    let (status, _, body) = asked(&replay_server, "/v1/messages", MESSAGES);
    assert_eq!(status, 400);
    assert!(body.contains("all recordings of this model call"), "{body}");
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn a_stream_that_was_recorded_whole_is_made_and_said() {
    let calls = calls();
    let (_upstream, gateway) = record(&calls[..1]);
    let replay_server = serve(&gateway.tape(), &[]);
    let (status, kind, body) = asked(&replay_server, "/v1/messages", &streamed(MESSAGES));
    assert_eq!((status, kind.as_str()), (200, EVENTS));
    assert!(
        body.starts_with("event: message_start\n") && body.contains("hello"),
        "{body}"
    );
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let converted = &report(&gateway.tape())["models"]["converted"][0];
    assert_eq!(
        (&converted["recorded"], &converted["sent"]),
        (&"whole".into(), &"events".into())
    );
}

#[test]
fn recorded_waits_are_kept_on_the_way() {
    let (upstream, mut gateway) = pair(&[]);
    let mut client = gateway.connect();
    send(
        &mut client,
        gateway.address,
        "/v1/chat/completions",
        &streamed(CHAT),
    );
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: {\"choices\":[]}\n\n");
    let head = client.head();
    // The recorded wait is made, not waited for.
    std::thread::sleep(Duration::from_millis(300));
    server.send("data: [DONE]\n\n");
    drop(server);
    client.body(&head);
    drop(client);
    gateway.signal("TERM");
    gateway.ended();
    let replay_server = serve(&gateway.tape(), &["--pace", "recorded"]);
    let began = Instant::now();
    let (_, _, body) = asked(&replay_server, "/v1/chat/completions", &streamed(CHAT));
    assert_eq!(body, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n");
    assert!(began.elapsed() >= Duration::from_millis(290));
    replay_server.stop("TERM");
}

#[test]
fn a_key_in_a_prompt_matches_its_placeholder() {
    let key = ["sk-ant-", "api03-A1b2C3d4E5f6G7h8I9j0K1l2"].concat();
    let mut calls = calls();
    calls.truncate(1);
    calls[0].asked = MESSAGES.replace("go", &format!("use {key} now"));
    let (_upstream, gateway) = record(&calls);
    assert!(!String::from_utf8_lossy(&gateway.bytes_on_disk()).contains("A1b2C3d4"));
    let replay_server = serve(&gateway.tape(), &["--strict"]);
    assert_eq!(
        asked(&replay_server, "/v1/messages", &calls[0].asked).0,
        200
    );
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn what_is_no_call_of_a_model_and_was_not_recorded_is_404() {
    let (_upstream, gateway) = record(&calls()[..1]);
    let replay_server = serve(&gateway.tape(), &[]);
    for (target, part) in [
        ("/v1/messages/count_tokens", "\"not_found_error\""),
        ("/v1/embeddings", "\"error\":{\"message\""),
        ("/v1beta/models/m:countTokens", "\"code\":404"),
    ] {
        let (status, _, body) = asked(&replay_server, target, "{}");
        assert_eq!(status, 404, "{target}");
        assert!(body.contains(part), "{body}");
    }
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    assert_eq!(report(&gateway.tape())["models"]["others_missed"], 3);
}

#[test]
fn a_recording_without_calls_of_models_is_no_provider() {
    let folder = tempfile::tempdir().unwrap();
    let output = super::command(folder.path(), &["--models"]);
    std::fs::write(
        folder.path().join("tape.json"),
        super::cassette(&[super::opening()]),
    )
    .unwrap();
    let mut output = output;
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("no model calls in `tape.json`"), "{text}");
}

/// A run of two calls, of which the first asks for a tool.
fn run_of_an_agent() -> Vec<Call> {
    let first = r#"{"model":"claude-x","max_tokens":50,"system":"Be brief.","messages":[{"role":"user","content":"What is in a.txt?"}],"tools":[{"name":"mcp__fs__read","description":"d","input_schema":{"type":"object"}}]}"#;
    let wish =
        r#"{"type":"tool_use","id":"toolu_1","name":"mcp__fs__read","input":{"path":"a.txt"}}"#;
    let turn = format!(
        r#"{{"role":"user","content":"What is in a.txt?"}},{{"role":"assistant","content":[{wish}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"hello"}}]}}"#
    );
    let second = first.replace(r#"{"role":"user","content":"What is in a.txt?"}"#, &turn);
    let answer = |content: &str, why: &str| {
        format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"claude-x-1","content":[{content}],"stop_reason":"{why}","usage":{{"input_tokens":10,"output_tokens":2}}}}"#
        )
    };
    let said = r#"{"type":"text","text":"It says hello."}"#;
    vec![
        call("/v1/messages", first, JSON, &answer(wish, "tool_use")),
        call("/v1/messages", &second, JSON, &answer(said, "end_turn")),
    ]
}

fn exported(gateway: &Gateway, options: &[&str]) -> std::process::Output {
    let mut command = tapewright();
    command.arg("export").arg(gateway.tape()).args(options);
    command.current_dir(gateway.folder.path()).output().unwrap()
}

#[test]
fn the_run_of_an_agent_becomes_its_cassette() {
    let (_upstream, gateway) = record(&run_of_an_agent());
    let output = exported(&gateway, &["--as", "agent-cassette"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let cassette: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(cassette["schema_version"], "v1");
    assert_eq!(cassette["user_prompt"], "What is in a.txt?");
    assert_eq!(cassette["system_prompt"], "Be brief.");
    let trace = &cassette["trace"];
    assert_eq!(trace["tool_calls"][0]["name"], "read");
    assert_eq!(trace["tool_calls"][0]["server"], "fs");
    assert_eq!(
        trace["tool_results"][0]["result"]["content"][0]["text"],
        "hello"
    );
    assert_eq!(trace["final_response"], "It says hello.");
    assert_eq!(trace["conversation"]["tokens"]["total"], 24);
}

#[test]
fn the_run_of_an_agent_becomes_a_suite_that_holds() {
    let (_upstream, gateway) = record(&run_of_an_agent());
    let output = exported(&gateway, &["--as", "suite", "-o", "agent.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let folder = gateway.folder.path();
    let suite = std::fs::read_to_string(folder.join("agent.yaml")).unwrap();
    assert!(
        suite.contains("agents:") && suite.contains("It says hello."),
        "{suite}"
    );
    let made: Vec<_> = std::fs::read_dir(folder.join("cassettes"))
        .unwrap()
        .collect();
    assert_eq!(made.len(), 1);
    // There is neither a key nor a server.
    let mut run = tapewright();
    run.args(["run", "agent.yaml", "--no-env-file"])
        .current_dir(folder);
    let output = run.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}\n{suite}");
    assert!(text.contains("[replay]"), "{text}");
}

/// An agent as a shell script: it asks a model, and a server that it starts. `$RECORDER` and
/// `$PEER` and its `$SERVER` are in its environment.
const AGENT: &str = r#"
"$PEER" post "$ANTHROPIC_BASE_URL/v1/messages" 'BODY'
echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | "$RECORDER" record --label fs -- "$SERVER" answer log
"#;

fn agent(folder: &Path, server: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = tapewright();
    command
        .args(arguments)
        .args(["--", "sh", "-c", &AGENT.replace("BODY", MESSAGES)])
        .env("RECORDER", env!("CARGO_BIN_EXE_tapewright"))
        .env("PEER", crate::support::peer())
        .env("SERVER", server)
        .env("TAPEWRIGHT_HOME", folder.join("home"))
        .env_remove("ANTHROPIC_BASE_URL")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn an_agent_runs_again_without_its_provider_its_server_and_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start();
    let provider = format!("anthropic=http://{}", upstream.address());
    let record = ["record", "--models", "-o", "run/", "--provider", &provider];
    let mut command = agent(folder.path(), &crate::support::peer(), &record);
    let child = command.spawn().unwrap();
    let answer = &calls()[0].body;
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(crate::support::http::json(
        "200 OK",
        "Connection: close\r\n",
        answer,
    ));
    let live = child.wait_with_output().unwrap();
    assert_eq!(live.status.code(), Some(0), "{live:?}");
    drop(upstream);
    let replay = [
        "replay",
        "run/",
        "--models",
        "--strict",
        "--report",
        "report.json",
    ];
    let gone = folder.path().join("no-such-server");
    let again = agent(folder.path(), &gone, &replay).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let said = String::from_utf8(again.stdout).unwrap();
    assert!(
        said.contains(answer.as_str()) && said.contains(r#""id":1"#),
        "{said}"
    );
    assert_eq!(said, String::from_utf8(live.stdout).unwrap());
}
