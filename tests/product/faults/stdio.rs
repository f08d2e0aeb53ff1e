//! Faults between a stdio client and a child process.

use std::io::Read as _;
use std::time::Duration;

use tapewright_schemas::event::Direction;

use super::{call, effects};
use crate::support::system::without_console;
use crate::support::{Session, Tape, peer, record};

const PATIENCE: Duration = Duration::from_secs(60);

/// A recorded server that answers everything, under a fault.
struct Stage {
    session: Session,
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(faults: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape.jsonl");
        let log = folder.path().join("log");
        let mut options = vec!["-o", tape.to_str().unwrap()];
        for fault in faults {
            options.extend(["--fault", fault]);
        }
        let peer = peer();
        let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
        let mut command = record(&options, &server);
        without_console(&mut command);
        Self {
            session: Session::start(command),
            folder,
        }
    }

    fn tape(&self) -> Tape {
        Tape::read(&self.folder.path().join("run.tape.jsonl"))
    }

    /// Ends the session; returns the remaining output, the status, and the tape.
    fn finish(mut self) -> (String, Option<i32>, Tape) {
        self.session.close_input();
        let mut rest = String::new();
        self.session.output.read_to_string(&mut rest).unwrap();
        let status = crate::support::wait(&mut self.session.child, PATIENCE);
        let tape = self.tape();
        (rest, status.code(), tape)
    }
}

#[test]
fn the_third_call_hangs_and_everything_else_goes_on() {
    let mut stage = Stage::new(&["hang tool=search nth=3"]);
    for id in 1..=5 {
        stage.session.send(&call(id, "search"));
        if id != 3 {
            let line = stage.session.line();
            assert!(line.contains(&format!("\"id\":{id},")), "{line}");
        }
    }
    let (rest, status, tape) = stage.finish();
    assert_eq!((rest.as_str(), status), ("", Some(0)));
    assert_eq!(tape.messages(Direction::ToClient).len(), 5);
    assert_eq!(effects(&tape), ["hang-1 (hang): held", "lost"]);
    assert_eq!(tape.header.faults, ["hang name=hang-1 tool=search nth=3"]);
    assert!(tape.header.seed.is_some());
    assert!(tape.is_complete());
}

/// The second answer takes the place of the first, which was to be passed on later: neither may keep the recorder busy
/// at the time that was set for the first.
#[test]
fn a_call_that_is_answered_again_while_its_answer_is_delayed_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (tape, control) = (file("run.tape.jsonl"), format!("unix:{}", file("control")));
    let fault = "slow tool=search nth=1 delay_ms=50";
    let options = ["-o", &tape, "--control", &control, "--fault", fault];
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let twice = format!("{answer}\n{answer}");
    let peer = peer();
    let pong = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let pairs = ["replies", "tools/call", &twice, "ping", pong];
    let server = [&[peer.to_str().unwrap()], &pairs[..]].concat();
    let mut session = Session::start(record(&options, &server));
    session.send(&call(1, "search"));
    assert_eq!([session.line(), session.line()], [answer, answer]);
    // The next event comes after that time.
    session.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(session.line(), pong);
    assert!(session.finish(PATIENCE).success());
    assert!(Tape::read(std::path::Path::new(&tape)).is_complete());
}

#[test]
fn a_slow_answer_is_overtaken() {
    let mut stage = Stage::new(&["slow tool=search delay_ms=300"]);
    stage.session.send(&call(1, "search"));
    stage.session.send(&call(2, "find"));
    assert!(stage.session.line().contains("\"id\":2,"));
    assert!(stage.session.line().contains("\"id\":1,"));
    let (_, status, tape) = stage.finish();
    assert_eq!(status, Some(0));
    assert_eq!(effects(&tape), ["slow-1 (slow): delayed"]);
}

#[test]
fn a_wedged_server_answers_nothing_any_more() {
    let mut stage = Stage::new(&["wedged tool=search"]);
    stage.session.send(&call(1, "find"));
    assert!(stage.session.line().contains("\"id\":1,"));
    stage.session.send(&call(2, "search"));
    stage.session.send(&call(3, "find"));
    let (rest, status, tape) = stage.finish();
    assert_eq!((rest.as_str(), status), ("", Some(0)));
    assert_eq!(tape.messages(Direction::ToClient).len(), 3);
}

#[test]
fn recover_after_answers_again() {
    let mut stage = Stage::new(&["recover_after tool=search failures=2"]);
    for id in 1..=3 {
        stage.session.send(&call(id, "search"));
    }
    assert!(stage.session.line().contains("\"id\":3,"));
    assert_eq!(stage.finish().1, Some(0));
}

#[test]
fn an_error_takes_the_place_of_the_true_answer() {
    let mut stage = Stage::new(&["error tool=search code=-5 message='the index is down'"]);
    stage.session.send(&call(1, "search"));
    assert_eq!(
        stage.session.line(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,\"message\":\"the index is down\"}}"
    );
    let (_, _, tape) = stage.finish();
    assert!(tape.messages(Direction::ToClient)[0].contains("\"result\""));
}

#[test]
fn garbage_on_the_output_comes_before_the_answer() {
    let mut stage = Stage::new(&["garbage tool=search text='Server ready'"]);
    stage.session.send(&call(1, "search"));
    assert_eq!(stage.session.line(), "Server ready");
    assert!(stage.session.line().contains("\"id\":1,"));
    let (_, _, tape) = stage.finish();
    assert_eq!(tape.messages(Direction::ToClient).len(), 1);
}

#[test]
fn a_reset_in_mid_line_ends_the_output() {
    let mut stage = Stage::new(&["reset tool=search at=mid"]);
    stage.session.send(&call(1, "search"));
    let half = stage.session.line();
    assert!(
        half.starts_with("{\"jsonrpc\"") && !half.ends_with('}'),
        "{half}"
    );
    let (rest, _, tape) = stage.finish();
    assert_eq!(rest, "");
    assert_eq!(effects(&tape), ["reset-1 (reset): cut"]);
}

#[test]
fn an_exit_ends_the_server_with_its_status() {
    let mut stage = Stage::new(&["exit tool=search status=7"]);
    stage.session.send(&call(1, "find"));
    assert!(stage.session.line().contains("\"id\":1,"));
    stage.session.send(&call(2, "search"));
    assert_eq!(stage.session.line(), "");
    assert_eq!(stage.finish().1, Some(7));
}

#[test]
fn a_flood_of_standard_error_arrives_whole() {
    let mut stage = Stage::new(&["stderr-flood tool=search bytes=200000"]);
    let mut errors = stage.session.child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        errors.read_to_end(&mut all).map(|_| all.len())
    });
    stage.session.send(&call(1, "search"));
    assert!(stage.session.line().contains("\"id\":1,"));
    assert_eq!(stage.finish().1, Some(0));
    assert_eq!(reader.join().unwrap().unwrap(), 200_000);
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let run = |seed: &str| {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape.jsonl");
        let log = folder.path().join("log");
        let peer = peer();
        let options = [
            "-o",
            tape.to_str().unwrap(),
            "--seed",
            seed,
            "--fault",
            "error tool=search probability=0.5",
        ];
        let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
        let mut session = Session::start(record(&options, &server));
        let mut failed = Vec::new();
        for id in 0..40 {
            session.send(&call(id, "search"));
            failed.push(session.line().contains("\"error\""));
        }
        assert_eq!(session.finish(PATIENCE).code(), Some(0));
        assert_eq!(Tape::read(&tape).header.seed, seed.parse().ok());
        failed
    };
    let first = run("11");
    assert_eq!(first, run("11"));
    assert_ne!(first, run("12"));
}
