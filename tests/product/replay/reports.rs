//! Reports about misses and about the result of a replay.

use std::io::Read as _;

use super::{LIMIT, ask, call, cassette, command, exchange, opening, say, session};
use crate::support::{Session, signal};

#[test]
fn a_miss_says_why_and_shows_what_was_nearest() {
    let tape = cassette(&[
        opening(),
        call("\"Paris\"", "cold"),
        call("\"Rome\"", "warm"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &tape, &["-v"]);
    let params = r#"{"name":"echo","arguments":{"text":"Pari","more":[1]}}"#;
    let answer = ask(&mut session, 1, "tools/call", params);
    let error = &answer["error"];
    assert_eq!(error["code"], -32020);
    assert_eq!(
        error["message"],
        "no recording answers `tools/call` of `echo`: never recorded with these parameters; the nearest of `echo`, /exchanges/1, differs at $.params.arguments.more, $.params.arguments.text"
    );
    assert_eq!(error["data"]["reason"], "never_recorded");
    assert_eq!(
        error["data"]["nearest"][0]["differences"][1]["recorded"],
        "\"Paris\""
    );
    let unknown = ask(&mut session, 2, "prompts/list", "{}");
    assert_eq!(
        unknown["error"]["message"],
        "no recording answers `prompts/list`: the method was never recorded"
    );
    session.close_input();
    let mut said = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    for part in [
        "serving 3 requests of the cassette tape.json",
        "/exchanges/1 $.params.arguments.text: recorded \"Paris\", asked \"Pari\"",
        "0 served, 2 missed, 3 of 3 recorded requests never requested",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(session.finish(LIMIT).code(), Some(0));
}

#[test]
fn without_being_asked_nothing_is_said_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &cassette(&[call("1", "one")]), &[]);
    say(&mut session, 1, "2");
    session.close_input();
    let mut said = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    session.finish(LIMIT);
}

#[test]
fn strict_wants_every_request_recorded_and_every_recording_used() {
    let tape = cassette(&[call("1", "one"), call("2", "two")]);
    for (asked, status) in [(&["1", "2"][..], 0), (&["1"], 1), (&["1", "2", "3"], 1)] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path(), &tape, &["--strict"]);
        for (id, argument) in (1..).zip(asked) {
            say(&mut session, id, argument);
        }
        assert_eq!(session.finish(LIMIT).code(), Some(status), "{asked:?}");
    }
}

#[test]
fn the_report_lists_what_was_served_missed_and_never_asked_for() {
    let tape = cassette(&[call("1", "one"), call("2", "two")]);
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &tape, &["--report", "report.json"]);
    say(&mut session, 1, "1");
    say(&mut session, 2, "9");
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let counts = ["sessions", "served", "missed", "unused"].map(|name| report[name].clone());
    assert_eq!(counts, [1, 1, 1, 1]);
    assert_eq!(report["requests"][0]["place"], "/exchanges/0");
    assert_eq!(report["requests"][1]["times"], 0);
    assert_eq!(report["misses"][0]["method"], "tools/call");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn pings_and_other_replies_are_told() {
    let tape = r#"{"version":"1","exchanges":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}},"response":{"jsonrpc":"2.0","id":1,"result":{"content":[]}},"stream":[{"from":"server","message":{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}},{"from":"client","message":{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let options = ["-v", "--report", "report.json", "--strict"];
    let mut session = session(folder.path(), tape, &options);
    ask(&mut session, 1, "ping", "{}");
    // Empty and absent arguments are the same.
    session.send(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}"#,
    );
    assert!(session.line().contains("elicitation/create"));
    session.send(r#"{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}"#);
    assert!(session.line().contains("content"));
    session.close_input();
    let mut said = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    for part in [
        "1 served, 0 missed, 0 of 1 recorded requests never requested",
        "1 unrecorded pings answered",
        "1 replies to the recorded server differed from the recorded ones",
        "elicitation/create $.result.action: recorded \"accept\", replied \"decline\"",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["own_pings"], &report["replied_otherwise"]),
        (&1.into(), &1.into())
    );
    let reply = &report["other_replies"][0];
    assert_eq!(reply["method"], "elicitation/create");
    assert_eq!(reply["differences"][0]["live"], "\"decline\"");
}

/// The status after SIGTERM, or what stands for it.
const TERMINATED: i32 = if cfg!(windows) { 130 } else { 143 };

#[test]
fn a_signal_ends_it_with_its_report() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("tape.json"),
        cassette(&[call("1", "one")]),
    )
    .unwrap();
    let mut session = Session::start(command(folder.path(), &["--report", "report.json"]));
    say(&mut session, 1, "1");
    signal(session.child.id(), "TERM");
    let status = crate::support::wait(&mut session.child, LIMIT);
    assert_eq!(status.code(), Some(TERMINATED));
    assert!(folder.path().join("report.json").exists());
}

#[test]
fn a_method_that_holds_a_secret_is_not_told() {
    let token = |one: &str| format!("ghp_{}", one.repeat(36));
    let (recorded, asked) = (token("a"), token("b"));
    let tape = cassette(&[
        exchange(&format!("tools/{recorded}"), "{}", "{}"),
        opening(),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &tape, &["-v", "--report", "report.json"]);
    ask(&mut session, 1, &format!("tools/{asked}"), "{}");
    session.close_input();
    let mut told = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut told).unwrap();
    assert!(told.contains("1 missed"), "{told}");
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    told.push_str(&std::fs::read_to_string(folder.path().join("report.json")).unwrap());
    assert!(told.contains("tools/<REDACTED:"), "{told}");
    assert!(
        !told.contains(&recorded) && !told.contains(&asked),
        "{told}"
    );
}

#[test]
fn paths_of_another_machine_are_mapped_and_on_the_report() {
    let tape = cassette(&[opening(), call("\"/home/ann/p/a\"", "in /home/ann/p/a")]);
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "--map",
        "/home/ann/p=/srv/bob",
        "-v",
        "--report",
        "report.json",
    ];
    let mut session = session(folder.path(), &tape, &options);
    assert_eq!(say(&mut session, 1, "\"/srv/bob/a\""), "in /srv/bob/a");
    session.close_input();
    let mut said = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(
        said.contains("1 served with paths that were turned into the recorded ones"),
        "{said}"
    );
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["mapped"], 1);
    assert_eq!(report["mapped_requests"][0]["place"], "/exchanges/1");
    assert_eq!(
        report["mapped_requests"][0]["paths"][0]["recorded"],
        "/home/ann/p"
    );
}
