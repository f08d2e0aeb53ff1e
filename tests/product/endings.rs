//! How sessions end: statuses, signals, deadlines, and no leftover processes.

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tapewright_schemas::event::{EventBody, Exit};

use crate::support::{Session, Tape, eventually, marked, peer, record, signal, wait};

/// When the harness gives up.
const LIMIT: Duration = Duration::from_secs(60);

/// The maximum duration of an ending, even on a busy machine: ten times the two seconds that real
/// clients wait.
const IN_TIME: Duration = Duration::from_secs(20);

/// A folder for the recording, and a mark that every process of the session has.
struct Scene {
    folder: tempfile::TempDir,
    mark: String,
}

impl Scene {
    fn new(name: &str) -> Self {
        let mark = format!("TAPEWRIGHT_TEST_MARK={name}-{}", std::process::id());
        Self {
            folder: tempfile::tempdir().unwrap(),
            mark,
        }
    }

    fn start(&self, server: &[&str]) -> Session {
        self.start_with(&[], server)
    }

    fn start_with(&self, options: &[&str], server: &[&str]) -> Session {
        let cassette = self.folder.path().join("s.json");
        let mut command = record(
            &[&["-o", cassette.to_str().unwrap()], options].concat(),
            server,
        );
        let (name, value) = self.mark.split_once('=').unwrap();
        Session::start({
            command.env(name, value);
            command
        })
    }

    fn tape(&self) -> Tape {
        Tape::read(&self.folder.path().join("s.tape.jsonl"))
    }

    fn assert_nobody_left(&self) {
        let gone = eventually(LIMIT, || marked(&self.mark).is_empty());
        assert!(gone, "still there: {:?}", marked(&self.mark));
    }
}

/// Never ends by itself: not at the end of input, not on SIGTERM.
const STUBBORN: &str = "trap '' TERM HUP INT; echo ready; while :; do sleep 0.05; done";
/// Ends on SIGTERM only, as `server-everything` does.
const DEAF: &str = "echo ready; while :; do sleep 0.05; done";
/// Leaves a process behind and answers from a grandchild, as `npx` does.
const FORKER: &str =
    "sleep 1000 & echo ready; sh -c 'echo from the grandchild; cat; sleep 1000'; true";

#[test]
fn the_status_of_the_server_is_ours() {
    for code in [0, 1, 42, 255] {
        let scene = Scene::new("status");
        let session = scene.start(&["sh", "-c", &format!("exit {code}")]);
        assert_eq!(session.finish(LIMIT).code(), Some(code));
        assert!(
            scene
                .tape()
                .events
                .iter()
                .any(|event| event.exit() == Some(Exit::Code(code)))
        );
    }
}

#[test]
fn a_server_that_a_signal_ended_is_told_as_such() {
    for (name, number) in [("TERM", 15), ("KILL", 9), ("HUP", 1)] {
        let scene = Scene::new("signalled");
        let session = scene.start(&["sh", "-c", &format!("kill -{name} $$")]);
        assert_eq!(session.finish(LIMIT).signal(), Some(number), "{name}");
        let ended = Some(Exit::Signal(number));
        assert!(
            scene
                .tape()
                .events
                .iter()
                .any(|event| event.exit() == ended)
        );
        assert!(scene.tape().is_complete());
    }
}

#[test]
fn replies_in_flight_still_come_through_after_the_end_of_input() {
    let scene = Scene::new("inflight");
    let peer = peer();
    // Answers long after the grace period of a server without pending answers.
    let mut session = scene.start(&[peer.to_str().unwrap(), "slow-answers", "2500"]);
    for id in 0..3 {
        session.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#
        ));
    }
    session.close_input();
    let mut rest = String::new();
    session.output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.lines().count(), 3, "{rest}");
    assert!(wait(&mut session.child, LIMIT).success());
}

