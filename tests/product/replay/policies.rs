//! What a client gets, depending on the options.

use std::time::Instant;

use super::{LIMIT, ask, call, cassette, exchange, opening, say, session};

#[test]
fn a_recorded_server_answers_and_ends_with_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[opening(), call("\"a\"", "first"), call("\"a\"", "second")]);
    let mut session = session(folder.path(), &tape, &["--strict"]);
    let opened = ask(&mut session, 7, "initialize", "{}");
    assert_eq!(opened["result"]["serverInfo"]["name"], "s");
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    // Equal requests get their recordings in recorded order.
    assert_eq!(say(&mut session, 8, "\"a\""), "first");
    assert_eq!(say(&mut session, 9, "\"a\""), "second");
    assert_eq!(session.finish(LIMIT).code(), Some(0));
}

#[test]
fn what_follows_the_last_recording_is_a_policy() {
    let tape = cassette(&[call("1", "one"), call("1", "two")]);
    for (policy, third) in [
        (
            "error",
            "-32020 no recording answers `tools/call` of `echo`: its recordings are used up (2 of 2)",
        ),
        ("last", "two"),
        ("cycle", "one"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path(), &tape, &["--exhausted", policy]);
        say(&mut session, 1, "1");
        say(&mut session, 2, "1");
        assert_eq!(say(&mut session, 3, "1"), third);
        session.finish(LIMIT);
    }
}

#[test]
fn requests_may_have_to_come_in_recorded_order() {
    let list = exchange("tools/list", "{}", r#"{"tools":[]}"#);
    let timed = |exchange: String, at: u32| {
        let (head, _) = exchange.rsplit_once('}').unwrap();
        format!(r#"{head},"timing":{{"sent_ms":{at},"took_ms":1}}}}"#)
    };
    let tape = cassette(&[
        timed(call("1", "one"), 0),
        timed(list, 10),
        timed(call("2", "two"), 20),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let mut strict = session(folder.path(), &tape, &["--ordering", "recorded"]);
    let early = say(&mut strict, 1, "2");
    assert!(
        early.contains("out of order; expected `tools/call` of `echo` next (/exchanges/0)"),
        "{early}"
    );
    assert_eq!(say(&mut strict, 2, "1"), "one");
    assert!(say(&mut strict, 3, "2").contains("/exchanges/1"));
    strict.finish(LIMIT);
    let mut loose = session(folder.path(), &tape, &["--ordering", "per-method"]);
    assert_eq!(say(&mut loose, 1, "1"), "one");
    assert_eq!(say(&mut loose, 2, "2"), "two");
    loose.finish(LIMIT);
    let mut free = session(folder.path(), &tape, &["--ordering", "none"]);
    assert_eq!(say(&mut free, 1, "2"), "two");
    free.finish(LIMIT);
}

#[test]
fn modes_say_when_a_request_is_a_recorded_one() {
    let id = "\"6fa459ea-ee8a-3ca4-894e-db77e160355e\"";
    let other = "\"0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56\"";
    let tape = cassette(&[call(id, "one")]);
    for (options, argument, found) in [
        (&["--match", "strict"][..], other, false),
        (&["--match", "strict"], id, true),
        (&["--match", "semantic"], other, true),
        (&["--match", "semantic"], "\"plain\"", false),
        (&["--match", "structural"], "\"plain\"", true),
        (&["--match", "structural"], "7", false),
        (&["--ignore", "/params/arguments/text"], "7", true),
        (&["--ignore", "/params/arguments/*"], "[]", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path(), &tape, options);
        let said = say(&mut session, 1, argument);
        assert_eq!(said == "one", found, "{options:?} {argument}: {said}");
        session.finish(LIMIT);
    }
}

#[test]
fn a_secret_matches_its_redacted_recording() {
    let secret = "\"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\"";
    let tape = cassette(&[call("\"<REDACTED:token#1>\"", "one")]);
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &tape, &["-v"]);
    let said = say(&mut session, 1, secret);
    assert!(!said.contains("abcdefghij"), "{said}");
    session.finish(LIMIT);
}

#[test]
fn a_request_that_never_got_an_answer_is_a_policy_too() {
    let tape = r#"{"version":"1","exchanges":[],"unanswered":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}},"why":"still pending"}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let mut error = session(folder.path(), tape, &["--unanswered", "error"]);
    let said = say(&mut error, 1, "1");
    assert!(
        said.contains("recorded without an answer (still pending)"),
        "{said}"
    );
    error.finish(LIMIT);
    let mut skip = session(folder.path(), tape, &["--unanswered", "skip"]);
    let said = say(&mut skip, 1, "1");
    assert!(
        said.starts_with("-32020") && !said.contains("pending"),
        "{said}"
    );
    skip.finish(LIMIT);
    // It hangs, and nothing else does.
    let mut hang = session(folder.path(), tape, &[]);
    hang.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}}"#);
    let pong = ask(&mut hang, 2, "ping", "{}");
    assert_eq!(pong["result"], serde_json::json!({}));
    assert_eq!(hang.finish(LIMIT).code(), Some(0));
}

#[test]
fn the_recorded_pace_is_kept_and_capped() {
    let slow = r#"{"version":"1","exchanges":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1},"_meta":{"progressToken":1}}},"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}},"timing":{"sent_ms":0,"took_ms":600},"stream":[{"from":"server","at_ms":300,"message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}}]}]}"#;
    let asked = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":1},"_meta":{"progressToken":"live"}}}"#;
    // A lower bound holds on any machine.
    for (options, at_least_ms) in [
        (&["--pace", "recorded"][..], 600),
        (&["--pace", "0.5"], 300),
        (&["--pace", "recorded", "--pace-cap", "100ms"], 200),
        (&["--pace", "instant"], 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path(), slow, options);
        let start = Instant::now();
        session.send(asked);
        let progress = session.line();
        assert!(progress.contains(r#""progressToken":"live""#), "{progress}");
        let answer = session.line();
        assert!(
            answer.contains("\"id\":5") && answer.contains("done"),
            "{answer}"
        );
        assert!(start.elapsed().as_millis() >= at_least_ms, "{options:?}");
        session.finish(LIMIT);
    }
}

#[test]
fn what_the_server_asks_is_asked_again_and_awaited() {
    let tape = r#"{"version":"1","exchanges":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}},"response":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}},"stream":[{"from":"server","message":{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}},{"from":"client","message":{"jsonrpc":"2.0","id":0,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}}},{"from":"server","message":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"thanks"}}}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), tape, &["--strict"]);
    session.send(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}}"#);
    let question = session.line();
    assert!(question.contains("sampling/createMessage"), "{question}");
    // Other requests continue meanwhile.
    ask(&mut session, 4, "ping", "{}");
    session.send(r#"{"jsonrpc":"2.0","id":0,"result":{"role":"assistant","model":"other","content":{"type":"text","text":"no"}}}"#);
    assert!(session.line().contains("thanks"));
    assert!(session.line().contains("done"));
    assert_eq!(session.finish(LIMIT).code(), Some(0));
}
