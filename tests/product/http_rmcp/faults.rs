//! The behaviour of rmcp over streamable HTTP with a fault, and that the tape and the other
//! sessions are unharmed.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _, service::RunningService};
use tapewright_schemas::event::Direction;

use super::server::Server;
use super::{PATIENCE, gateway};
use crate::faults::effects;
use crate::faults::rmcp::Did::{self, Answered, TimedOut};
use crate::faults::rmcp::call;
use crate::support::system::STOPPED;
use crate::support::{Tape, signal, wait};

async fn connect(url: &str) -> RunningService<RoleClient, ()> {
    // The tests may run with a proxy in the environment.
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::with_client(http, config);
    ().serve(transport).await.unwrap()
}

/// Three calls of a client, one of which is affected by a fault, next to another session.
async fn meet(fault: &str, never: [bool; 3]) -> (Vec<Did>, Tape, String) {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("run.json");
    let options = ["--fault", fault];
    let (mut child, url) = gateway(&server.url, &cassette, "queue", &options);
    let (client, other) = (connect(&url).await, connect(&url).await);
    assert_eq!(call(&other, "steps", false).await, Answered, "{fault}");
    let mut did = Vec::new();
    for never in never {
        did.push(call(&client, "echo", never).await);
    }
    assert_eq!(call(&other, "steps", false).await, Answered, "{fault}");
    for service in [client, other] {
        // A session that a fault has ended is already over.
        drop(service.cancel().await);
    }
    signal(child.id(), "TERM");
    let ended = wait(&mut child, PATIENCE);
    assert_eq!(ended.code(), Some(STOPPED), "{fault}");
    let tape = Tape::read(&folder.path().join("run.tape.jsonl"));
    (did, tape, std::fs::read_to_string(cassette).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_meets_faults_and_other_sessions_are_unharmed() {
    let cells = [
        ("hang tool=echo nth=2", [Answered, TimedOut, Answered]),
        (
            "slow tool=echo nth=2 delay_ms=50",
            [Answered, Answered, Answered],
        ),
        ("wedged tool=echo nth=2", [Answered, TimedOut, TimedOut]),
        (
            "recover_after tool=echo failures=1",
            [TimedOut, Answered, Answered],
        ),
        // It does not retry, and only notices by its own timeout.
        ("reset tool=echo nth=2", [Answered, TimedOut, Answered]),
        // It begins a new session and retries there.
        (
            "http-status tool=echo nth=2 status=404",
            [Answered, Answered, Answered],
        ),
        // It skips the event that is not a message.
        ("garbage tool=echo nth=2", [Answered, Answered, Answered]),
    ];
    for (fault, wanted) in cells {
        let never = wanted.map(|did| did == TimedOut);
        let (did, tape, cassette) = meet(fault, never).await;
        assert_eq!(did, wanted, "{fault}");
        assert!(tape.is_complete(), "{fault}: {:?}", tape.ending);
        assert!(!effects(&tape).is_empty(), "{fault}");
        let asked = tape.messages(Direction::ToServer);
        let begun = asked.iter().filter(|text| text.contains("\"initialize\""));
        let sessions = if fault.contains("404") { 3 } else { 2 };
        assert_eq!(begun.count(), sessions, "{fault}");
        assert!(cassette.contains("\"fault\": "), "{fault}: {cassette}");
    }
}
