//! The events that a page gets during a session.

use std::process::Stdio;

use serde_json::Value;

use super::{PATIENCE, Page, Recorded, call, eventually};
use crate::support::http::Upstream;
use crate::support::{Session, peer, tapewright};

#[test]
fn rows_come_while_a_session_runs_and_what_waits_is_among_them() {
    let mut recorded = Recorded::start(&["--fault", "hang tool=stuck"]);
    recorded.call(1, "search");
    let Recorded {
        folder: _folder,
        mut session,
        page,
    } = recorded;
    let mut events = page.events(None);
    events.until(|row| row["tool"] == "search" && row["outcome"] == "answered");
    session.send(&call(2, "stuck"));
    let kept = |row: &Value| row["tool"] == "stuck" && row["outcome"] != "answered";
    events.until(kept);
    let state = page.get("/api/state");
    assert_eq!(state["sessions"][0]["requests"], 2, "{state}");
    assert_eq!(state["faults"][0]["kind"], "hang");
    assert_eq!(state["ended"], Value::Null);
    // It is released, and its row replaces the pending one.
    let name = state["faults"][0]["name"].as_str().unwrap().to_owned();
    let change = |enabled: bool| {
        let fields = [page.bearer(), ("sec-fetch-site", "same-origin".to_owned())];
        let body = format!("{{\"enabled\":{enabled}}}");
        let answer = page.ask("PUT", &format!("/api/faults/{name}"), &fields, &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
    };
    change(false);
    assert!(session.line().contains("\"id\":2"));
    events.until(|row| row["tool"] == "stuck" && row["outcome"] == "answered");
    session.send(&call(3, "stuck"));
    assert!(session.line().contains("\"id\":3"));
    change(true);
    session.send(&call(4, "stuck"));
    let fired = || page.get("/api/state")["faults"][0]["fired"] == 1;
    assert!(eventually(PATIENCE, fired));
    let answered = || {
        let all = page.exchanges();
        all.iter()
            .filter(|(_, outcome)| outcome == "answered")
            .count()
    };
    assert!(eventually(PATIENCE, || answered() == 3));
}

#[test]
fn a_stream_that_was_cut_goes_on_where_it_was() {
    let mut recorded = Recorded::start(&[]);
    recorded.call(1, "one");
    let mut events = recorded.page.events(None);
    let last = events.until(|row| row["tool"] == "one" && row["outcome"] == "answered");
    drop(events);
    for id in 2..=50 {
        recorded.call(id, "two");
    }
    let mut again = recorded.page.events(Some(&last));
    let mut seen = Vec::new();
    while !seen.contains(&"50".to_owned()) {
        let (_, rows) = again.next("rows");
        for row in rows.as_array().unwrap() {
            // The one before may be repeated, when nothing about it can change any more.
            if row["tool"] == "two" && row["outcome"] == "answered" {
                seen.push(row["id"].as_str().unwrap().to_owned());
            }
        }
    }
    let all: Vec<String> = (2..=50).map(|id: u64| id.to_string()).collect();
    seen.dedup();
    assert_eq!(seen, all);
    let wrong = recorded.page.ask(
        "GET",
        "/api/events",
        &[recorded.page.bearer(), ("last-event-id", "x".to_owned())],
        "",
    );
    assert_eq!(wrong.status, 400);
}

#[test]
fn what_was_said_is_told_only_where_it_is_asked_for_and_without_secrets() {
    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let ask = |options: &[&str]| {
        let mut recorded = Recorded::start(options);
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"arguments\":{{\"plain\":\"visible\",\"token\":\"{SECRET}\"}}}}}}"
        );
        recorded.session.send(&text);
        recorded.session.line();
        let page = &recorded.page;
        assert!(eventually(PATIENCE, || !page.exchanges().is_empty()));
        let (seq, _) = page.exchanges()[0].clone();
        let path = format!("/api/exchange/-/{seq}?kind=exchange&id=7");
        let answer = page.ask("GET", &path, &[page.bearer()], "");
        let everything = format!(
            "{}{}{}",
            page.get("/api/rows"),
            page.get("/api/state"),
            answer.body
        );
        assert!(!everything.contains(SECRET), "{everything}");
        let head = page.get("/api/head");
        (
            answer.status,
            answer.body,
            everything,
            head["bodies"].as_bool().unwrap(),
        )
    };
    let (status, body, everything, told) = ask(&[]);
    assert_eq!((status, told), (403, false));
    assert!(
        body.contains("--page-bodies") && !everything.contains("visible"),
        "{everything}"
    );
    let (status, body, _, told) = ask(&["--page-bodies"]);
    assert_eq!((status, told), (200, true));
    let said: Value = serde_json::from_str(&body).unwrap();
    assert!(
        said["request"]
            .as_str()
            .unwrap()
            .contains("\"plain\":\"visible\""),
        "{said}"
    );
    assert!(
        said["answer"].as_str().unwrap().contains("\"id\":7"),
        "{said}"
    );
}

