//! Released messages: the tape has the time and the reason.

use tapewright_engine::fault::Fault;
use tapewright_schemas::event::{Event, EventBody, MessageNumber, Release, What};

use crate::talk::Talk;
use crate::{after_two_calls, answer, call};

/// Which messages wait for which others: the numbers of both.
fn behind(talk: &Talk) -> Vec<(u64, u64)> {
    let number = |message: Option<MessageNumber>| message.map_or(0, MessageNumber::get);
    let behind = |event: &Event| match &event.body {
        EventBody::Faulted(faulted) => match faulted.effect.what {
            What::Behind { holder } => Some((number(faulted.message), number(holder))),
            _ => None,
        },
        _ => None,
    };
    talk.events().iter().filter_map(behind).collect()
}

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

/// The releases on the tape: the message, how long it was held, and the reason.
fn released(talk: &Talk) -> Vec<(u64, u64, Release)> {
    let release = |event: &Event| match &event.body {
        EventBody::Faulted(faulted) => match faulted.effect.what {
            What::Released { after, why, .. } => {
                let message = faulted.message.map_or(0, MessageNumber::get);
                Some((message, after.0, why))
            }
            _ => None,
        },
        _ => None,
    };
    talk.events().iter().filter_map(release).collect()
}

#[test]
fn a_delay_is_told_where_it_ends_at_another_time_than_foreseen() {
    let slow = || {
        let mut talk = after_two_calls(&["slow name=s tool=search delay_ms=100"]);
        talk.server(1_000, &answer(2));
        talk.server(2_000, &answer(1));
        talk
    };
    let mut talk = slow();
    talk.timeout(102_000);
    assert_eq!(talk.to_client(), [answer(2), answer(1)]);
    assert_eq!(released(&talk), []);

    let mut talk = slow();
    talk.fault_set.remove("s").unwrap();
    talk.timeout(30_000);
    assert_eq!(released(&talk), [(2, 28_000, Release::Removed)]);

    let mut talk = slow();
    let other = Fault::parse("slow tool=search delay_ms=5").unwrap();
    talk.fault_set.change("s", other).unwrap();
    talk.timeout(40_000);
    assert_eq!(released(&talk), [(2, 38_000, Release::Changed)]);

    let mut talk = slow();
    talk.server_ends(50_000);
    assert_eq!(talk.to_client(), [answer(2), answer(1)]);
    assert_eq!(released(&talk), [(2, 48_000, Release::End)]);
}

#[test]
fn whatever_is_held_is_told_when_it_goes() {
    let mut talk = after_two_calls(&["hang tool=search"]);
    talk.server(10, &answer(1));
    talk.fault_set.remove("hang-1").unwrap();
    talk.timeout(30);
    assert_eq!(released(&talk), [(1, 20, Release::Removed)]);

    let mut talk = after_two_calls(&["wedged tool=search"]);
    talk.server(10, &answer(1));
    talk.server(20, &answer(2));
    let other = Fault::parse("hang tool=other").unwrap();
    talk.fault_set.change("wedged-1", other).unwrap();
    talk.timeout(30);
    assert_eq!(released(&talk), [(1, 20, Release::Changed)]);

    let mut talk = after_two_calls(&["reorder tool=search within_ms=1"]);
    talk.server(10, &answer(1));
    talk.server(20, &answer(2));
    assert_eq!(released(&talk), [(1, 10, Release::Next)]);

    let mut talk = after_two_calls(&["reorder tool=search within_ms=1"]);
    talk.server(10, &answer(1));
    talk.timeout(1_010);
    assert_eq!(released(&talk), [(1, 1_000, Release::Due)]);

    let mut talk = after_two_calls(&["stdin-stall tool=find for_ms=3"]);
    talk.timeout(3_000);
    assert_eq!(released(&talk), [(2, 3_000, Release::Due)]);
}

#[test]
fn a_late_answer_is_told_whether_it_was_cancelled_or_not() {
    let fault = "late-after-cancel tool=search delay_ms=5";
    let mut talk = after_two_calls(&[fault]);
    talk.server(0, &answer(1));
    talk.client(1_000, CANCEL);
    talk.timeout(6_000);
    assert_eq!(released(&talk), [(1, 6_000, Release::Cancelled)]);

    let mut talk = after_two_calls(&[fault]);
    talk.client(0, CANCEL);
    talk.server(1_000, &answer(1));
    talk.timeout(6_000);
    assert_eq!(released(&talk), [(1, 5_000, Release::Cancelled)]);

    // Without a cancellation, it is released at the end of the stream.
    let mut talk = after_two_calls(&[fault]);
    talk.server(1_000, &answer(1));
    talk.server_ends(3_000);
    assert_eq!(talk.to_client(), [answer(1)]);
    assert_eq!(released(&talk), [(1, 2_000, Release::End)]);
}

#[test]
fn whatever_waits_behind_what_is_held_is_marked() {
    let faults = ["wedged tool=search nth=1", "slow tool=find delay_ms=1"];
    let mut talk = after_two_calls(&faults);
    talk.client(0, &call(3, "other"));
    talk.server(10, &answer(1));
    talk.server(20, &answer(2));
    talk.server(30, &answer(3));
    assert_eq!(behind(&talk), [(2, 1), (3, 1)]);
    // The delay has long been over.
    talk.timeout(50_000);
    assert!(talk.to_client().is_empty());
    talk.fault_set.remove("wedged-1").unwrap();
    talk.timeout(60_000);
    assert_eq!(talk.to_client().len(), 3);
    assert_eq!(released(&talk), [(1, 59_990, Release::Removed)]);
}

#[test]
fn what_is_removed_and_asked_for_later_is_told_once() {
    let mut talk = Talk::new(&["slow tool=search delay_ms=100"]);
    for id in 0..3 {
        talk.client(id, &call(id, "search"));
        talk.server(id, &answer(id));
    }
    assert_eq!(talk.fault_set.entries()[0].holds, 3);
    talk.fault_set.remove("slow-1").unwrap();
    talk.timeout(10);
    talk.timeout(200_000);
    assert_eq!(released(&talk).len(), 3);
}

#[test]
fn what_waits_for_nothing_is_not_marked() {
    // Each plays its steps, and all input arrives in one read.
    for fault in [
        "error",
        "slicer size=3",
        "truncate",
        "list-change",
        "duplicate",
    ] {
        let mut talk = after_two_calls(&[&format!("{fault} tool=search")]);
        talk.server(10, &format!("{}\n{}", answer(1), answer(2)));
        assert_eq!(behind(&talk), [], "{fault}");
        assert_eq!(talk.effects().len(), 1, "{fault}");
    }
}

#[test]
fn the_end_of_a_trickle_is_told_to_what_waited_behind_it() {
    let fault = "slicer tool=search size=30 delay_ms=1";
    let mut talk = after_two_calls(&[fault]);
    talk.server(0, &answer(1));
    talk.timeout(5_000);
    assert_eq!(talk.effects().len(), 1, "nothing waited");
    let mut talk = after_two_calls(&[fault]);
    talk.server(0, &format!("{}\n{}", answer(1), answer(2)));
    talk.timeout(5_000);
    assert_eq!(behind(&talk), [(2, 1)]);
    assert_eq!(released(&talk), [(1, 5_000, Release::Due)]);
    assert_eq!(talk.to_client(), [answer(1), answer(2)]);
}
