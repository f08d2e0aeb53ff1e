//! The live view of messages, and that it matches its documentation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use tapewright_proxy::system::sockets;

use super::call;
use super::openapi::document;
use crate::support::http::{Upstream, json as answer_of, pair, post};
use crate::support::{Session, eventually, peer, record, tapewright};

const PATIENCE: Duration = Duration::from_secs(60);

/// A recorder with a control, and a server behind it that answers everything.
struct Recorded {
    folder: tempfile::TempDir,
    session: Session,
}

impl Recorded {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let control = format!("unix:{}", folder.path().join("control").display());
        let (tape, log) = (path("run.tape.jsonl"), path("log"));
        let mut all = vec!["-o", &tape, "--control", &control];
        all.extend(options);
        let peer = peer();
        let server = [peer.to_str().unwrap(), "answer", &log];
        let session = Session::start(record(&all, &server));
        let mut started = Self { folder, session };
        started.session.send(&call(1, "search"));
        assert!(started.session.line().contains("\"id\":1,"));
        started
    }

    fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("control")
    }

    fn ask(&self, words: &[&str]) -> String {
        String::from_utf8(asked(&self.socket(), words)).unwrap()
    }

    /// A `tail` that listens.
    fn tail(&self) -> Child {
        let mut tail = tapewright();
        let control = format!("unix:{}", self.socket().display());
        tail.args(["tail", "--json", "--control", &control]);
        tail.stdout(Stdio::piped()).spawn().unwrap()
    }
}

fn asked(socket: &Path, words: &[&str]) -> Vec<u8> {
    let control = format!("unix:{}", socket.display());
    let mut command = tapewright();
    let done = command.args(words).args(["--control", &control]);
    let done = done.output().unwrap();
    assert!(done.status.success(), "{words:?}: {done:?}");
    done.stdout
}

/// The control's response, which must match its documentation.
pub(super) fn got(socket: &Path, path: &str) -> Value {
    let mut stream = sockets::connect(socket, PATIENCE).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{head}");
    let value: Value = serde_json::from_str(body).unwrap();
    let schema = schema(&format!(
        "/paths/~1{}/get/responses/200/content/application~1json/schema",
        path.trim_start_matches('/')
    ));
    fits(&schema, &value);
    value
}

/// A schema of the documentation.
fn schema(pointer: &str) -> Value {
    let document = document();
    let mut schema = document.pointer(pointer).expect(pointer).clone();
    schema["components"] = document["components"].clone();
    schema
}

fn fits(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|one| one.to_string())
        .collect();
    assert!(errors.is_empty(), "{value}: {errors:?}");
}

#[test]
fn sessions_pending_requests_and_hangs_are_shown() {
    let never = ["--fault", "drop tool=nobody"];
    let options = ["--fault", "hang tool=search nth=2", never[0], never[1]];
    let mut recorded = Recorded::start(&options);
    recorded.session.send(&call(2, "search"));
    recorded.session.send(&call(3, "find"));
    assert!(recorded.session.line().contains("\"id\":3,"));
    let socket = recorded.socket();
    let hangs = || got(&socket, "/hangs")["hangs"][0]["fault"]["name"] == "hang-1";
    assert!(eventually(PATIENCE, hangs));
    let pending = got(&socket, "/pending");
    assert_eq!(pending["count"], 1);
    assert_eq!(pending["pending"][0]["id"], "2");
    assert_eq!(pending["pending"][0]["name"], "search");
    assert_eq!(pending["pending"][0]["hangs"], true);
    let sessions = got(&socket, "/sessions");
    assert_eq!(sessions["sessions"][0]["pending"], 1);
    assert_eq!(sessions["sessions"][0]["faults"], 1);
    assert_eq!(got(&socket, "/findings")["count"], 0);
    got(&socket, "/faults");
    let tape = recorded.folder.path().join("run.tape.jsonl");
    assert_eq!(got(&socket, "/recording")["tape"], tape.to_str().unwrap());

    let text = recorded.ask(&["sessions"]);
    assert!(text.contains("tools/call search, id 2 for "), "{text}");
    assert!(
        text.contains("still pending, by the fault hang-1 (hang)"),
        "{text}"
    );
    recorded.ask(&["fault", "remove", "hang-1"]);
    assert!(recorded.session.line().contains("\"id\":2,"));
    let closed = || got(&socket, "/hangs")["hangs"][0]["closed"] == "answered";
    assert!(eventually(PATIENCE, closed));
    let all: Value = serde_json::from_str(&recorded.ask(&["sessions", "--json"])).unwrap();
    assert_eq!(all["pending"], json!([]));
    assert_eq!(all["hangs"][0]["closed"], "answered");
    assert_eq!(recorded.session.finish(PATIENCE).code(), Some(0));
    let tape = recorded.folder.path().join("run.tape.jsonl");
    let done = tapewright().arg("inspect").arg(tape).output().unwrap();
    let told = String::from_utf8(done.stdout).unwrap();
    assert!(
        told.contains("hang name=hang-1 tool=search nth=2: acted 1 time"),
        "{told}"
    );
    assert!(
        told.contains("drop name=drop-1 tool=nobody: never fired"),
        "{told}"
    );
    assert!(told.contains("answered after ") && told.contains("by the fault hang-1 (hang)"));
}

