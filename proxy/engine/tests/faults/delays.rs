//! Delayed messages: when they leave, and in how many writes.

use tapewright_engine::fault::Fault;
use tapewright_schemas::event::Offset;

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
    assert_eq!(talk.effects(), ["slow-1 (slow): delayed"]);
    assert_eq!(talk.delays(), [Offset(100_000)]);
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
    talk.fault_set
        .change("s", Fault::parse("hang tool=other").unwrap())
        .unwrap();
    talk.timeout(11);
    assert_eq!(talk.to_client(), [answer(1)]);
    let entry = &talk.fault_set.entries()[0];
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

#[test]
fn pieces_that_wait_are_let_go_with_their_fault() {
    for fault in [
        "slow-trickle name=f tool=search bytes_per_s=1",
        "slicer name=f tool=search size=5 delay_ms=1000",
    ] {
        for change in [false, true] {
            let mut talk = after_two_calls(&[fault]);
            talk.server(10_000, &answer(1));
            talk.server(11_000, &answer(2));
            talk.timeout(1_020_000);
            assert!(!talk.raw_to_client().contains('\n'), "{fault}");
            if change {
                let other = Fault::parse("hang tool=other").unwrap();
                talk.fault_set.change("f", other).unwrap();
            } else {
                talk.fault_set.remove("f").unwrap();
            }
            talk.timeout(1_030_000);
            assert_eq!(talk.to_client(), [answer(1), answer(2)], "{fault}");
        }
    }
}

#[test]
fn a_fault_that_was_taken_away_meets_no_answer_that_is_on_its_way() {
    for fault in [
        "error",
        "drop",
        "duplicate",
        "truncate",
        "reset",
        "slow-trickle bytes_per_s=1",
    ] {
        // Another fault is active, so messages are examined.
        let mut talk = after_two_calls(&[&format!("{fault} name=f tool=search"), "hang tool=x"]);
        talk.fault_set.remove("f").unwrap();
        talk.server(10_000, &answer(1));
        assert_eq!(talk.to_client(), [answer(1)], "{fault}");
        assert!(talk.effects().is_empty(), "{fault}");
    }
}

#[test]
fn what_is_about_answers_leaves_notifications_alone() {
    let noise = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    for fault in ["error", "wrong-id", "list-change", "reset"] {
        let mut talk = Talk::new(&[&format!("{fault} method=*")]);
        talk.client(0, noise);
        talk.server(0, noise);
        assert_eq!(talk.to_client(), [noise], "{fault}");
        assert_eq!(talk.to_server(), [noise], "{fault}");
    }
}
