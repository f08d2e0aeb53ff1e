//! How sessions end, and who is responsible for that.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Side, Status};
use tapewright_compliance::{Checker, Outcome, Selection, script};
use tapewright_schemas::event::Sink as _;

const ALL_ANSWERED: &str = "INV-016";
const EXITS: &str = "INV-026";

/// The verdict of one rule on a session with this ending.
fn verdict(code: &str, rest: &str) -> Outcome {
    let text = format!("handshake 2025-06-18 {{\"tools\":{{}}}}\n{rest}");
    let script = script::read(&text).unwrap();
    let mut selection = Selection::none();
    selection.select(code.parse::<Code>().unwrap()).unwrap();
    let mut checker = Checker::new(script.facts, selection);
    for event in &script.events {
        checker.record(event);
    }
    checker.finish(None).remove(0).outcomes.remove(0)
}

const CALL: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
const ANSWER: &str = r#"< {"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

#[test]
fn a_server_that_never_answers_and_is_ended_by_a_signal_hangs() {
    for end in [
        // The client closed its end, waited, and sent a signal.
        "close >\nwait 2000\nsignal SIGTERM\nexit signal 15",
        "close >\nwait 2000\nsignal SIGTERM\nwait 1200\nexit signal 9",
        "close >\nwait 2000\nsignal SIGTERM\nexit 0",
        // A shell reports it so.
        "close >\nwait 2000\nsignal SIGTERM\nexit 143",
        // A client that closes nothing.
        "wait 5000\nsignal SIGINT\nexit signal 2",
        // It had closed its output, so nothing waited for its answer.
        "wait 3000\nclose <\nclose >\nwait 2100\nexit signal 15",
    ] {
        let outcome = verdict(ALL_ANSWERED, &format!("{CALL}\n{end}"));
        assert_eq!(outcome.status, Status::Fail, "{end}");
        assert_eq!(outcome.findings[0].side, Side::Server, "{end}");
    }
}

#[test]
fn what_could_not_be_answered_is_no_hang() {
    let cancelled =
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let asks = r#"< {"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{}}"#;
    for end in [
        format!("{cancelled}\nclose >\nwait 2000\nsignal SIGTERM\nexit signal 15"),
        // Too late.
        "close >\nwait 500\nsignal SIGTERM\nexit signal 15".to_owned(),
        "wait 300\nclose >\nexit 0".to_owned(),
        // The client has gone.
        "wait 5000\nclose >\nwait 1000\nexit signal 15".to_owned(),
        "wait 5000\nclose < receiver gone\nclose >\nwait 2100\nexit signal 15".to_owned(),
        // It has ended itself.
        "wait 5000\nexit signal 11\nclose <".to_owned(),
        // It waits for its client.
        format!("{asks}\nwait 5000\nclose >\nwait 2000\nsignal SIGTERM\nexit signal 15"),
    ] {
        let outcome = verdict(ALL_ANSWERED, &format!("{CALL}\n{end}"));
        let mut found = outcome.findings.iter();
        assert!(
            found.all(|one| one.side == Side::Client),
            "{end}: {outcome:?}"
        );
    }
}

#[test]
fn a_server_has_two_seconds_to_end_by_itself() {
    for (end, expected) in [
        ("close >\nwait 1500\nexit 0", Status::Pass),
        ("close >\nwait 2000\nexit 0", Status::Pass),
        ("close >\nwait 2000\nexit signal 15", Status::Fail),
        ("close >\nwait 2100\nexit 0\n", Status::Fail),
        // The time that the recorder held its end does not count, and all other time does.
        ("close >\nwait 5000\nexit 0 ours 3500", Status::Pass),
        ("close >\nwait 5000\nexit 0 ours 2500", Status::Fail),
        ("close >\nwait 5000\nexit signal 15 ours 3000", Status::Fail),
        (
            "close >\nwait 5000\nexit signal 15 ours 4000",
            Status::Inconclusive,
        ),
        // The client did not wait, like an old version of this recorder.
        ("close >\nwait 1000\nexit signal 15", Status::Inconclusive),
    ] {
        assert_eq!(verdict(EXITS, end).status, expected, "{end}");
    }
}

#[test]
fn what_a_server_was_asked_before_it_may_finish_first() {
    let busy = format!("{CALL}\nclose >\nwait 5000\n{ANSWER}\nwait 1500\nexit 0");
    assert_eq!(verdict(EXITS, &busy).status, Status::Pass);
    let stays = format!("{CALL}\nclose >\nwait 5000\n{ANSWER}\nwait 2100\nexit signal 15");
    assert_eq!(verdict(EXITS, &stays).status, Status::Fail);
}
