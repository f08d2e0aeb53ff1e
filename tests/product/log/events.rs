//! Every event of docs/log.md is raised by its documented cause, and no other event is.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tapewright_schemas::event::{Event, EventBody};
use tapewright_schemas::published;

use super::{ANSWER, Folder, LIMIT, PING, PONG, lines, names};
use crate::support::http::{Gateway, Strict, json, post, request};
use crate::support::{Session, Tape, eventually, peer, tapewright, wait};

/// Events that no session can be made to raise at a given moment: a stalled disk, and a log that
/// does not keep up with the tape. Unit tests raise these.
const ELSEWHERE: [&str; 3] = ["disk_back", "disk_stalled", "events_unlogged"];

/// The events of docs/log.md: name, level, target and fields.
fn documented() -> Vec<(String, String, String, Vec<String>)> {
    let text = std::fs::read_to_string(project("docs/log.md")).unwrap();
    let (mut target, mut found) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            name.clone_into(&mut target);
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, level, fields, _, ""] = cells[..]
            && let Some(name) = name.strip_prefix('`')
            && !target.is_empty()
        {
            let plain = |text: &str| text.replace('`', "");
            let fields = fields.split(", ").map(plain);
            found.push((
                plain(name),
                level.to_owned(),
                target.clone(),
                fields.collect(),
            ));
        }
    }
    found
}

