//! With no kind of fault is a peer blamed for it: with lines, in bodies, on event streams, over
//! HTTP+SSE and in front of a process, live and from disk, with a client that cancels, one that
//! does not, and a fault that is removed in between.

mod hangs;
mod http;
mod legacy;
mod lines;

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tapewright_engine::fault::{Fault, FaultSet, FaultTarget, Kind, TransportSupport, kinds};
use tapewright_schemas::event::EventBody;

use super::{INITIALIZE, INITIALIZED, RESULT, findings, from_disk};
use crate::support::{Tape, eventually, peer, tapewright};

const PATIENCE: Duration = Duration::from_secs(60);
/// How long a client waits before it gives up.
const SHORT: Duration = Duration::from_millis(200);
/// How long it waits at most for an answer that will come, unless the fault has ended everything.
const LONG: Duration = Duration::from_secs(3);

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search","inputSchema":{"type":"object"}}]}}"#;

fn call(id: u32, token: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search","_meta":{{"progressToken":"{token}"}}}}}}"#
    )
}

fn found(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"x"}}]}}}}"#
    )
}

/// What a correct server answers to a request with this text in it.
fn replies() -> [(&'static str, String); 4] {
    [
        ("\"initialize\"", RESULT.to_owned()),
        ("tools/list", LISTED.to_owned()),
        ("\"id\":2,", found(2)),
        ("\"id\":3,", found(3)),
    ]
}

/// The answer of a correct server, if there is one.
fn answer(message: &str) -> Option<String> {
    let mut all = replies().into_iter();
    let found = all.find(|(text, _)| message.contains(text));
    found.map(|(_, reply)| reply)
}

/// The command of a correct process.
fn process() -> Vec<String> {
    let start = [peer().to_str().unwrap().to_owned(), "replies".to_owned()];
    let pairs = replies().map(|(text, reply)| [text.to_owned(), reply]);
    start
        .into_iter()
        .chain(pairs.into_iter().flatten())
        .collect()
}

/// What happens to the fault, and to a call that it affects.
#[derive(Clone, Copy, Debug)]
enum Course {
    /// The client cancels it.
    GivesUp,
    /// The client no longer waits for it, without notice.
    Leaves,
    /// The fault is removed.
    Removed,
}

const COURSES: [Course; 3] = [Course::GivesUp, Course::Leaves, Course::Removed];

/// A correct client on some transport.
trait Client {
    /// Opens a session.
    fn open(&mut self);
    /// Sends a message.
    fn send(&mut self, message: &str);
    /// Everything that was received.
    fn came(&mut self) -> String;
    /// Waits no longer for anything.
    fn leave(&mut self) {}
    /// Whether its messages arrive in the order in which they were sent.
    fn is_ordered(&self) -> bool {
        false
    }
    /// Ends the session; its tape.
    fn finish(self: Box<Self>) -> Tape;
}

/// Everything that a client received, from any source.
#[derive(Clone, Default)]
struct Came(Arc<Mutex<Vec<u8>>>);

impl Came {
    /// Collects everything from this source, on a separate thread.
    fn gather(&self, mut from: impl Read + Send + 'static) -> JoinHandle<()> {
        let all = Arc::clone(&self.0);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                all.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

fn is_answered(client: &mut dyn Client, id: u32, within: Duration) -> bool {
    let result = format!("\"id\":{id},\"result\"");
    let error = format!("\"id\":{id},\"error\"");
    eventually(within, || {
        let came = client.came();
        came.contains(&result) || came.contains(&error)
    })
}

/// How often faults have acted, as the tape tells.
fn acted(folder: &Path) -> usize {
    let tape = std::fs::read_to_string(folder.join("run.tape.jsonl"));
    tape.map_or(0, |text| text.matches("\"faulted\"").count())
}

/// Waits until a fault has acted, however slow the machine is.
fn until_acted(folder: &Path) {
    assert!(eventually(PATIENCE, || acted(folder) > 0));
}

/// Removes every fault.
fn remove(folder: &Path) {
    let control = format!("unix:{}", folder.join("control").display());
    let fault = |words: &[&str]| {
        let mut command = tapewright();
        let done = command
            .arg("fault")
            .args(words)
            .args(["--control", &control]);
        String::from_utf8(done.output().unwrap().stdout).unwrap()
    };
    // If the fault has ended the session there is nothing left to ask.
    let list = fault(&["list"]);
    for line in list.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        fault(&["remove", entry["name"].as_str().unwrap()]);
    }
}

/// A session under a fault; its tape.
fn play(folder: &Path, mut client: Box<dyn Client>, course: Course) -> Tape {
    client.open();
    client.send(LIST);
    is_answered(&mut *client, 1, SHORT);
    client.send(&call(2, "t"));
    until_acted(folder);
    if matches!(course, Course::Removed) {
        remove(folder);
    }
    if !is_answered(&mut *client, 2, SHORT) {
        match course {
            Course::GivesUp => client.send(CANCEL),
            Course::Leaves => client.leave(),
            Course::Removed => {}
        }
    }
    // A cancelled request is over for its client, and so is its token.
    let token = match course {
        Course::GivesUp if client.is_ordered() => "t",
        _ => "another",
    };
    let before = acted(folder);
    client.send(&call(3, token));
    // On a slow machine a correct server takes long, too: it is not given up before its answer was passed on, or a fault has met it.
    let mut is_met = || is_answered(&mut *client, 3, Duration::ZERO) || acted(folder) > before;
    let _ended_by_the_fault = !eventually(LONG, &mut is_met);
    client.finish()
}

/// One session: a fault, a transport, and the course of events.
#[derive(Clone, Debug)]
struct Cell {
    fault: String,
    way: Transport,
    course: Course,
}

#[derive(Clone, Copy, Debug)]
enum Transport {
    Lines,
    Bodies,
    Events,
    /// HTTP in front of a process.
    Front,
    Legacy,
}

impl Cell {
    fn start(&self, folder: &Path) -> Box<dyn Client> {
        let control = format!("unix:{}", folder.join("control").display());
        let fault = self.fault.as_str();
        let options = ["--check", "--all", "--control", &control, "--fault", fault];
        match self.way {
            Transport::Lines => Box::new(lines::Lines::start(folder, &options)),
            Transport::Legacy => Box::new(legacy::Legacy::start(folder, &options)),
            way => Box::new(http::Posts::start(folder, &options, way)),
        }
    }

    /// The errors in the judgement of the session.
    fn wrong(&self) -> Option<String> {
        let _told = Told(self);
        let folder = tempfile::tempdir().unwrap();
        let client = self.start(folder.path());
        let tape = play(folder.path(), client, self.course);
        let faulted = |body: &EventBody| matches!(body, EventBody::Faulted { .. });
        if !tape.events.iter().any(|event| faulted(&event.body)) {
            return Some(format!("{self:?} did nothing"));
        }
        let mut live = Vec::new();
        for one in findings(&tape) {
            if one.status.name() == "fail" && one.side.name() != "recorder" {
                return Some(format!("{self:?}: {one:?}"));
            }
            let places = one.evidence.iter().map(|place| place.seq).collect();
            live.push((one.code, one.detail, places));
        }
        if let Some(blamed) = hangs::blamed(&tape) {
            return Some(format!("{self:?}: {blamed}"));
        }
        let path = folder.path().join("run.tape.jsonl");
        if let Some(unnamed) = hangs::without_fault(&path) {
            return Some(format!("{self:?}: no fault for {unnamed}"));
        }
        live.sort();
        let disk = from_disk(&path);
        (live != disk).then(|| format!("{self:?}: live {live:?}, from disk {disk:?}"))
    }
}

/// Says which session a test was in when it failed.
struct Told<'a>(&'a Cell);

impl Drop for Told<'_> {
    #[expect(clippy::print_stderr, reason = "a failed test says where")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("in {:?}", self.0);
        }
    }
}