#[test]
fn a_server_that_ignores_the_end_of_input_is_ended_in_time() {
    for (server, by) in [(DEAF, 15), (STUBBORN, 9)] {
        let scene = Scene::new("ignores");
        let mut session = scene.start(&["sh", "-c", server]);
        assert_eq!(session.line(), "ready");
        let begin = Instant::now();
        session.close_input();
        let status = wait(&mut session.child, LIMIT);
        // 1.4 s on an idle machine; `proxy::stdio::ending` holds the exact deadlines.
        assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
        assert_eq!(status.signal(), Some(by));
        scene.assert_nobody_left();
        assert!(scene.tape().is_complete());
    }
}

#[test]
fn signals_reach_the_server_once_and_the_recording_is_finished() {
    for name in ["TERM", "INT", "HUP"] {
        let scene = Scene::new("once");
        let log = scene.folder.path().join("log");
        let script = format!(
            "trap 'echo got >> \"{log}\"' TERM INT HUP; echo ready; i=0; while [ $i -lt 12 ]; do sleep 0.05; i=$((i+1)); done; exit 7",
            log = log.display()
        );
        let mut session = scene.start(&["sh", "-c", &script]);
        assert_eq!(session.line(), "ready");
        session.signal(name);
        assert_eq!(wait(&mut session.child, LIMIT).code(), Some(7));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "got\n", "{name}");
        assert!(scene.tape().is_complete());
        let told = EventBody::Signal(format!("SIG{name}"));
        assert_eq!(
            scene
                .tape()
                .events
                .iter()
                .filter(|event| event.body == told)
                .count(),
            1
        );
    }
}

#[test]
fn a_terminated_recorder_takes_a_stubborn_server_along() {
    let scene = Scene::new("termed");
    let mut session = scene.start(&["sh", "-c", STUBBORN]);
    assert_eq!(session.line(), "ready");
    let begin = Instant::now();
    session.signal("TERM");
    assert_eq!(wait(&mut session.child, LIMIT).signal(), Some(9));
    assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
    scene.assert_nobody_left();
    assert!(scene.tape().is_complete());
}

#[test]
fn a_killed_recorder_leaves_nobody_behind() {
    for server in [DEAF, STUBBORN, FORKER] {
        let scene = Scene::new("killed");
        let mut session = scene.start(&["sh", "-c", server]);
        assert_eq!(session.line(), "ready");
        session.signal("KILL");
        wait(&mut session.child, LIMIT);
        scene.assert_nobody_left();
    }
}

#[test]
fn a_killed_recorder_of_many_threads_leaves_nobody_behind() {
    // Its guard cannot be a fork of it.
    let scene = Scene::new("threads");
    let socket = format!("unix:{}", scene.folder.path().join("control").display());
    let options = ["--control", &socket];
    let mut session = scene.start_with(&options, &["sh", "-c", FORKER]);
    assert_eq!(session.line(), "ready");
    session.signal("KILL");
    wait(&mut session.child, LIMIT);
    scene.assert_nobody_left();
}

#[test]
fn a_killed_group_leaves_nobody_behind() {
    // The Python client starts its server in a separate session and kills its group.
    let scene = Scene::new("group");
    let cassette = scene.folder.path().join("s.json");
    let mut command = Command::new("setsid");
    let (name, value) = scene.mark.split_once('=').unwrap();
    command
        .args([env!("CARGO_BIN_EXE_tapewright"), "record", "-o"])
        .arg(&cassette);
    command.args(["--", "sh", "-c", FORKER]).env(name, value);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut session = Session::start(command);
    assert_eq!(session.line(), "ready");
    let group = session.child.id();
    let killed = Command::new("kill")
        .args(["-KILL", "--", &format!("-{group}")])
        .status();
    assert!(killed.unwrap().success());
    wait(&mut session.child, LIMIT);
    scene.assert_nobody_left();
}

#[test]
fn a_client_that_died_leaves_nobody_behind() {
    for server in [DEAF, STUBBORN, FORKER] {
        let scene = Scene::new("client");
        let mut session = scene.start(&["sh", "-c", server]);
        assert_eq!(session.line(), "ready");
        wait(&mut session.die(), LIMIT);
        scene.assert_nobody_left();
        assert!(scene.tape().is_complete());
    }
}