#[test]
fn the_documentation_and_the_schema_name_the_same_events() {
    let schema: Value = serde_json::from_str(published::find("log-line").unwrap().text()).unwrap();
    let described = schema["oneOf"].as_array().unwrap().iter().map(|one| {
        let constant = |name: &str| {
            one["properties"][name]["const"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let required = one["required"].as_array();
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let fields = one["properties"].as_object().unwrap().keys();
        let own =
            fields.filter(|name| !["time", "level", "target", "event"].contains(&name.as_str()));
        let mark = |name: &String| format!("{name}{}", if is_required(name) { "" } else { "?" });
        let mut fields: Vec<String> = own.map(mark).collect();
        fields.sort();
        (
            constant("event"),
            constant("level"),
            constant("target"),
            fields,
        )
    });
    let mut described: Vec<_> = described.collect();
    described.sort();
    let mut documented = documented();
    for one in &mut documented {
        one.3.sort();
    }
    documented.sort();
    assert!(documented.len() > 30);
    assert_eq!(documented, described);
}

#[test]
fn every_event_is_raised() {
    let mut raised = BTreeSet::new();
    let mut wrong = Vec::new();
    let documented = documented();
    for scene in [
        files,
        full_disk,
        served_over_http,
        findings,
        folder_gone,
        gateway,
        made,
        refused_at_start,
        replayed,
        session,
        signalled,
        unheard,
        untraced,
    ] {
        for line in scene() {
            let name = line["event"].as_str().unwrap().to_owned();
            let known = documented.iter().find(|one| one.0 == name);
            if !known.is_some_and(|one| line["level"] == one.1 && line["target"] == one.2) {
                wrong.push(line);
            }
            raised.insert(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all: BTreeSet<String> = documented.into_iter().map(|one| one.0).collect();
    let missing: Vec<_> = all.difference(&raised).map(String::as_str).collect();
    assert_eq!(missing, ELSEWHERE);
}

/// From start to end, and from a line of the log to the line of the tape.
fn session() -> Vec<Value> {
    let folder = Folder::new();
    let output = folder.file("s.json");
    let mut session = folder.record("trace", &["-o", &output], &["sh", "-c", ANSWER]);
    session.send(PING);
    assert_eq!(session.line(), PONG);
    assert!(session.finish(LIMIT).success());
    let log = folder.log();
    let told = names(&log);
    assert_eq!(told.first(), Some(&"started"));
    assert_eq!(told.last(), Some(&"ended"));
    assert_eq!(only(&log, "ended")["status"], 0);
    let exchange = only(&log, "exchange");
    assert_eq!(
        (&exchange["method"], &exchange["outcome"]),
        (&"ping".into(), &"answered".into())
    );
    let tape = Tape::read(&folder.path().join("s.tape.jsonl"));
    for (field, text) in [("seq", PING), ("answer_seq", PONG)] {
        let seq = exchange[field].as_u64().unwrap();
        let event = tape.events.iter().find(|event| event.seq == seq).unwrap();
        assert!(
            matches!(&event.body, EventBody::Message { payload, .. } if payload.kept() == text.as_bytes()),
            "{event:?}"
        );
    }
    log
}

/// Nothing accepts its spans.
fn untraced() -> Vec<Value> {
    let folder = Folder::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let output = folder.file("s.tape.jsonl");
    let options = ["-o", &output, "--otlp", &url];
    let mut session = folder.record("info", &options, &["sh", "-c", ANSWER]);
    session.send(PING);
    assert_eq!(session.line(), PONG);
    assert!(session.finish(LIMIT).success());
    let log = folder.log();
    assert_eq!(only(&log, "spans_lost")["why"], "unreachable");
    assert_eq!(only(&log, "spans_sent")["sent"], 0);
    assert_eq!(only(&log, "points_lost")["why"], "unreachable");
    assert_eq!(only(&log, "points_sent")["sent"], 0);
    log
}

/// A file that cannot be replaced, and a message that is too long.
fn files() -> Vec<Value> {
    let folder = Folder::new();
    let output = folder.file("s.json");
    let options = ["-o", &output, "--max-message", "60"];
    let mut session = folder.record("info", &options, &["sh", "-c", ANSWER]);
    session.send(&PING.replace("ping", &"p".repeat(100)));
    assert_eq!(session.line(), PONG);
    session.send(PING);
    session.line();
    session.finish(LIMIT);
    let clipped = folder.log();
    assert_eq!(only(&clipped, "clipped")["from"], "client");
    assert!(
        folder
            .record("info", &["-o", &output], &["true"])
            .finish(LIMIT)
            .success()
    );
    let log = folder.log();
    assert!(log.len() > clipped.len(), "it was appended to");
    assert_eq!(only(&log, "file_kept")["file"], output.as_str());
    log
}

/// The folder of a recording is removed before it ends.
fn folder_gone() -> Vec<Value> {
    let folder = Folder::new();
    let deep = folder.file("deep");
    std::fs::create_dir(&deep).unwrap();
    let script = format!("read line; rm -rf '{deep}'; echo '{PONG}'; cat");
    let output = format!("{deep}/s.json");
    let mut session = folder.record("info", &["-o", &output], &["sh", "-c", &script]);
    session.send(PING);
    session.line();
    assert_eq!(session.finish(LIMIT).code(), Some(3));
    let log = folder.log();
    assert_eq!(only(&log, "recorded")["whole"], false);
    log
}

/// A limit on the size of files simulates a full disk, so that the log goes elsewhere.
fn full_disk() -> Vec<Value> {
    let folder = Folder::new();
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 64; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_tapewright"),
    ]);
    command.args(["record", "--log", "stderr", "--log-format", "json"]);
    command.args(["-o", &folder.file("s.tape.jsonl"), "--", "sh", "-c", ANSWER]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    let errors = session.child.stderr.take().unwrap();
    // There is a line for each gap, as many as a pipe holds, or more if the writer is woken often.
    let reader = std::thread::spawn(move || std::io::read_to_string(errors).unwrap());
    for _ in 0..800 {
        session.send(PING);
        assert_eq!(session.line(), PONG);
    }
    assert_eq!(session.finish(LIMIT).code(), Some(3));
    let log = lines(&reader.join().unwrap());
    assert!(names(&log).contains(&"tape_failed"));
    // Each event is on the tape or counted as lost, once: the start and the end of the server and of
    // both streams, and 800 requests with their answers.
    let tape = Tape::read(Path::new(&folder.file("s.tape.jsonl")));
    let is_gap = |event: &&Event| matches!(event.body, EventBody::Gap(_));
    let gaps = tape.events.iter().filter(is_gap).count() as u64;
    let recorded = only(&log, "recorded");
    let lost = recorded["lost_events"].as_u64().unwrap();
    assert_eq!(recorded["events"], tape.events.len());
    assert!(lost > 0);
    assert_eq!(tape.events.len() as u64 - gaps + lost, 4 + 1_600);
    let output = tapewright()
        .args(["inspect", &folder.file("s.tape.jsonl")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let why = text.lines().find(|line| line.contains("incomplete  "));
    let expected = if gaps > 0 {
        "cannot write"
    } else {
        "could not write"
    };
    assert!(why.is_some_and(|why| why.contains(expected)), "{text}");
    log
}

fn signalled() -> Vec<Value> {
    let folder = Folder::new();
    let script = format!("read line; echo '{PONG}'; exec sleep 1000");
    let mut session = folder.record("info", &[], &["sh", "-c", &script]);
    session.send(PING);
    session.line();
    session.signal("TERM");
    // Its input stays open: the signal ends it.
    wait(&mut session.child, LIMIT);
    let log = folder.log();
    assert_eq!(only(&log, "ended")["signal"], 15, "{log:#?}");
    log
}

/// A request that hangs until it is reported.
fn findings() -> Vec<Value> {
    let folder = Folder::new();
    let go = folder.file("go");
    let script = format!("read line; until [ -e '{go}' ]; do sleep 0.01; done; echo '{PONG}'; cat");
    let options = ["--check", "--hang-after", "10ms"];
    let mut session = folder.record("info", &options, &["sh", "-c", &script]);
    session.send(PING);
    let log = folder.file("log");
    let is_told = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("\"HANG\""));
    assert!(eventually(LIMIT, is_told));
    std::fs::write(&go, "").unwrap();
    assert_eq!(session.line(), PONG);
    session.finish(LIMIT);
    folder.log()
}

/// A fault, and the recorder's own message that results from it.
fn made() -> Vec<Value> {
    let folder = Folder::new();
    let options = ["--fault", "error method=ping"];
    let mut session = folder.record("info", &options, &["sh", "-c", ANSWER]);
    session.send(PING);
    assert!(session.line().contains("\"error\""));
    session.finish(LIMIT);
    // A bridge answers in place of a server that does not exist.
    let url = format!("http://{}/mcp", nobody());
    let mut command = tapewright();
    command
        .args(["record", "--upstream", &url])
        .args(folder.logged("info"));
    command.env("TAPEWRIGHT_HOME", folder.path().join("home"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut session = Session::start(command);
    session.send(PING);
    assert!(session.line().contains("\"error\""));
    session.finish(LIMIT);
    let log = folder.log();
    assert_eq!(only(&log, "message_made")["to"], "client");
    assert_eq!(
        log.iter().filter(|line| line["event"] == "fault").count(),
        1
    );
    log
}

fn refused_at_start() -> Vec<Value> {
    let folder = Folder::new();
    let mine = folder.file("server.py");
    std::fs::write(&mine, "import sys\n").unwrap();
    let session = folder.record("info", &["-o", &mine], &["true"]);
    assert_eq!(session.finish(LIMIT).code(), Some(2));
    let log = folder.log();
    assert_eq!(names(&log), ["started", "failed", "ended"]);
    assert_eq!(only(&log, "ended")["status"], 2);
    log
}

/// Sessions, a refusal, and a body that cannot be read.
fn gateway() -> Vec<Value> {
    let server = Strict::start(|seen| {
        let broken = "Content-Encoding: gzip\r\n";
        match seen.head.line.split(' ').next() {
            Some("DELETE") => json("200 OK", "", "").into_bytes(),
            Some("GET") => json(
                "200 OK",
                broken,
                "this is no gzip at all, whatever its head says",
            )
            .into_bytes(),
            _ => json("200 OK", "Mcp-Session-Id: abc\r\n", PONG).into_bytes(),
        }
    });
    let folder = Folder::new();
    let logged = folder.logged("debug");
    let logged: Vec<&str> = logged.iter().map(String::as_str).collect();
    let gateway = Gateway::to(server.address(), &logged);
    let own = gateway.address;
    let ask = |text: String| {
        let mut client = gateway.connect();
        client.send(text);
        let head = client.head();
        client.body(&head);
        head.status()
    };
    let initialize = PING.replace("ping", "initialize");
    assert_eq!(ask(post(own, "", &initialize)), 200);
    assert_eq!(ask(post(own, "Origin: http://evil.example\r\n", PING)), 403);
    assert_eq!(ask(request("GET /x?token=y", own, "")), 200);
    assert_eq!(
        ask(request("DELETE /mcp", own, "Mcp-Session-Id: abc\r\n")),
        200
    );
    gateway.stop_with_gaps();
    let log = folder.log();
    assert_eq!(only(&log, "refused")["status"], 403);
    assert_eq!(only(&log, "refused")["why"], "not_allowed");
    assert_eq!(only(&log, "gap")["why"], "encoding");
    assert_eq!(only(&log, "session_ended")["session"], 1);
    let of = |name: &str| log.iter().filter(|line| line["event"] == name).count();
    assert_eq!((of("http_exchange"), of("exchange")), (4, 1));
    log
}

/// A server that is not there.
fn served_over_http() -> Vec<Value> {
    let folder = Folder::new();
    let logged = folder.logged("info");
    let logged: Vec<&str> = logged.iter().map(String::as_str).collect();
    let gateway = Gateway::to(nobody(), &logged);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", PING));
    assert_eq!(client.head().status(), 502);
    drop(client);
    gateway.stop();
    let log = folder.log();
    assert!(
        only(&log, "ready")["listening"]
            .as_str()
            .unwrap()
            .starts_with("http://127")
    );
    assert_eq!(only(&log, "server_failed")["status"], 502);
    assert_eq!(only(&log, "server_failed")["why"], "unreachable");
    log
}

/// An address without a listener.
fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// A recording is replayed, compared, judged, and made into a suite.
fn replayed() -> Vec<Value> {
    let folder = Folder::new();
    let (fs, suite) = (folder.file("s.json"), folder.file("s.yaml"));
    let server = [peer().to_str().unwrap().to_owned(), "suite".to_owned()];
    let [program, role] = server.each_ref().map(String::as_str);
    let mut session = folder.record("info", &["-o", &fs], &[program, role]);
    let requests = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://readme"}}"#,
    ];
    for request in requests {
        session.send(request);
        session.line();
    }
    session.finish(LIMIT);
    let run = |words: &[&str], input: &str, server: &[&str]| {
        let mut command = tapewright();
        command
            .args(words)
            .args(folder.logged("debug"))
            .args(server);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // A process that reads no input may have exited.
        std::io::Write::write_all(&mut pipe, input.as_bytes()).ok();
        drop(pipe);
        wait(&mut child, LIMIT);
    };
    let missed = PING.replace("ping", "tools/list");
    run(
        &["replay", &fs],
        &format!("{}\n{missed}\n", requests[0]),
        &[],
    );
    run(&["verify", &fs], "", &["--", program, role]);
    run(&["compliance", "invariants", "--capture", &fs], "", &[]);
    run(&["init", &fs, "-o", &suite], "", &[]);
    let tests = "compliance:\n  - { name: one, server: s, check: initialize }\n";
    let text = format!("servers:\n  s: {{ cassette: {fs} }}\n{tests}");
    std::fs::write(&suite, text).unwrap();
    run(&["run", &suite], "", &[]);
    let log = folder.log();
    assert_eq!(only(&log, "missed")["method"], "tools/list");
    assert_eq!(only(&log, "replayed")["missed"], 1);
    assert_eq!(only(&log, "verified")["drifted"], 0);
    assert_eq!(only(&log, "judged")["recordings"], 1);
    assert_eq!(only(&log, "suite_written")["file"], suite.as_str());
    assert_eq!(only(&log, "tested")["tests"], 1);
    log
}

/// The log is not read until the end.
fn unheard() -> Vec<Value> {
    super::pressure::unread().1
}

/// The only line of an event.
fn only<'a>(lines: &'a [Value], event: &str) -> &'a Value {
    let mut found = lines.iter().filter(|line| line["event"] == event);
    let one = found
        .next()
        .unwrap_or_else(|| panic!("no {event} in {lines:#?}"));
    assert_eq!(found.next(), None, "{event}");
    one
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