/// Faults of this kind that affect the call, on its answer and on its request.
fn meeting(kind: &Kind, reach: TransportSupport) -> Vec<String> {
    let on_answer = kind.example.replace(" nth=3", "");
    let on_answer = on_answer.replace("method=* ", "tool=search ");
    let on_answer = on_answer.replace("method=tools/list", "tool=search");
    let on_answer = if kind.name == "drop" {
        "drop tool=search".to_owned()
    } else {
        on_answer
    };
    let on_request = format!("{on_answer} on=request");
    let faults = FaultSet::new(0, "", reach);
    let accepts = |fault: &str| Fault::parse(fault).is_ok_and(|fault| faults.add(fault).is_ok());
    let has_both = kind.on == FaultTarget::Answer && accepts(&on_request);
    let mut all = vec![on_answer];
    all.extend(has_both.then_some(on_request));
    all
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for kind in kinds::ALL {
        for way in [
            Transport::Lines,
            Transport::Bodies,
            Transport::Events,
            Transport::Front,
            Transport::Legacy,
        ] {
            let reach = match way {
                Transport::Front | Transport::Lines => TransportSupport::Stdio,
                _ => TransportSupport::Http,
            };
            if kind.reach != TransportSupport::Any && kind.reach != reach {
                continue;
            }
            for fault in meeting(kind, reach) {
                for course in COURSES {
                    let fault = fault.clone();
                    cells.push(Cell { fault, way, course });
                }
            }
        }
    }
    cells
}

