//! What is delayed: when it leaves, and in how many writes.

use tapewright_engine::fault::Fault;

use crate::talk::Talk;
use crate::{after_two_calls, answer, call};

#[test]
fn slow_delays_and_lets_others_overtake() {
    let mut talk = after_two_calls(&["slow tool=search delay_ms=100"]);
    talk.server(10_000, &answer(1));
    talk.server(11_000, &answer(2));
    talk.timeout(109_999);
    assert_eq!(talk.to_client(), [answer(2)]);
    talk.timeout(110_000);
    assert_eq!(talk.to_client(), [answer(2), answer(1)]);
    assert_eq!(talk.effects(), ["slow-1 (slow): delayed 100 ms"]);
}

#[test]
fn what_is_due_at_one_time_leaves_in_one_write() {
    let mut talk = Talk::new(&["slow tool=search delay_ms=100"]);
    for id in 0..1_000 {
        talk.client(0, &call(id, "search"));
    }
    for id in 0..1_000 {
        talk.server(10 * id, &answer(id));
    }
    talk.timeout(99_999);
    assert_eq!(talk.writes_to_client(), 0);
    // Those of the first half are due.
    talk.timeout(100_000 + 4_999);
    assert_eq!(talk.writes_to_client(), 1);
    talk.timeout(110_000);
    let answers: Vec<String> = (0..1_000).map(answer).collect();
    assert_eq!(talk.to_client(), answers);
    assert_eq!(talk.writes_to_client(), 2);
}

#[test]
fn what_is_long_is_not_joined_with_others() {
    let mut talk = Talk::new(&["slow tool=search delay_ms=100"]);
    let long = |id: u64| {
        let text = "x".repeat(50_000);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{text}"}}}}"#)
    };
    for id in 0..4 {
        talk.client(0, &call(id, "search"));
        talk.server(0, &long(id));
    }
    talk.timeout(100_000);
    assert_eq!(talk.to_client(), (0..4).map(long).collect::<Vec<_>>());
    assert_eq!(talk.writes_to_client(), 4);
}

#[test]
fn a_delay_that_is_changed_passes_on_what_it_holds() {
    let mut talk = after_two_calls(&["slow name=s tool=search delay_ms=100000"]);
    talk.server(10, &answer(1));
    talk.book
        .change("s", Fault::parse("hang tool=other").unwrap())
        .unwrap();
    talk.timeout(11);
    assert_eq!(talk.to_client(), [answer(1)]);
    let entry = &talk.book.entries()[0];
    assert_eq!(
        (entry.name.as_str(), entry.met, entry.fault.kind.name),
        ("s", 0, "hang")
    );
}

#[test]
fn latency_keeps_requests_in_order() {
    let mut talk = Talk::new(&["latency method=* latency_ms=50 jitter_ms=50"]);
    for id in 0..20 {
        talk.client(id * 1_000, &call(id, "search"));
    }
    assert!(talk.to_server().len() < 20);
    for at in 20..140 {
        talk.timeout(at * 1_000);
    }
    let sent: Vec<String> = (0..20).map(|id| call(id, "search")).collect();
    assert_eq!(talk.to_server(), sent);
}
