//! Injected faults: the original answer is kept and marked, and hangs are reported.

use serde_json::json;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, EventBody, Faulted, Head, Peer, RequestHead, ResponseHead,
    What,
};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::summary::{Fold, Report};

use crate::support::{Script, complete, header};

/// The effect of a fault, as on the tape.
fn fault(script: Script, dir: Direction, effect: &str) -> Script {
    let faulted: Faulted = serde_json::from_str(effect).unwrap();
    assert!(!matches!(faulted.effect.what, What::Other { .. }));
    script.push(dir, EventBody::Faulted(Box::new(faulted)))
}

const HELD: &str = r#"{"fault":"hang-1","kind":"hang","did":"held","until":"removed"}"#;
const RELEASED: &str = r#"{"message":1,"fault":"hang-1","kind":"hang","did":"released","after_us":2000,"why":"removed"}"#;
const DROPPED: &str = r#"{"fault":"drop-1","kind":"drop","did":"dropped"}"#;

fn asked(id: u64) -> String {
    format!("{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"search\"}}}}")
}

fn report(events: &[tapewright_schemas::event::Event]) -> Report {
    let mut fold = Fold::new(true);
    for event in events {
        fold.observe(event);
    }
    fold.finish(FileKind::Tape, &header(), &complete())
}

/// Two calls: the answer of the first is held and released, that of the second is held forever.
fn hung() -> Script {
    let to_client = Direction::ToClient;
    let script = Script::default()
        .push(to_client, EventBody::Opened(Peer::Process { pid: 7 }))
        .c(asked(1))
        .s(r#"{"id":1,"result":{"n":1}}"#);
    let script = fault(script, to_client, HELD);
    let script = script.c(asked(2)).s(r#"{"id":2,"result":{"n":2}}"#);
    let script = fault(script, to_client, HELD);
    let script = fault(script, to_client, RELEASED);
    script.c(r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#)
}

#[test]
fn the_true_answer_is_kept_and_marked() {
    let (_, cassette) = hung().cassette();
    for (place, n) in [(0, 1), (1, 2)] {
        let exchange = &cassette["exchanges"][place];
        assert_eq!(exchange["response"]["result"]["n"], n);
        assert_eq!(exchange["fault"]["fault"], "hang-1");
        assert_eq!(exchange["fault"]["did"], "held");
    }
    let marks: Vec<_> = cassette["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["mark"] == "faulted")
        .collect();
    assert_eq!(marks.len(), 3);
}

#[test]
fn what_no_fault_touched_is_not_marked() {
    let script = Script::default().c(asked(1));
    let script = fault(script, Direction::ToServer, DROPPED);
    let script = script.c(asked(2)).s(r#"{"id":2,"result":{}}"#);
    let script = script.s(r#"{"id":1,"result":{}}"#);
    let (_, cassette) = script.cassette();
    assert_eq!(cassette["exchanges"][0]["fault"]["did"], "dropped");
    assert_eq!(cassette["exchanges"][1]["fault"], json!(null));
}

#[test]
fn over_http_an_answer_is_marked_before_and_after_its_exchange_is_over() {
    for early in [true, false] {
        let address = "127.0.0.1:1".to_owned();
        let opened = EventBody::Opened(Peer::Client {
            address,
            connection: 1,
        });
        let head = |head| EventBody::Head(Box::new(head));
        let (to_server, to_client) = (Direction::ToServer, Direction::ToClient);
        let mut script = Script::default()
            .push(to_server, opened)
            .push(to_server, head(Head::Request(RequestHead::default())))
            .c(asked(1))
            .closed(to_server, CloseReason::EndOfInput)
            .push(to_client, head(Head::Response(ResponseHead::default())))
            .s(r#"{"id":1,"result":{"n":1}}"#);
        if early {
            script = fault(script, to_client, HELD);
        }
        script = script.closed(to_client, CloseReason::EndOfInput);
        if !early {
            script = fault(script, to_client, HELD);
        }
        let mut script = fault(script, to_client, RELEASED);
        for event in &mut script.events {
            event.conduit = ConduitId(3);
        }
        let (text, cassette) = script.cassette();
        let exchange = &cassette["exchanges"][0];
        assert_eq!(exchange["fault"]["did"], "held", "{text}");
        assert_eq!(text.matches("\"fault\": {").count(), 1);
        let report = report(&script.events);
        assert_eq!(report.hangs[0].closed.word(), "answered");
    }
}

#[test]
fn hangs_are_told_with_their_fault_and_how_they_ended() {
    let report = report(&hung().events);
    let told: Vec<_> = report
        .hangs
        .iter()
        .map(|hang| {
            (
                hang.id.as_str(),
                hang.closed.word(),
                hang.fault.as_ref().map(|fault| fault.name.as_str()),
            )
        })
        .collect();
    let fault = Some("hang-1");
    assert_eq!(told, [("1", "answered", fault), ("2", "cancelled", fault)]);
    // On the tape both have their answer.
    assert_eq!((report.hangs_count, report.unanswered_count), (2, 0));
}

#[test]
fn who_is_never_answered_hangs_too() {
    let script = Script::default()
        .c(asked(1))
        .c(asked(2))
        .c(r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#)
        .closed(Direction::ToClient, CloseReason::EndOfInput);
    let report = report(&script.events);
    let told: Vec<_> = report
        .hangs
        .iter()
        .map(|hang| (hang.id.as_str(), hang.closed.word()))
        .collect();
    assert_eq!(told, [("1", "peer gone"), ("2", "cancelled")]);
    assert_eq!(report.unanswered_count, 2);
}