/// Whether a cell is played here. Processes take long to start under Wine: on Windows, each fault takes one course on each way, and another
/// one on the next.
fn is_played(at: usize) -> bool {
    cfg!(unix) || at % COURSES.len() == at / COURSES.len() % COURSES.len()
}

#[test]
fn no_kind_of_fault_is_blamed_on_a_peer() {
    let all = cells();
    assert!(all.len() > 150, "{}", all.len());
    let cells: Vec<Cell> = all
        .into_iter()
        .enumerate()
        .filter(|(at, _)| is_played(*at))
        .map(|(_, cell)| cell)
        .collect();
    let left = Mutex::new(cells.iter());
    let problems = Mutex::new(Vec::new());
    thread::scope(|scope| {
        // They wait most of the time.
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(cell) = next else { break };
                    let wrong = cell.wrong();
                    problems.lock().unwrap().extend(wrong);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn a_delayed_answer_on_another_conduit_is_over_when_it_was_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let cell = Cell {
        fault: "slow tool=search nth=1 delay_ms=3600000".to_owned(),
        way: Transport::Legacy,
        course: Course::Removed,
    };
    let client = cell.start(folder.path());
    let tape = play(folder.path(), client, cell.course);
    let (mut asked, mut answered) = (None, None);
    for event in &tape.events {
        let says = |text: &str| match &event.body {
            EventBody::Message { payload, .. } => {
                String::from_utf8_lossy(payload.kept()).contains(text)
            }
            _ => false,
        };
        if says("\"id\":2,\"method\"") {
            asked = Some(event.conduit);
        } else if says("\"id\":2,\"result\"") {
            answered = Some(event.conduit);
        }
    }
    assert!(asked.is_some() && answered.is_some() && asked != answered);
    let tape = folder.path().join("run.tape.jsonl");
    let inspected = |options: &[&str]| {
        let mut command = tapewright();
        let done = command.arg("inspect").arg(&tape).args(options).output();
        String::from_utf8(done.unwrap().stdout).unwrap()
    };
    let words = inspected(&[]);
    let mut lines = words.lines();
    let told = lines.find(|line| line.contains("passed on after"));
    let told = told.unwrap_or_else(|| panic!("{words}"));
    assert!(told.ends_with(", since the fault was removed"), "{told}");
    let report: serde_json::Value = serde_json::from_str(&inspected(&["--json"])).unwrap();
    assert_eq!(report["hangs_count"], 0, "{report:#}");
    assert_eq!(report["unanswered_count"], 0, "{report:#}");
}
