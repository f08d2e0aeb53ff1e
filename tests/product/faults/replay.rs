//! Faults on a recording that is served again.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::call;
use crate::support::system::without_console;
use crate::support::{Session, peer, record, tapewright};

/// Records two calls, and replays them with a fault.
fn replayed(folder: &Path, fault: &str) -> Session {
    let cassette = folder.join("run.json");
    let log = folder.join("log");
    let peer = peer();
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&["-o", cassette.to_str().unwrap()], &server));
    for id in 1..=2 {
        session.send(&call(id, "search"));
        session.line();
    }
    assert_eq!(session.finish(Duration::from_secs(60)).code(), Some(0));

    let mut command = tapewright();
    command
        .arg("replay")
        .arg(&cassette)
        .args(["--fault", fault, "--exhausted", "last"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    without_console(&mut command);
    Session::start(command)
}

#[test]
fn a_replayed_call_fails_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = replayed(folder.path(), "error tool=search nth=2");
    session.send(&call(8, "search"));
    assert!(session.line().contains("\"result\""));
    session.send(&call(9, "search"));
    let line = session.line();
    assert!(line.contains("\"id\":9,\"error\""), "{line}");
    assert_eq!(session.finish(Duration::from_secs(60)).code(), Some(0));
}

#[test]
fn a_recording_whose_connection_was_cut_ends_with_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = replayed(folder.path(), "reset tool=search");
    session.send(&call(8, "search"));
    assert_eq!(session.line(), "");
    assert_eq!(session.finish(Duration::from_secs(60)).code(), Some(0));
}
