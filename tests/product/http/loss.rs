//! Nothing is lost by default, however large an answer is and however many arrive at once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use tapewright_schemas::event::{CloseReason, Direction, EventBody, GapReason, Payload};

use crate::support::http::{Gateway, PATIENCE, Recorded, Seen, Strict, chunk, json, post};
use crate::support::{eventually, tapewright};

const MB: usize = 1_000_000;

/// A parameter of a request: `"id":7`, `"bytes":6000000`, `"as":"event"`.
fn asked(seen: &Seen, name: &str) -> String {
    let text = String::from_utf8_lossy(&seen.body).into_owned();
    let rest = text
        .split(&format!("\"{name}\":"))
        .nth(1)
        .expect("a member");
    rest.split([',', '}']).next().expect("a value").to_owned()
}

/// A message of this length.
fn message(id: &str, bytes: usize) -> String {
    let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"");
    let pad = bytes - begin.len() - 3;
    format!(
        "{begin}{}\"}}}}",
        "abcdefgh ".repeat(pad / 9 + 1).split_at(pad).0
    )
}

/// Answers with as many bytes as requested, as JSON or as an event.
fn server() -> Strict {
    Strict::start(|seen| {
        let bytes = asked(seen, "bytes").parse().expect("a number");
        let message = message(&asked(seen, "id"), bytes);
        if asked(seen, "as") == "\"json\"" {
            return json("200 OK", "", &message).into_bytes();
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut all = head.as_bytes().to_vec();
        for part in format!("data: {message}\n\n").as_bytes().chunks(MB) {
            all.extend(chunk(part));
        }
        all.extend(b"0\r\n\r\n");
        all
    })
}

/// Sends requests over a new connection; each is `(id, bytes, as)`.
fn ask(gateway: &Gateway, calls: &[(usize, usize, &str)]) {
    let mut client = gateway.connect();
    for (id, bytes, kind) in calls {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\",\"params\":{{\"bytes\":{bytes},\"as\":\"{kind}\"}}}}"
        );
        client.send(post(gateway.address, "", &call));
        let head = client.head();
        assert_eq!(head.status(), 200);
        assert!(client.body(&head).len() >= *bytes);
    }
}

/// The exchange is on the tape with everything that belongs to it; how long its answer is.
fn whole(exchange: &Recorded) -> u64 {
    let lengths = exchange.find(|body| match body {
        EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } => Some(bytes.len() as u64),
        EventBody::Message { payload, .. } => panic!("{} bytes are cut", payload.wire_len()),
        EventBody::Gap(gap) => panic!("{gap:?}"),
        _ => None,
    });
    assert_eq!(lengths.len(), 2, "a request and an answer");
    assert!(exchange.response.is_some());
    for dir in [Direction::ToServer, Direction::ToClient] {
        assert_eq!(exchange.end(dir), Some(CloseReason::EndOfInput));
    }
    lengths[1]
}

#[test]
fn one_large_answer_is_kept_whole_with_all_that_belongs_to_it() {
    let server = server();
    let gateway = Gateway::to(server.address(), &[]);
    let calls = [
        (1, 6 * MB, "json"),
        (2, 6 * MB, "event"),
        (3, 6 * MB, "json"),
        (4, 30 * MB, "json"),
        (5, 30 * MB, "event"),
        (6, 100, "json"),
    ];
    ask(&gateway, &calls);
    let exchanges = gateway.stop().exchanges();
    let lengths: Vec<u64> = exchanges.iter().map(whole).collect();
    assert_eq!(lengths, calls.map(|(_, bytes, _)| bytes as u64));
}

#[test]
fn many_large_answers_at_once_are_kept_whole() {
    const CLIENTS: usize = 5;
    let server = server();
    let gateway = Gateway::to(server.address(), &[]);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let gateway = &gateway;
            let kind = if client == 0 { "event" } else { "json" };
            let calls: Vec<_> = (0..10).map(|call| (call, 2 * MB, kind)).collect();
            scope.spawn(move || ask(gateway, &calls));
        }
    });
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 10 * CLIENTS);
    for exchange in &exchanges {
        assert_eq!(whole(exchange), 2 * MB as u64);
    }
}

/// A library that makes the disk of a tape hang, by its path from `folder`: a path with spaces
/// cannot be preloaded.
fn hanging_disk(folder: &Path) -> &'static str {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos/hang.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("hang.so"))
        .arg(source);
    let built = cc.arg("-ldl").status().expect("what links the tests");
    assert!(built.success());
    "./hang.so"
}

#[test]
fn a_disk_that_hangs_stops_nobody_and_what_is_lost_is_counted() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let hangs = folder.path().join("hangs");
    let tape = folder.path().join("run.tape.jsonl");
    let mut command = tapewright();
    command
        .arg("record")
        .args(["--upstream", &format!("http://{}/mcp", server.address())])
        .args(["--listen", "127.0.0.1:0", "-o"])
        .arg(&tape)
        .current_dir(folder.path())
        .env("LD_PRELOAD", hanging_disk(folder.path()))
        .env("HANG_WHILE", &hangs)
        .env("HANG_PATH", "run.tape.jsonl");
    let gateway = Gateway::of(folder, &mut command);
    ask(&gateway, &[(1, 100, "json")]);
    fs::write(&hangs, "").unwrap();
    // Far more than the queue holds, and each is answered.
    let calls: Vec<_> = (2..=9).map(|id| (id, 2 * MB, "json")).collect();
    ask(&gateway, &calls);
    let hung = fs::metadata(&tape).unwrap().len();
    fs::remove_file(&hangs).unwrap();
    let goes_on = || fs::metadata(&tape).unwrap().len() > hung + MB as u64;
    assert!(eventually(PATIENCE, goes_on));
    ask(&gateway, &[(10, 100, "json")]);
    let tape = gateway.stop_with_gaps();
    let lost = tape.events.iter().filter_map(|event| match &event.body {
        EventBody::Gap(gap) => Some(gap),
        _ => None,
    });
    let lost: Vec<_> = lost.collect();
    assert!(!lost.is_empty());
    for gap in lost {
        assert_eq!(gap.why, GapReason::QueueFull);
        assert!(gap.events > 0 && gap.bytes > 0, "{gap:?}");
    }
    let answers = tape.messages(Direction::ToClient);
    assert!(answers.len() < 10, "{}", answers.len());
    for id in ["\"id\":1,", "\"id\":10,"] {
        assert!(answers.iter().any(|answer| answer.contains(id)), "{id}");
    }
}
