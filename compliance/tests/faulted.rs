//! No peer is blamed for what tapewright did itself.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use tapewright_compliance::finding::{Doubt, Finding, Side, Status};
use tapewright_compliance::table::{TABLE, find};
use tapewright_compliance::{Basis, Checker, Outcome, Selection, script};
use tapewright_schemas::event::{Carrier, Effect, Event, EventBody, Sink as _, What};

fn judge(example: &str, change: impl Fn(Vec<Event>) -> Vec<Event>) -> Vec<Outcome> {
    let script = script::read(example).unwrap();
    let mut checker = Checker::new(script.facts, Selection::all());
    for event in change(script.events) {
        checker.record(&event);
    }
    let judged = checker.finish(None);
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

fn blamed(outcomes: &[Outcome]) -> Vec<&Finding> {
    let findings = outcomes.iter().flat_map(|one| &one.findings);
    let blames = |one: &&Finding| one.status == Status::Fail && one.side != Side::Recorder;
    findings.filter(blames).collect()
}

/// A fault after every message.
fn tampered(events: Vec<Event>) -> Vec<Event> {
    let mut all = Vec::new();
    for event in events {
        let fault = matches!(event.body, EventBody::Message { .. }).then(|| Event {
            body: EventBody::Faulted(Effect::plain(What::Changed).about(None)),
            ..event.clone()
        });
        all.push(event);
        all.extend(fault);
    }
    for (seq, event) in (1..).zip(&mut all) {
        event.seq = seq;
    }
    all
}

#[test]
fn who_had_received_what_we_tampered_with_is_blamed_only_for_what_a_message_proves_alone() {
    let mut blames = 0;
    for rule in TABLE {
        for example in [rule.holds, rule.breaks] {
            let events = tampered(script::read(example).unwrap().events);
            let outcomes = judge(example, tampered);
            for finding in blamed(&outcomes) {
                let broken = find(finding.code).unwrap();
                let alone = match broken.basis {
                    // The messages of a side, and the ids that it counts, are its own.
                    Basis::Message | Basis::Sent => true,
                    // For a whole HTTP exchange: its heads, which faults do not change.
                    Basis::Exchange => !broken.carriers.has(Carrier::Line),
                    Basis::Conduit | Basis::Session => false,
                };
                let misled = |event: &Event| {
                    let fault = matches!(event.body, EventBody::Faulted(_));
                    let earlier = event.seq < finding.evidence.first().unwrap().seq;
                    fault && earlier && event.dir == finding.side.towards()
                };
                let innocent = alone || !events.iter().any(misled);
                assert!(innocent, "{}: {finding:?}", rule.code);
                blames += 1;
            }
        }
    }
    assert!(blames > 0);
}

#[test]
fn what_was_tampered_with_makes_a_verdict_inconclusive_and_not_passed() {
    let mut doubted = 0;
    for rule in TABLE {
        let outcomes = judge(rule.breaks, tampered);
        let mine = outcomes.iter().find(|one| one.code == rule.code).unwrap();
        if mine.findings.iter().any(|one| one.side == Side::Recorder) {
            doubted += 1;
            assert_ne!(mine.status, Status::Pass, "{mine:?}");
            assert!(
                mine.doubts.each().any(|one| one == Doubt::Faulted),
                "{mine:?}"
            );
        }
    }
    assert!(doubted > TABLE.len() / 3, "{doubted}");
}

/// The findings in a conversation with a fault in its middle, and the responsible sides.
fn told(example: &str) -> Vec<(String, Side)> {
    let outcomes = judge(example, |events| events);
    let findings = outcomes.iter().flat_map(|one| &one.findings);
    let mut told: Vec<_> = findings
        .filter(|one| one.status == Status::Fail)
        .map(|one| (one.code.to_string(), one.side))
        .collect();
    told.sort();
    told
}

#[test]
fn a_request_that_never_arrived_hangs_by_our_doing() {
    let hangs = told(
        r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
        fault > dropped
        wait 5000
        close >
        exit 0
        close <
        "#,
    );
    assert_eq!(hangs, [("INV-016".to_owned(), Side::Recorder)]);
}

#[test]
fn what_is_let_go_excuses_no_other_message() {
    // A hang from before the recording ends right after a request that the server forgets.
    let hangs = told(
        r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
        fault > {"message":1,"fault":"hang-1","kind":"hang","did":"released","after_us":1200000,"why":"removed"}
        wait 5000
        close >
        exit 0
        close <
        "#,
    );
    assert_eq!(hangs, [("INV-016".to_owned(), Side::Server)]);
}

#[test]
fn a_client_that_was_lied_to_is_not_blamed_for_what_it_then_does() {
    // It never saw the answer, gives up, and retries with the same token.
    let retried = told(
        r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}
        fault > dropped
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        fault > behind
        wait 2000
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
        fault < {"did":"replaced","by":"error"}
        wait 2000
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        "#,
    );
    assert!(
        retried.iter().all(|(_, side)| *side == Side::Recorder),
        "{retried:?}"
    );
}

#[test]
fn every_request_of_a_batch_that_was_altered_is_excused() {
    let answered = told(
        r#"
        handshake 2025-03-26 {"tools":{}}
        > [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}]
        fault > {"did":"replaced","by":"truncated"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        "#,
    );
    let ours = ("INV-005".to_owned(), Side::Recorder);
    assert_eq!(answered, [ours.clone(), ours]);
}

#[test]
fn a_line_that_broke_off_with_a_process_that_we_ended_is_ours() {
    let cut = |fault: &str| {
        told(&format!(
            r#"
            handshake 2025-06-18
            > {{"jsonrpc":"2.0","id":1,"method":"ping"}}
            {fault}
            < {{"jsonrpc":"2.0","id":1,
            noend <
            exit signal 9
            close <
            "#
        ))
    };
    assert_eq!(
        cut("fault > ended"),
        [("INV-053".to_owned(), Side::Recorder)]
    );
    assert_eq!(cut(""), [("INV-053".to_owned(), Side::Server)]);
}

#[test]
fn a_fault_does_not_excuse_who_was_not_touched_by_it() {
    // The client got something else than the server sent; the server continued undisturbed.
    let found = told(
        r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
        fault < {"did":"replaced","by":"wrong_id"}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        < {"jsonrpc":"2.0","id":7,"result":{}}
        "#,
    );
    let server = |code: &str| (code.to_owned(), Side::Server);
    assert_eq!(found, [server("INV-005"), server("INV-012")]);
}
