//! The findings of a judge during recording.

use std::fs;

use tapewright_schemas::event::{Direction, EventBody};

use super::{INITIALIZE, PING, PONG, RESULT, findings, from_disk, handshake, server};
use crate::support::http::{json, pair, post};
use crate::support::{Session, Tape, record};

/// Answers a ping with the id of another request.
fn confused() -> String {
    server(&[
        ("initialize\\\"", RESULT),
        ("ping", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
    ])
}

/// A session with a server; returns its exit status and its standard error.
fn play(folder: &std::path::Path, options: &[&str], script: &str) -> (i32, String) {
    let (cassette, capture) = (folder.join("s.json"), folder.join("s.capture.json"));
    let mut all = vec!["-o", cassette.to_str().unwrap()];
    all.extend(["--save-capture", capture.to_str().unwrap()]);
    all.extend(options);
    let mut session = Session::start(record(&all, &["sh", "-c", script]));
    handshake(&mut session);
    session.send(PING);
    session.line();
    session.close_input();
    let output = session.child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), errors)
}

#[test]
fn findings_stand_on_the_tape_where_they_were_found_and_nowhere_else() {
    for durability in ["queue", "written", "synced"] {
        let folder = tempfile::tempdir().unwrap();
        let options = ["--check", "--all", "--durability", durability];
        let (status, errors) = play(folder.path(), &options, &confused());
        assert_eq!((status, errors.as_str()), (0, ""), "{durability}");
        let tape = Tape::read(&folder.path().join("s.tape.jsonl"));
        assert!(tape.is_complete());
        let found = findings(&tape);
        let stray = found.iter().find(|one| one.code == "INV-012").unwrap();
        assert_eq!((stray.status.name(), stray.side.name()), ("fail", "server"));
        let place = &stray.evidence[0];
        let proof = tape
            .events
            .iter()
            .find(|event| event.seq == place.seq)
            .unwrap();
        let EventBody::Message { payload, .. } = &proof.body else {
            panic!("{proof:?}");
        };
        assert!(payload.kept().starts_with(br#"{"jsonrpc":"2.0","id":7"#));
        assert_eq!(place.pointer, "/id");
        // Numbers without a hole: the footer counts findings too.
        let numbers: Vec<u64> = tape.events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=tape.events.len() as u64).collect::<Vec<_>>());
        assert_eq!(tape.messages(Direction::ToClient).len(), 2);
        for name in ["s.json", "s.capture.json"] {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(!text.contains("INV-"), "{text}");
        }
    }
}

#[test]
fn judging_the_tape_later_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    play(folder.path(), &["--check", "--all"], &confused());
    let path = folder.path().join("s.tape.jsonl");
    let mut live: Vec<_> = findings(&Tape::read(&path))
        .into_iter()
        .map(|one| {
            let places = one.evidence.iter().map(|place| place.seq).collect();
            (one.code, one.detail, places)
        })
        .collect();
    live.sort();
    assert!(!live.is_empty());
    assert_eq!(live, from_disk(&path));
}

#[test]
fn strict_tells_it_in_the_exit_status_and_verbose_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let (status, errors) = play(
        folder.path(),
        &["--check", "--all", "--strict", "-v"],
        &confused(),
    );
    assert_eq!(status, 1, "{errors}");
    let line = "tapewright: INV-012 fail (server): no request with this id was in flight (event ";
    assert!(errors.contains(line), "{errors}");
    // A correct server, judged just as strictly.
    let folder = tempfile::tempdir().unwrap();
    let good = server(&[("initialize\\\"", RESULT), ("ping", PONG)]);
    let options = [
        "--check",
        "--all",
        "--strict",
        "-v",
        "--durability",
        "written",
    ];
    let (status, errors) = play(folder.path(), &options, &good);
    assert_eq!(status, 0, "{errors}");
    assert!(!errors.contains("INV-"), "{errors}");
    // The same confused server, with only other invariants selected, as the documented seven do.
    for selection in [&["--select", "INV-001,INV-002"][..], &[]] {
        let folder = tempfile::tempdir().unwrap();
        let options = [&["--check", "--strict"], selection].concat();
        assert_eq!(play(folder.path(), &options, &confused()).0, 0);
    }
}

#[test]
fn a_secret_that_a_finding_would_quote_is_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let token = format!("ghp_{}", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zCd7e");
    let noise = format!("listening, token {token}");
    let script = server(&[("initialize\\\"", RESULT), ("ping", &noise)]);
    let (_, errors) = play(folder.path(), &["--check", "--all", "-v"], &script);
    let tape = fs::read_to_string(folder.path().join("s.tape.jsonl")).unwrap();
    assert!(tape.contains("INV-053"), "{tape}");
    assert!(
        !tape.contains(&token) && !errors.contains(&token),
        "{tape}{errors}"
    );
}

#[test]
fn exchanges_over_http_are_judged_as_they_pass() {
    for options in [
        &["--check", "--all"][..],
        &["--check", "--all", "--durability", "written"],
    ] {
        let (upstream, gateway) = pair(options);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", INITIALIZE));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        let fields = "Mcp-Session-Id: s-1\r\nConnection: close\r\n";
        server.send(json("200 OK", fields, RESULT));
        let head = client.head();
        client.body(&head);
        // Without the session id that was issued.
        client.send(post(gateway.address, "", PING));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(json("400 Bad Request", "Connection: close\r\n", "{}"));
        let head = client.head();
        client.body(&head);
        drop(client);
        let path = gateway.tape();
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("run.tape.jsonl");
        gateway.signal("TERM");
        let mut gateway = gateway;
        let tape = gateway.ended();
        fs::copy(path, &kept).unwrap();
        let found = findings(&tape);
        assert!(found.iter().any(|one| one.code == "INV-055"), "{found:?}");
        let mut live: Vec<_> = found
            .into_iter()
            .map(|one| {
                let places = one.evidence.iter().map(|place| place.seq).collect();
                (one.code, one.detail, places)
            })
            .collect();
        live.sort();
        assert_eq!(live, from_disk(&kept));
    }
}