#[test]
fn a_recorder_does_not_mind_a_reader_that_never_reads() {
    let mut recorded = Recorded::start(&["--max-message", "1MiB"]);
    recorded.call(1, "first");
    // None of them is ever read.
    let page = &recorded.page;
    let stuck: Vec<_> = (0..4)
        .map(|_| page.send("GET", "/api/events", &[page.bearer()], ""))
        .collect();
    for id in 2..=3_000 {
        recorded.call(id, "x");
    }
    let page = &recorded.page;
    assert!(eventually(
        PATIENCE,
        || page.get("/api/rows?from=0")["next"].as_u64() >= Some(1_000)
    ));
    drop(stuck);
    let tape = recorded.folder.path().join("run.tape.jsonl");
    let status = recorded.session.finish(PATIENCE);
    assert!(status.success());
    let tape = crate::support::Tape::read(&tape);
    assert!(tape.is_complete());
    assert_eq!(
        tape.messages(tapewright_schemas::event::Direction::ToClient)
            .len(),
        3_000
    );
}

#[test]
fn a_gateway_and_a_forward_proxy_have_pages_as_well() {
    let upstream = Upstream::start();
    for options in [
        vec![
            "--upstream".to_owned(),
            format!("http://{}/mcp", upstream.address()),
        ],
        vec!["--forward-proxy".to_owned(), "127.0.0.1:0".to_owned()],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = tapewright();
        command
            .arg("record")
            .arg("-o")
            .arg(folder.path().join("out/"));
        if options[0] == "--upstream" {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut child = command
            .args(&options)
            .arg("--page")
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let page = Page::of(&mut child);
        assert_eq!(page.get("/api/head")["kind"], "tape", "{options:?}");
        assert_eq!(page.get("/api/rows")["next"], 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_replay_that_nobody_records_is_shown_all_the_same_and_leaves_nothing() {
    let mut recorded = Recorded::start(&[]);
    recorded.call(1, "search");
    let tape = recorded.folder.path().join("run.tape.jsonl");
    let folder = recorded.folder;
    assert!(recorded.session.finish(PATIENCE).success());
    let scratch = folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let mut command = tapewright();
    command
        .arg("replay")
        .arg(&tape)
        .args(["--page", "--page-bodies"])
        .env("TMPDIR", &scratch);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    let page = Page::of(&mut session.child);
    session.send(&call(9, "search"));
    assert!(session.line().contains("\"id\":9"));
    assert!(eventually(PATIENCE, || !page.exchanges().is_empty()));
    assert!(session.finish(PATIENCE).success());
    let left: Vec<_> = std::fs::read_dir(&scratch)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_a_replay_misses_and_what_nobody_asks_for_is_told_as_it_happens() {
    let mut recorded = Recorded::start(&[]);
    recorded.call(1, "search");
    recorded.call(2, "read");
    let tape = recorded.folder.path().join("run.tape.jsonl");
    let _folder = recorded.folder;
    assert!(recorded.session.finish(PATIENCE).success());
    let mut command = tapewright();
    command
        .arg("replay")
        .arg(&tape)
        .arg("--page")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    let page = Page::of(&mut session.child);
    let mut events = page.events(None);
    let mut until = |is: &dyn Fn(&Value) -> bool| loop {
        let (_, state) = events.next("state");
        if is(&state) {
            return state;
        }
    };
    let state = until(&|state| state["unused"]["count"] == 2);
    assert_eq!(state["unused"]["of"], 2, "{state}");
    assert_eq!(state["unused"]["first"][0]["method"], "tools/call");
    session.send(&call(7, "search"));
    assert!(session.line().contains("\"id\":7"));
    until(&|state| state["unused"]["count"] == 1);
    session.send(&call(8, "other"));
    assert!(session.line().contains("-32020"));
    let state = until(&|state| state["missed"] == 1);
    let miss = &state["drift"][0];
    assert_eq!((&miss["id"], &miss["name"]), (&"8".into(), &"other".into()));
    assert!(
        miss["why"].as_str().unwrap().contains("never called"),
        "{miss}"
    );
    assert!(session.finish(PATIENCE).success());
}

#[test]
fn a_page_is_refused_where_it_would_show_secrets_or_be_reached_from_elsewhere() {
    let peer = peer();
    for (options, why) in [
        (vec!["--page", "--no-redact"], "made with `--no-redact`"),
        (vec!["--page=0.0.0.0:0"], "--page"),
        (vec!["--page=unix:/tmp/x"], "--page"),
        (vec!["--page-bodies"], "--page"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = tapewright();
        command
            .arg("record")
            .arg("-o")
            .arg(folder.path().join("x.tape.jsonl"))
            .args(&options);
        command
            .arg("--")
            .arg(&peer)
            .arg("answer")
            .arg(folder.path().join("log"));
        let done = command.stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{options:?}: {errors}");
        assert!(errors.contains(why), "{errors}");
    }
}