#[test]
fn what_passes_is_told_and_not_what_it_says() {
    let mut recorded = Recorded::start(&["--check"]);
    let mut tail = recorded.tail();
    let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let (tell, told) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in lines {
            tell.send(line.unwrap()).unwrap();
        }
    });
    let secret = "what-nobody-else-may-read";
    let mut seen = Vec::new();
    // It receives no events from before it subscribed.
    let mut id = 10;
    assert!(eventually(PATIENCE, || {
        id += 1;
        recorded.session.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"find\",\"q\":\"{secret}\"}}}}"
        ));
        recorded.session.line();
        seen.extend(told.try_recv());
        !seen.is_empty()
    }));
    recorded.ask(&["fault", "add", "hang tool=search"]);
    recorded.session.send(&call(7, "search"));
    let hangs = || got(&recorded.socket(), "/hangs")["count"] == 1;
    assert!(eventually(PATIENCE, hangs));
    assert_eq!(recorded.session.finish(PATIENCE).code(), Some(0));
    reader.join().unwrap();
    assert!(tail.wait().unwrap().success());
    seen.extend(told.try_iter());
    let schema = schema("/components/schemas/Event");
    let mut kinds = Vec::new();
    for line in &seen {
        assert!(!line.contains(secret), "{line}");
        let event: Value = serde_json::from_str(line).unwrap();
        fits(&schema, &event);
        kinds.push(event["event"].as_str().unwrap().to_owned());
    }
    for kind in ["message", "fault", "hang"] {
        assert!(kinds.iter().any(|one| one == kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn a_replay_that_nobody_records_is_seen_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let peer = peer();
    let (cassette, log) = (path("run.json"), path("log"));
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&["-o", cassette.to_str().unwrap()], &server));
    session.send(&call(1, "search"));
    session.line();
    assert_eq!(session.finish(PATIENCE).code(), Some(0));

    let socket = folder.path().join("control");
    let mut command = tapewright();
    command
        .arg("replay")
        .arg(&cassette)
        .arg("--control")
        .arg(format!("unix:{}", socket.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut session = Session::start(command);
    session.send(&call(5, "search"));
    session.line();
    let counted = || got(&socket, "/sessions")["sessions"][0]["requests"] == 1;
    assert!(eventually(PATIENCE, counted));
    assert_eq!(session.finish(PATIENCE).code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn exchanges_over_http_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control");
    let control = format!("unix:{}", socket.display());
    let (upstream, gateway): (Upstream, _) = pair(&["--control", &control]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", &call(1, "search")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let waits = || got(&socket, "/pending")["pending"][0]["name"] == "search";
    assert!(eventually(PATIENCE, waits));
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    server.send(answer_of("200 OK", "", answer));
    let head = client.head();
    client.body(&head);
    assert!(eventually(PATIENCE, || got(&socket, "/pending")["count"] == 0));
    gateway.stop();
}
