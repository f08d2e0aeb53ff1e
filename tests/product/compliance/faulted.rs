//! Under every kind of fault nobody is blamed for what we did.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tapewright_engine::fault::{Kind, Reach, kinds};
use tapewright_schemas::event::EventBody;

use super::{RESULT, findings, from_disk, handshake, server};
use crate::support::{Session, Tape, record, wait};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server that keeps to the protocol; each call has its own id.
fn orderly() -> String {
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search","inputSchema":{"type":"object"}}]}}"#;
    let found = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"x"}}]}}}}"#
        )
    };
    server(&[
        ("initialize\\\"", RESULT),
        ("tools/list", list),
        ("\\\"id\\\":2,", &found(2)),
        ("\\\"id\\\":3,", &found(3)),
    ])
}

/// A client that keeps to the protocol, and gives up a call that it has waited for in vain.
const SAID: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","_meta":{"progressToken":"t"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","_meta":{"progressToken":"t"}}}"#,
];

/// A session under a fault; its tape.
fn play(folder: &Path, fault: &str) -> Tape {
    let path = folder.join("s.tape.jsonl");
    let options = [
        "--check",
        "--all",
        "-o",
        path.to_str().unwrap(),
        "--fault",
        fault,
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", &orderly()]));
    handshake(&mut session);
    for line in SAID {
        // The fault may have ended everything already.
        drop(writeln!(session.input.as_mut().unwrap(), "{line}"));
    }
    session.close_input();
    let mut rest = Vec::new();
    session.output.read_to_end(&mut rest).unwrap();
    wait(&mut session.child, PATIENCE);
    Tape::read(&path)
}

/// A fault of this kind that meets what is said.
fn meeting(kind: &Kind) -> String {
    match kind.name {
        "drop" => "drop tool=search on=request".to_owned(),
        _ => kind.example.replace(" nth=3", ""),
    }
}

/// What is wrong with the judgement of a session under this kind of fault.
fn wrong(kind: &Kind) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let tape = play(folder.path(), &meeting(kind));
    let faulted = |body: &EventBody| matches!(body, EventBody::Faulted { .. });
    if !tape.events.iter().any(|event| faulted(&event.body)) {
        return Some(format!("{} did nothing", kind.name));
    }
    let mut live = Vec::new();
    for one in findings(&tape) {
        if one.status == "fail" && one.side != "recorder" {
            return Some(format!("{}: {one:?}", kind.name));
        }
        let places = one.evidence.iter().map(|place| place.seq).collect();
        live.push((one.code, one.detail, places));
    }
    live.sort();
    let disk = from_disk(&folder.path().join("s.tape.jsonl"));
    (live != disk).then(|| format!("{}: live {live:?}, from disk {disk:?}", kind.name))
}

#[test]
fn no_kind_of_fault_is_blamed_on_a_peer() {
    let kinds = kinds::ALL.iter().filter(|kind| kind.reach != Reach::Http);
    let kinds: Vec<&Kind> = kinds.copied().collect();
    assert!(kinds.len() > 15, "{}", kinds.len());
    let left = Mutex::new(kinds.iter());
    let problems = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(kind) = next else { break };
                    problems.lock().unwrap().extend(wrong(kind));
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
}
