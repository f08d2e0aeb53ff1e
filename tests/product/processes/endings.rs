//! Nothing outlives a session, however it ends.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::scene::{LIMIT, Living, Scene};
use crate::support::{eventually, peer, wait};

/// The maximum duration of an ending, even on a busy machine: ten times the two seconds that real
/// clients wait.
const IN_TIME: Duration = Duration::from_secs(20);

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;

#[test]
fn a_server_that_heeds_the_end_of_input_ends_by_itself() {
    let scene = Scene::new();
    let mut session = scene.start(&["echo"]);
    let server = scene.living();
    session.send(REQUEST);
    assert_eq!(session.line(), REQUEST);
    assert!(session.finish(LIMIT).success());
    server.ended();
    scene.assert_finished();
}

#[test]
fn a_server_that_ignores_the_end_of_input_is_ended_in_time() {
    let scene = Scene::new();
    let mut session = scene.start(&["stay"]);
    let server = scene.living();
    assert_eq!(session.line(), "ready");
    let begin = Instant::now();
    session.close_input();
    assert!(!wait(&mut session.child, LIMIT).success());
    assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
    server.ended();
    scene.assert_finished();
}

#[test]
fn a_tree_that_ignores_the_end_of_input_ends_with_its_root() {
    let scene = Scene::new();
    let (mut session, processes) = scene.tree();
    session.close_input();
    assert!(!wait(&mut session.child, LIMIT).success());
    processes.into_iter().for_each(Living::ended);
    scene.assert_finished();
}

#[test]
fn a_killed_recorder_takes_the_tree_along_and_leaves_a_readable_tape() {
    let scene = Scene::new();
    let (mut session, processes) = scene.tree();
    session.send(REQUEST);
    // By default, the last instants before a kill may be missing.
    assert!(eventually(LIMIT, || scene.has_recorded(REQUEST)));
    session.child.kill().unwrap();
    wait(&mut session.child, LIMIT);
    processes.into_iter().for_each(Living::ended);
    scene.assert_broken_off();
}

#[test]
fn a_client_that_died_leaves_nobody_behind() {
    let scene = Scene::new();
    let (session, processes) = scene.tree();
    wait(&mut session.die(), LIMIT);
    processes.into_iter().for_each(Living::ended);
    scene.assert_finished();
}

#[test]
fn a_client_that_was_killed_amid_a_call_leaves_nobody_behind() {
    let scene = Scene::new();
    let cassette = scene.file("s.json");
    let peer = peer();
    let peer = peer.to_str().unwrap();
    let recorder = env!("CARGO_BIN_EXE_tapewright");
    let cassette = ["-o", cassette.to_str().unwrap(), "--", peer];
    let mut client = Command::new(peer)
        .args(["processes", "client", recorder, "record"])
        .args(cassette)
        .args(["processes", "stay"])
        .env("TAPEWRIGHT_TEST_WATCH", scene.address())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let processes = [scene.living(), scene.living()];
    let mut output = BufReader::new(client.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    // The answer never comes.
    client.kill().unwrap();
    wait(&mut client, LIMIT);
    processes.into_iter().for_each(Living::ended);
    assert!(eventually(LIMIT, || scene.tape().is_complete()));
}

#[test]
fn a_launcher_that_ends_is_not_the_client() {
    let scene = Scene::new();
    let cassette = scene.file("s.json");
    let peer = peer();
    let peer = peer.to_str().unwrap();
    let recorder = env!("CARGO_BIN_EXE_tapewright");
    let mut launcher = Command::new(peer)
        .args(["processes", "launch", peer, "processes", "last-call"])
        .args([recorder, "record", "-o", cassette.to_str().unwrap(), "--"])
        // The answer comes long after the second that a server gets whose client is gone.
        .args([peer, "slow-answers", "2500"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(launcher.stdout.take().unwrap());
    assert!(wait(&mut launcher, LIMIT).success());
    let mut answer = String::new();
    output.read_line(&mut answer).unwrap();
    assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

#[test]
fn what_a_server_leaves_behind_ends_with_its_session() {
    let scene = Scene::new();
    let mut session = scene.start(&["leave", "5"]);
    let processes = [scene.living(), scene.living()];
    assert_eq!(session.line(), "ready");
    let begin = Instant::now();
    // It holds the output of the server, which has ended.
    session.send("go");
    assert_eq!(wait(&mut session.child, LIMIT).code(), Some(5));
    assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
    processes.into_iter().for_each(Living::ended);
    scene.assert_finished();
}
