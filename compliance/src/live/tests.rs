use bytes::Bytes;
use tapewright_schemas::event::{CloseReason, LineEnd, Payload, Peer};

use super::*;
use crate::finding::Status;
use crate::script;

fn second(count: u64) -> Offset {
    Offset(count * 1_000_000)
}

fn say(dir: Direction, at: u64, text: &str) -> Event {
    let payload = Payload::Whole(Bytes::from(text.to_owned()));
    let end = LineEnd::Lf;
    let body = EventBody::message(payload, end);
    let mut event = Event::new(second(at), dir, body);
    event.seq = at + 1;
    event
}

fn told(live: &mut Live) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    while let Some(event) = live.poll() {
        let EventBody::Finding(finding) = event.body else {
            panic!("a judge tells findings");
        };
        all.push((
            finding.code,
            finding.status.name().to_owned(),
            finding.detail,
        ));
    }
    all
}

fn watching_hangs() -> Live {
    let watch = Watch {
        selection: None,
        hang_after: Some(second(30)),
    };
    Live::new(Facts::live(), &watch)
}

fn all() -> Watch {
    Watch {
        selection: Some(Selection::all()),
        hang_after: None,
    }
}

#[test]
fn a_request_without_an_answer_is_named_and_an_answer_closes_it() {
    let mut live = watching_hangs();
    let ask = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#;
    live.observe(&say(Direction::ToServer, 5, ask), None);
    live.tick(second(34));
    assert_eq!(told(&mut live), []);
    live.tick(second(36));
    live.tick(second(90));
    let open = "`tools/call`, id `a`, has had no answer for 31.0 s, since 5.0 s";
    let expected = ("HANG".to_owned(), "open".to_owned(), open.to_owned());
    assert_eq!(told(&mut live), [expected]);
    let answer = r#"{"jsonrpc":"2.0","id":"a","result":{}}"#;
    live.observe(&say(Direction::ToClient, 100, answer), None);
    let closed = "`tools/call`, id `a`, was answered after 95.0 s";
    let expected = ("HANG".to_owned(), "closed".to_owned(), closed.to_owned());
    assert_eq!(told(&mut live), [expected]);
}

#[test]
fn what_was_given_up_or_lasts_by_design_does_not_hang() {
    let mut live = watching_hangs();
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}"#,
    ] {
        live.observe(&say(Direction::ToServer, 1, text), None);
    }
    live.end(second(500));
    assert_eq!(told(&mut live), []);
}

#[test]
fn an_exchange_that_is_over_does_not_hang() {
    let mut live = watching_hangs();
    let mut ask = say(
        Direction::ToServer,
        1,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    );
    ask.conduit.0 = 4;
    live.observe(&ask, None);
    let closed = EventBody::Closed(CloseReason::EndOfInput);
    let mut closed = Event::new(second(2), Direction::ToClient, closed);
    closed.conduit.0 = 4;
    live.observe(&closed, None);
    live.tick(second(500));
    assert_eq!(told(&mut live), []);
}

/// A request over HTTP in this session, whose stream ends without an answer.
fn ended_stream(live: &mut Live, session: u32) {
    let opened = EventBody::Opened(Peer::Client {
        address: "127.0.0.1:1".to_owned(),
        connection: 1,
    });
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    let closed = EventBody::Closed(CloseReason::EndOfInput);
    for mut event in [
        Event::new(second(1), Direction::ToServer, opened),
        say(Direction::ToServer, 1, ask),
        Event::new(second(2), Direction::ToClient, closed),
    ] {
        (event.session.0, event.conduit.0) = (session, 4);
        live.observe(&event, None);
    }
}

#[test]
fn a_request_whose_stream_ends_in_a_session_without_an_answer_hangs() {
    let mut live = watching_hangs();
    ended_stream(&mut live, 7);
    live.tick(second(40));
    let open = "`tools/call`, id `1`, has had no answer for 39.0 s, since 1.0 s";
    let expected = ("HANG".to_owned(), "open".to_owned(), open.to_owned());
    assert_eq!(told(&mut live), [expected]);
    // The client may fetch missed messages on another stream.
    let mut answer = say(
        Direction::ToClient,
        50,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    );
    (answer.session.0, answer.conduit.0) = (7, 9);
    live.observe(&answer, None);
    let closed = "`tools/call`, id `1`, was answered after 49.0 s";
    let expected = ("HANG".to_owned(), "closed".to_owned(), closed.to_owned());
    assert_eq!(told(&mut live), [expected]);
    // A request without a session is answered in its exchange or nowhere.
    let mut live = watching_hangs();
    ended_stream(&mut live, 0);
    live.end(second(500));
    assert_eq!(told(&mut live), []);
}

