//! rmcp, the official Rust SDK, over streamable HTTP on both sides of the gateway.

#![expect(
    deprecated,
    reason = "sampling is deprecated, and has to pass all the same"
)]

mod client;
mod faults;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use tapewright_schemas::event::{Direction, EventBody};

use self::client::{Lifecycle, talk};
use self::server::Server;
use crate::replay::replay_server::listening;
use crate::support::system::STOPPED;
use crate::support::{Tape, signal, tapewright, wait};

const PATIENCE: Duration = Duration::from_secs(60);

/// The number of concurrent clients.
const CLIENTS: usize = 6;

/// A gateway in front of `upstream`, and its URL.
fn gateway(upstream: &str, cassette: &Path, durability: &str, options: &[&str]) -> (Child, String) {
    let mut child = tapewright()
        .args(["record", "--listen", "127.0.0.1:0", "--upstream", upstream])
        .args(["--durability", durability])
        .args(options)
        .arg("-o")
        .arg(cassette)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    (child, said["listening"].as_str().unwrap().to_owned())
}

/// What several clients saw that talked with one server at the same time.
async fn talk_at_once(url: &str, lifecycle: Lifecycle) -> Vec<Vec<String>> {
    let clients = (0..CLIENTS).map(|number| {
        let url = url.to_owned();
        tokio::spawn(async move { talk(&url, &format!("client {number}"), lifecycle).await })
    });
    let mut transcripts = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        transcripts.push(client.await.unwrap());
    }
    transcripts
}

/// Sessions without and with the gateway; and the tape of the latter.
async fn compare(lifecycle: Lifecycle, durability: &str) -> (Vec<Vec<String>>, Tape) {
    let server = Server::start().await;
    let direct = talk_at_once(&server.url, lifecycle).await;
    assert!(server.all_cancelled(CLIENTS, PATIENCE), "direct");

    let folder = tempfile::tempdir().unwrap();
    let (mut child, url) = gateway(
        &server.url,
        &folder.path().join("rmcp.json"),
        durability,
        &[],
    );
    let through = talk_at_once(&url, lifecycle).await;
    // A call that the client gave up is given up at the server, too.
    assert!(
        server.all_cancelled(2 * CLIENTS, PATIENCE),
        "through the gateway"
    );
    signal(child.id(), "TERM");
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(STOPPED));
    for (alone, behind) in direct.iter().zip(&through) {
        assert_eq!(alone, behind);
    }
    let tape = Tape::read(&folder.path().join("rmcp.tape.jsonl"));
    assert!(tape.is_complete(), "{:?}", tape.ending);

    // The same clients at once, with the recording in place of the server.
    let mut command = tapewright();
    command
        .current_dir(folder.path())
        .args(["replay", "rmcp.json", "--listen", "127.0.0.1:0"])
        .args(["--report", "report.json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let replay_server = listening(&mut command);
    let replayed = talk_at_once(&replay_server.url, lifecycle).await;
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    for (alone, replayed) in direct.iter().zip(&replayed) {
        assert_eq!(alone, replayed);
    }
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["missed"], 0, "{report}");
    (through, tape)
}

fn count(messages: &[String], part: &str) -> usize {
    messages.iter().filter(|text| text.contains(part)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_the_handshake_era_pass_as_without_the_gateway() {
    for durability in ["queue", "written"] {
        let (transcripts, tape) = compare(Lifecycle::Handshake, durability).await;
        let said = transcripts[0].join("\n");
        for part in ["step 3", "a model said: yes", "a user said", "echo 19"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let asked = tape.messages(Direction::ToServer);
        let told = tape.messages(Direction::ToClient);
        assert_eq!(count(&asked, "\"initialize\""), CLIENTS);
        assert_eq!(count(&asked, "\"tools/call\""), CLIENTS * client::CALLS);
        assert_eq!(count(&asked, "notifications/cancelled"), CLIENTS);
        assert_eq!(count(&told, "\"sampling/createMessage\""), CLIENTS);
        assert_eq!(count(&told, "\"elicitation/create\""), CLIENTS);
        // Three steps, and the sign that the call to be given up has begun.
        assert_eq!(count(&told, "notifications/progress"), CLIENTS * 4);

        // Each session contains the messages of one client only.
        let mut speakers: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for event in &tape.events {
            let EventBody::Message { payload, .. } = &event.body else {
                continue;
            };
            let text = String::from_utf8_lossy(payload.kept()).into_owned();
            for number in 0..CLIENTS {
                let name = format!("client {number}");
                if text.contains(&format!("\"{name}\"")) {
                    speakers.entry(event.session).or_default().insert(name);
                }
            }
        }
        let all: BTreeSet<_> = speakers.values().cloned().collect();
        assert_eq!(all.len(), CLIENTS, "{speakers:?}");
        assert!(all.iter().all(|names| names.len() == 1), "{speakers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_era_passes_as_without_the_gateway() {
    let (transcripts, tape) = compare(Lifecycle::Stateless, "queue").await;
    let said = transcripts[0].join("\n");
    assert!(
        said.contains("step 3") && said.contains("echo 19"),
        "{said}"
    );
    let asked = tape.messages(Direction::ToServer);
    assert_eq!(count(&asked, "\"initialize\""), 0);
    assert_eq!(count(&asked, "\"server/discover\""), CLIENTS);
    assert_eq!(
        count(&asked, "\"tools/call\""),
        CLIENTS * client::CALLS_STATELESS
    );
}
