//! Our own server is judged by ourselves: through the recorder, by every invariant, with rmcp's
//! client, no finding.

use std::path::Path;
use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;
use tapewright_schemas::event::Direction;

use super::{PATIENCE, TAPE, every_call, library};
use crate::replay::replay_server::listening;
use crate::support::system::STOPPED;
use crate::support::{Tape, tapewright};

type Client = RunningService<RoleClient, ()>;

/// Uses everything that the server has; returns the number of answers.
async fn use_everything(client: &Client) -> usize {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 9, "{tools:?}");
    for (name, arguments) in every_call() {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(hints.read_only_hint, Some(true), "{name}");
        assert!(tool.title.is_some() && tool.description.is_some(), "{name}");
        let output = tool.output_schema.as_ref().unwrap();
        let output = Value::Object(output.as_ref().clone());
        let input = jsonschema::validator_for(&tool.schema_as_json_value()).unwrap();
        assert!(input.is_valid(&arguments), "{name}: {arguments}");
        let Value::Object(given) = arguments else {
            panic!("{name}");
        };
        let call = CallToolRequestParams::new(name).with_arguments(given);
        let result = client.call_tool(call).await.unwrap();
        assert_eq!(result.is_error, Some(false), "{name}: {result:?}");
        let told = result.structured_content.unwrap();
        let validator = jsonschema::validator_for(&output).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&told)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{told}");
    }
    let wrong = CallToolRequestParams::new("find_exchanges");
    let wrong = client.call_tool(wrong).await.unwrap();
    assert_eq!(wrong.is_error, Some(true), "{wrong:?}");
    let resources = client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 4, "{resources:?}");
    for resource in &resources {
        let read = ReadResourceRequestParams::new(resource.uri.clone());
        client.read_resource(read).await.unwrap();
    }
    let templates = client.list_all_resource_templates().await.unwrap();
    assert_eq!(templates.len(), 2, "{templates:?}");
    let one = format!("tapewright://recording/{TAPE}/exchange/15");
    let read = ReadResourceRequestParams::new(one);
    client.read_resource(read).await.unwrap();
    let missing = ReadResourceRequestParams::new("tapewright://recording/none");
    client.read_resource(missing).await.unwrap_err();
    let prompts = client.list_all_prompts().await.unwrap();
    for prompt in &prompts {
        let arguments = prompt.arguments.iter().flatten();
        let arguments = arguments.map(|one| (one.name.clone(), Value::from(TAPE)));
        let get =
            GetPromptRequestParams::new(prompt.name.clone()).with_arguments(arguments.collect());
        let got = client.get_prompt(get).await.unwrap();
        assert_eq!(got.messages.len(), 1, "{got:?}");
    }
    prompts.len()
}

/// The options of a recorder that fails on any finding.
const STRICT: [&str; 4] = ["record", "--check", "--all", "--strict"];

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio_nothing_is_found() {
    let folder = library();
    let tapes = tempfile::tempdir().unwrap();
    let tape = tapes.path().join("own.tape.jsonl");
    let mut command = tokio::process::Command::from(tapewright());
    command
        .args(STRICT)
        .arg("-o")
        .arg(&tape)
        .args(["--", env!("CARGO_BIN_EXE_tapewright"), "mcp"])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(streams).await.unwrap();
    assert_eq!(use_everything(&client).await, 3);
    client.cancel().await.unwrap();
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output());
    let output = output.await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    judged_clean(&tape);
}

async fn over_http(mode: ClientLifecycleMode) {
    let folder = library();
    let mut command = tapewright();
    command
        .arg("mcp")
        .arg(folder.path())
        .args(["--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let replay_server = listening(&mut command);
    let tapes = tempfile::tempdir().unwrap();
    let tape = tapes.path().join("own.tape.jsonl");
    let mut recorder = tapewright();
    recorder
        .args(STRICT)
        .args([
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &replay_server.url,
            "-o",
        ])
        .arg(&tape)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let gateway = listening(&mut recorder);
    // The tests may run with a proxy in the environment.
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(gateway.url.as_str());
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
    assert_eq!(use_everything(&client).await, 3);
    client.cancel().await.unwrap();
    assert_eq!(gateway.stop("TERM"), Some(STOPPED));
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    judged_clean(&tape);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_nothing_is_found() {
    over_http(ClientLifecycleMode::Initialize).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_without_sessions_nothing_is_found() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    over_http(ClientLifecycleMode::Discover { preferred_versions }).await;
}

/// The tape is complete, contains the requests, and no findings.
fn judged_clean(tape: &Path) {
    let told = Tape::read(tape);
    assert!(told.is_complete(), "{:?}", told.ending);
    let asked = told.messages(Direction::ToServer);
    let calls = asked.iter().filter(|line| line.contains("\"tools/call\""));
    assert_eq!(calls.count(), every_call().len() + 1);
    let mut judge = tapewright();
    judge
        .args(["compliance", "invariants", "--all", "--capture"])
        .arg(tape);
    let output = judge.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