#[test]
fn hangs_pair_by_type_and_spelling_of_ids() {
    let asks = [
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":2.0,"method":"prompts/get"}"#,
        r#"{"jsonrpc":"2.0","id":"2","method":"resources/read"}"#,
    ];
    for (answered, id) in ["2", "2.0", "\"2\""].into_iter().enumerate() {
        let mut live = watching_hangs();
        for ask in asks {
            live.observe(&say(Direction::ToServer, 1, ask), None);
        }
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        live.observe(&say(Direction::ToClient, 2, &answer), None);
        live.end(second(60));
        let hang: Vec<_> = told(&mut live).into_iter().map(|one| one.2).collect();
        let mut expected = vec!["`tools/call`", "`prompts/get`", "`resources/read`"];
        expected.remove(answered);
        assert_eq!(hang.len(), 2, "{hang:?}");
        for (hang, method) in hang.iter().zip(expected) {
            assert!(hang.starts_with(method), "{id}: {hang}");
        }
    }
}

#[test]
fn every_example_is_judged_live_as_from_disk() {
    for rule in crate::table::TABLE {
        for example in [rule.holds, rule.breaks] {
            let script = script::read(example).unwrap();
            let mut live = Live::new(script.facts, &all());
            let mut checker = Checker::new(script.facts, Selection::all());
            for event in &script.events {
                live.observe(event, None);
                tapewright_schemas::event::Sink::record(&mut checker, event);
            }
            live.end(Offset(0));
            let mut found: Vec<_> = told(&mut live);
            let judged = checker.finish(None);
            let findings = judged.iter().flat_map(|one| &one.outcomes);
            let mut expected: Vec<_> = findings
                .flat_map(|one| &one.findings)
                .map(|one| {
                    let status = one.status.name().to_owned();
                    (one.code.to_string(), status, one.detail.clone())
                })
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{}", rule.code);
        }
    }
}

#[test]
fn what_was_forgotten_is_never_blamed_on_anybody() {
    let mut live = Live::new(Facts::live(), &all());
    let script = script::read("handshake 2025-06-18 {\"tools\":{}}").unwrap();
    for event in &script.events {
        live.observe(event, None);
    }
    // More than is remembered in flight; then the oldest is answered, and answered again.
    for number in 0..100_000_u64 {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"r{number}","method":"ping"}}"#);
        let mut ask = say(Direction::ToServer, 1, &text);
        ask.seq = number + 10;
        live.observe(&ask, None);
    }
    for id in ["r0", "r0", "r99999"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
        let mut answer = say(Direction::ToClient, 1, &text);
        answer.seq = 200_000;
        live.observe(&answer, None);
    }
    live.end(second(2));
    assert_eq!(told(&mut live), []);
}

#[test]
fn sessions_that_never_end_are_forgotten_and_not_blamed() {
    let mut live = Live::new(
        Facts {
            transport: crate::facts::Transport::Http,
            ..Facts::live()
        },
        &all(),
    );
    let ask = |session: u32, id: u32| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let mut event = say(Direction::ToServer, 1, &text);
        event.session.0 = session;
        event
    };
    for session in 1..=5_000 {
        live.observe(&ask(session, 1), None);
    }
    // The first again, with an id that it has used before it was forgotten.
    live.observe(&ask(1, 1), None);
    assert_eq!(told(&mut live), []);
    let checker = live.checker.as_ref().unwrap();
    assert!(
        checker.sessions_known() <= 2_048,
        "{}",
        checker.sessions_known()
    );
}

#[test]
fn a_race_is_told_as_one() {
    let rule = crate::table::find(crate::code::Code(38)).unwrap();
    let script = script::read(
        r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        "#,
    )
    .unwrap();
    let mut live = Live::new(script.facts, &all());
    for event in &script.events {
        live.observe(event, None);
    }
    let found = told(&mut live);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, rule.code.to_string());
    assert_eq!(found[0].1, Status::Race.name());
}
