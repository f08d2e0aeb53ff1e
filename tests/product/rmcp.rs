//! rmcp, the official Rust SDK, on both sides of the recorder.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rmcp::model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, Request};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use tapewright_schemas::event::Direction;
use tokio::process::Command;

use crate::support::{Tape, peer};

/// Keeps the server's messages in between.
#[derive(Clone, Default)]
struct Client {
    progress: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Client {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut seen = self.progress.lock().unwrap();
        seen.push(format!(
            "{} of {:?}: {:?}",
            progress.progress, progress.total, progress.message
        ));
    }
}

/// Talks with a server and returns what the client saw.
async fn transcript(command: Command) -> Vec<String> {
    let client = Client::default();
    let service = client
        .clone()
        .serve(TokioChildProcess::new(command).unwrap())
        .await
        .unwrap();
    let mut said = vec![format!("{:?}", service.peer_info())];
    let mut tools = service.list_all_tools().await.unwrap();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    said.push(format!("{tools:?}"));
    for tool in ["count", "large", "fail", "no-such-tool"] {
        let call = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new(tool)));
        let handle = service
            .send_cancellable_request(call, PeerRequestOptions::no_options())
            .await
            .unwrap();
        said.push(format!("{tool}: {:?}", handle.await_response().await));
    }
    let many = (0..40).map(|_| service.call_tool(CallToolRequestParams::new("count")));
    for answer in futures_join(many).await {
        said.push(answer);
    }
    service.cancel().await.unwrap();
    // How many had arrived when the client left is a race; their contents are not.
    let mut progress = client.progress.lock().unwrap().clone();
    progress.sort();
    progress.dedup();
    said.extend(progress);
    said
}

/// Calls at the same time, answers in order.
async fn futures_join<T: std::fmt::Debug>(
    calls: impl Iterator<Item = impl Future<Output = T>>,
) -> Vec<String> {
    let mut answers = Vec::new();
    for call in calls {
        answers.push(format!("{:?}", call.await));
    }
    answers
}

fn recorded(cassette: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    command
        .args(["record", "-o"])
        .arg(cassette)
        .arg("--")
        .arg(peer())
        .arg("rmcp");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_through_the_recorder_or_from_its_recording_is_the_session_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("rmcp.json");
    let mut direct = Command::new(peer());
    direct.arg("rmcp");
    let alone = transcript(direct).await;
    let through = transcript(recorded(&cassette)).await;
    assert_eq!(alone, through);
    assert!(
        alone.iter().any(|line| line.contains("counting")),
        "{alone:?}"
    );

    // And once more with the recording in place of the server.
    let mut replay = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    let report = folder.path().join("report.json");
    replay
        .arg("replay")
        .arg(&cassette)
        .arg("--report")
        .arg(&report);
    assert_eq!(transcript(replay).await, alone);
    let report = std::fs::read_to_string(&report).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["missed"], &report["unused"]),
        (&0.into(), &0.into())
    );

    let tape = Tape::read(&folder.path().join("rmcp.tape.jsonl"));
    let calls = tape.messages(Direction::ToServer);
    assert_eq!(
        calls
            .iter()
            .filter(|call| call.contains("\"tools/call\""))
            .count(),
        44
    );
    let results = tape.messages(Direction::ToClient);
    assert_eq!(
        results
            .iter()
            .filter(|result| result.contains("drei"))
            .count(),
        41
    );
    assert!(results.iter().any(|result| result.len() > 1 << 20));
}