#[test]
fn what_a_server_leaves_behind_ends_with_its_session() {
    let scene = Scene::new("leftover");
    let mut session = scene.start(&["sh", "-c", "sleep 1000 & echo ready; exit 5"]);
    assert_eq!(session.line(), "ready");
    assert_eq!(wait(&mut session.child, LIMIT).code(), Some(5));
    scene.assert_nobody_left();
    assert!(scene.tape().is_complete());
}

#[test]
fn a_server_that_closes_its_output_ends_the_clients_stream_and_may_live_on() {
    let scene = Scene::new("closes");
    let done = scene.folder.path().join("done");
    let script = format!("echo ready; exec >&-; cat > '{}'; exit 3", done.display());
    let mut session = scene.start(&["sh", "-c", &script]);
    assert_eq!(session.line(), "ready");
    let mut rest = Vec::new();
    session.output.read_to_end(&mut rest).unwrap();
    session.send("still heard");
    assert_eq!(session.finish(LIMIT).code(), Some(3));
    assert_eq!(std::fs::read_to_string(done).unwrap(), "still heard\n");
}

#[test]
fn a_server_that_closes_its_input_ends_the_clients_pipe() {
    let scene = Scene::new("deaf");
    let mut session = scene.start(&["sh", "-c", "exec <&-; echo ready; sleep 1; exit 4"]);
    assert_eq!(session.line(), "ready");
    let mut input = session.input.take().unwrap();
    let broken = eventually(LIMIT, || input.write_all(b"{}\n").is_err());
    assert!(
        broken,
        "writing to a server that does not read must fail, as it does without us"
    );
    assert_eq!(wait(&mut session.child, LIMIT).code(), Some(4));
}

#[test]
fn a_slow_client_gets_everything_that_an_ended_server_had_said() {
    let scene = Scene::new("slow");
    let done = scene.folder.path().join("done");
    // More than the client's pipe holds, and less than it and the recorder's hold together.
    let script = format!("head -c 100000 /dev/zero; : > '{}'", done.display());
    let mut session = scene.start(&["sh", "-c", &script]);
    // The server has exited when the client begins to read.
    assert!(eventually(LIMIT, || done.exists()));
    assert!(eventually(LIMIT, || marked(&scene.mark).len() <= 2));
    let mut rest = Vec::new();
    session.output.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 100_000);
    assert!(wait(&mut session.child, LIMIT).success());
}

#[test]
fn signals_meant_for_the_server_alone_do_not_end_it() {
    let scene = Scene::new("usr1");
    let mut session = scene.start(&[
        "sh",
        "-c",
        "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done",
    ]);
    assert_eq!(session.line(), "ready");
    signal(session.child.id(), "USR1");
    assert_eq!(session.line(), "usr1");
    signal(session.child.id(), "USR1");
    assert_eq!(session.line(), "usr1");
    session.signal("TERM");
    assert_eq!(wait(&mut session.child, LIMIT).signal(), Some(15));
}

#[test]
fn a_client_that_died_amid_a_call_leaves_nobody_behind() {
    for server in [DEAF, STUBBORN] {
        let scene = Scene::new("midcall");
        let mut session = scene.start(&["sh", "-c", server]);
        assert_eq!(session.line(), "ready");
        // The answer never comes.
        session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#);
        let Session {
            mut child,
            input,
            output,
        } = session;
        let pipes = (input, output, child.stderr.take());
        drop(pipes);
        wait(&mut child, LIMIT);
        scene.assert_nobody_left();
    }
}

#[test]
fn a_cancelled_request_is_not_waited_for() {
    let scene = Scene::new("cancelled");
    let mut session = scene.start(&["sh", "-c", DEAF]);
    assert_eq!(session.line(), "ready");
    session.send(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#);
    session.send(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#,
    );
    session.close_input();
    assert_eq!(wait(&mut session.child, LIMIT).signal(), Some(15));
}
