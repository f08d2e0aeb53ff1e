//! The behaviour of rmcp, the official Rust SDK, with a fault, and that the tape is complete.

use std::path::Path;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientRequest, Request};
use rmcp::service::PeerRequestOptions;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _, service::RunningService};
use tokio::process::Command;

use super::effects;
use crate::support::{Tape, eventually, peer};

const PATIENCE: Duration = Duration::from_secs(60);

/// The result of one call, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Answered,
    /// It gave up after its timeout.
    TimedOut,
    Failed,
}
use Did::{Answered, Failed, TimedOut};

/// Calls a tool; if no answer is expected, with a timeout.
pub(crate) async fn call(
    service: &RunningService<RoleClient, ()>,
    tool: &'static str,
    never: bool,
) -> Did {
    let call = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new(tool)));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = never.then_some(Duration::from_secs(1));
    let Ok(handle) = service.send_cancellable_request(call, options).await else {
        return Failed;
    };
    match handle.await_response().await {
        Ok(_) => Answered,
        Err(rmcp::ServiceError::Timeout { .. }) => TimedOut,
        Err(_) => Failed,
    }
}

/// Three calls, the second of which is affected by a fault; `never` marks those without an answer.
async fn meet(fault: &str, never: [bool; 3], folder: &Path) -> Vec<Did> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    command
        .args(["record", "--fault", fault, "-o"])
        .arg(folder.join("run.json"))
        .arg("--")
        .arg(peer())
        .arg("rmcp");
    let service = ().serve(TokioChildProcess::new(command).unwrap()).await;
    let service = service.unwrap();
    let mut did = Vec::new();
    for never in never {
        did.push(call(&service, "count", never).await);
    }
    // A connection that was cut has already ended.
    drop(service.cancel().await);
    did
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_meets_faults_and_the_tape_is_whole() {
    let cells = [
        ("hang tool=count nth=2", [Answered, TimedOut, Answered]),
        (
            "slow tool=count nth=2 delay_ms=50",
            [Answered, Answered, Answered],
        ),
        ("wedged tool=count nth=2", [Answered, TimedOut, TimedOut]),
        (
            "recover_after tool=count failures=1",
            [TimedOut, Answered, Answered],
        ),
        ("reset tool=count nth=2", [Answered, Failed, Failed]),
        ("garbage tool=count nth=2", [Answered, Answered, Answered]),
    ];
    for (fault, wanted) in cells {
        let folder = tempfile::tempdir().unwrap();
        let never = wanted.map(|did| did == TimedOut);
        let did = meet(fault, never, folder.path()).await;
        assert_eq!(did, wanted, "{fault}");
        // Written last, once the recorder has finished everything else.
        let cassette = folder.path().join("run.json");
        assert!(eventually(PATIENCE, || cassette.exists()), "{fault}");
        let tape = Tape::read(&folder.path().join("run.tape.jsonl"));
        assert!(tape.is_complete(), "{fault}: {:?}", tape.ending);
        assert!(!effects(&tape).is_empty(), "{fault}");
        let cassette = std::fs::read_to_string(cassette).unwrap();
        assert!(cassette.contains("\"fault\": "), "{fault}: {cassette}");
    }
}
