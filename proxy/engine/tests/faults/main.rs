//! Every kind of fault on a conversation: what is sent, what arrives, and what is on the tape.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

mod delays;
mod frames;
mod never;
mod page;
mod released;
mod talk;

use std::sync::Arc;

use proptest::prelude::*;
use talk::Talk;
use tapewright_engine::fault::{Fault, FaultSet, Rejected, SpecError, TransportSupport, kinds};
use tapewright_schemas::event::Direction;

fn call(id: u64, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

fn answer(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":{id}}}}}"#)
}

/// A conversation with faults, after calls 1 and 2.
fn after_two_calls(faults: &[&str]) -> Talk {
    let mut talk = Talk::new(faults);
    talk.client(0, &call(1, "search"));
    talk.client(0, &call(2, "find"));
    talk
}

#[test]
fn every_kind_reads_its_own_example_and_says_whether_it_is_legal() {
    for kind in kinds::ALL {
        let fault = Fault::parse(kind.example).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert_eq!(fault.kind.name, kind.name);
        assert!(
            !kind.does.is_empty() && !kind.does.ends_with('.'),
            "{kind:?}"
        );
        for parameter in kind.parameters {
            assert!(kind.example.contains(parameter.name) || parameter.default.is_some());
        }
    }
}

#[test]
fn a_hang_holds_one_answer_until_it_is_removed() {
    let mut talk = after_two_calls(&["hang tool=search"]);
    talk.server(10, &answer(1));
    talk.server(11, &answer(2));
    assert_eq!(talk.to_client(), [answer(2)]);
    assert_eq!(talk.effects(), ["hang-1 (hang): held"]);
    assert_eq!(talk.fault_set.entries()[0].holds, 1);
    talk.fault_set.remove("hang-1").unwrap();
    talk.timeout(20_000_000);
    assert_eq!(talk.to_client(), [answer(2), answer(1)]);
    assert!(talk.fault_set.is_idle());
}

#[test]
fn a_hang_outlasts_the_end_of_the_stream_and_the_tape_says_so() {
    let mut talk = after_two_calls(&["hang tool=search"]);
    talk.server(10, &answer(1));
    talk.server_ends(20);
    assert!(talk.to_client().is_empty());
    assert_eq!(talk.effects()[1], "lost");
}

#[test]
fn half_a_line_then_silence() {
    let mut talk = after_two_calls(&["hang tool=search after_bytes=5"]);
    talk.server(10, &answer(1));
    talk.server(11, &answer(2));
    assert_eq!(talk.raw_to_client(), &answer(1)[..5]);
    assert_eq!(talk.effects().len(), 2);
    talk.fault_set.remove("hang-1").unwrap();
    talk.timeout(12);
    assert_eq!(talk.to_client(), [answer(1), answer(2)]);
}

#[test]
fn wedged_holds_everything_in_order() {
    let mut talk = after_two_calls(&["wedged tool=search"]);
    talk.server(10, &answer(1));
    talk.server(11, r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
    talk.server(12, &answer(2));
    assert!(talk.to_client().is_empty());
    assert_eq!(talk.effects().len(), 3, "{:?}", talk.effects());
    talk.fault_set.remove("wedged-1").unwrap();
    talk.timeout(13);
    assert_eq!(talk.to_client()[0], answer(1));
    assert_eq!(talk.to_client()[2], answer(2));
}

#[test]
fn recover_after_hangs_the_first_calls() {
    let mut talk = Talk::new(&["recover_after tool=search failures=2"]);
    for id in 1..=3 {
        talk.client(id, &call(id, "search"));
        talk.server(id, &answer(id));
    }
    assert_eq!(talk.to_client(), [answer(3)]);
    let entry = &talk.fault_set.entries()[0];
    assert_eq!((entry.met, entry.fired), (3, 2));
}

#[test]
fn timeout_cuts_the_connection_when_its_time_has_come() {
    let mut talk = after_two_calls(&["timeout tool=search timeout_ms=10"]);
    talk.server(1_000, &answer(1));
    talk.server(2_000, &answer(2));
    talk.timeout(10_999);
    assert!(!talk.is_cut());
    talk.timeout(11_000);
    assert!(talk.is_cut());
    assert!(talk.to_client().is_empty());
}

#[test]
fn an_error_takes_the_place_of_the_answer_which_stays_on_the_tape() {
    let mut talk = after_two_calls(&[r#"error tool=search code=-5 message='it is "down"'"#]);
    talk.server(10, &answer(1));
    assert_eq!(
        talk.to_client(),
        [r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"it is \"down\""}}"#]
    );
    assert!(talk.recorded(Direction::ToClient).contains(&answer(1)));
}

#[test]
fn a_reset_cuts_before_amid_or_after_the_answer() {
    for (at, passes) in [
        ("before", String::new()),
        ("mid", answer(1)[..answer(1).len() / 2].to_owned()),
        ("after", answer(1) + "\n"),
    ] {
        let mut talk = after_two_calls(&[&format!("reset tool=search at={at}")]);
        talk.server(10, &answer(1));
        assert_eq!(talk.raw_to_client(), passes, "{at}");
        assert!(talk.is_cut());
    }
}

#[test]
fn a_trickle_keeps_to_its_bandwidth() {
    let mut talk = after_two_calls(&["slow-trickle tool=search bytes_per_s=200"]);
    let whole = answer(1) + "\n";
    talk.server(0, &answer(1));
    talk.server(0, &answer(2));
    assert_eq!(talk.raw_to_client().len(), 10);
    talk.timeout(50_000);
    assert_eq!(talk.raw_to_client().len(), 20);
    // A late interval does not delay the following ones.
    talk.timeout(190_000);
    assert_eq!(talk.raw_to_client().len(), 40);
    talk.timeout(10_000_000);
    assert_eq!(talk.raw_to_client(), whole + &answer(2) + "\n");
}

#[test]
fn a_slicer_makes_a_write_of_each_piece() {
    let mut talk = after_two_calls(&["slicer tool=search size=3"]);
    talk.server(0, &answer(1));
    assert_eq!(talk.to_client(), [answer(1)]);
    let whole = answer(1).len() + 1;
    assert_eq!(talk.writes_to_client(), whole.div_ceil(3));
}

#[test]
fn altered_answers() {
    let one = answer(1);
    for (fault, arrives) in [
        ("truncate tool=search bytes=9", one[..9].to_owned()),
        ("truncate tool=search", one[..one.len() / 2].to_owned()),
        (
            "garbage tool=search text='hello there'",
            format!("hello there\n{one}"),
        ),
        (
            "duplicate tool=search times=2",
            format!("{one}\n{one}\n{one}"),
        ),
        ("drop tool=search", String::new()),
        (
            "wrong-id tool=search id=99",
            one.replacen("\"id\":1", "\"id\":99", 1),
        ),
        (
            "oversize tool=search bytes=4",
            one.replace("{\"n\"", "{\"x-tapewright-padding\":\"xxxx\",\"n\""),
        ),
        (
            "list-change tool=search list=prompts",
            format!(
                "{one}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}}"
            ),
        ),
    ] {
        let mut talk = after_two_calls(&[fault]);
        talk.server(10, &one);
        assert_eq!(talk.to_client().join("\n"), arrives, "{fault}");
        assert_eq!(talk.effects().len(), 1, "{fault}");
        assert!(talk.recorded(Direction::ToClient).contains(&one), "{fault}");
    }
}

#[test]
fn reorder_lets_one_message_pass_first() {
    let mut talk = after_two_calls(&["reorder tool=search within_ms=1"]);
    talk.server(10, &answer(1));
    assert!(talk.to_client().is_empty());
    talk.server(20, &answer(2));
    assert_eq!(talk.to_client(), [answer(2), answer(1)]);
    let mut talk = after_two_calls(&["reorder tool=search within_ms=1"]);
    talk.server(10, &answer(1));
    talk.timeout(1_010);
    assert_eq!(talk.to_client(), [answer(1)]);
}

#[test]
fn an_answer_comes_late_after_its_cancellation() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let mut talk = after_two_calls(&["late-after-cancel tool=search delay_ms=5"]);
    talk.server(10, &answer(1));
    talk.client(1_000, cancel);
    talk.timeout(5_999);
    assert!(talk.to_client().is_empty());
    talk.timeout(6_000);
    assert_eq!(talk.to_client(), [answer(1)]);
    assert!(talk.to_server().contains(&cancel.to_owned()));
    // Cancelled before the server answers: the cancellation is withheld from the server, which
    // answers.
    let mut talk = after_two_calls(&["late-after-cancel tool=search delay_ms=5"]);
    talk.client(10, cancel);
    assert!(!talk.to_server().contains(&cancel.to_owned()));
    talk.server(1_000, &answer(1));
    talk.timeout(6_000);
    assert_eq!(talk.to_client(), [answer(1)]);
}

#[test]
fn beside_the_protocol() {
    let mut talk = after_two_calls(&["stderr-flood tool=search bytes=100"]);
    talk.server(10, &answer(1));
    assert_eq!(talk.to_client(), [answer(1)]);
    assert_eq!(talk.logged(), 160);
    let mut talk = after_two_calls(&["exit tool=find status=7"]);
    assert_eq!(talk.exit(), Some(7));
    assert_eq!(talk.to_server(), [call(1, "search")]);
    talk.server(1, &answer(1));
    assert_eq!(talk.to_client(), [answer(1)]);
}

#[test]
fn a_stall_stops_reading_for_its_time() {
    let mut talk = after_two_calls(&["stdin-stall tool=find for_ms=3"]);
    assert!(talk.is_stalled());
    assert_eq!(talk.to_server(), [call(1, "search")]);
    talk.timeout(3_000);
    assert!(!talk.is_stalled());
    assert_eq!(talk.to_server(), [call(1, "search"), call(2, "find")]);
}

#[test]
fn requests_and_notifications_can_be_acted_on_too() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
    let mut talk = Talk::new(&[
        "drop tool=search on=request",
        "drop method=notifications/progress every=2",
    ]);
    talk.client(0, &call(1, "search"));
    assert!(talk.to_server().is_empty());
    for at in 0..4 {
        talk.server(at, note);
    }
    assert_eq!(talk.to_client().len(), 2);
}

#[test]
fn a_batch_is_acted_on_whole() {
    let mut talk = Talk::new(&["hang tool=search"]);
    talk.client(0, &format!("[{},{}]", call(1, "find"), call(2, "search")));
    talk.server(1, &format!("[{},{}]", answer(1), answer(2)));
    assert!(talk.to_client().is_empty());
}

#[test]
fn one_conversation_does_not_touch_another() {
    let fault_set = Arc::new(FaultSet::new(1, "fs", TransportSupport::Stdio));
    fault_set
        .add(Fault::parse("wedged nth=1").unwrap())
        .unwrap();
    let mut first = Talk::on(&fault_set);
    let mut second = Talk::on(&fault_set);
    for talk in [&mut first, &mut second] {
        talk.client(0, &call(1, "search"));
        talk.server(1, &answer(1));
        talk.server(2, &answer(2));
    }
    assert!(first.to_client().is_empty());
    assert_eq!(second.to_client().len(), 2);
    drop(first);
    assert_eq!(fault_set.entries()[0].holds, 0);
}

#[test]
fn the_book_refuses_what_cannot_be() {
    let fault_set = FaultSet::new(0, "fs", TransportSupport::Stdio);
    let add = |text: &str| fault_set.add(Fault::parse(text).unwrap());
    assert_eq!(add("hang name=a"), Ok("a".to_owned()));
    assert_eq!(add("hang name=a"), Err(Rejected::NameTaken("a".to_owned())));
    let far = add("http-status status=404").unwrap_err();
    assert!(far.to_string().contains("only works over HTTP"), "{far}");
    assert_eq!(add("hang name=slower"), Ok("slower".to_owned()));
    let unknown = fault_set.remove("slover").unwrap_err().to_string();
    assert_eq!(unknown, "unknown fault `slover`; did you mean `slower`?");
}

#[test]
fn mistakes_say_where_and_what_was_meant() {
    let say = |text: &str| Fault::parse(text).unwrap_err().to_string();
    assert_eq!(
        say("hnag tool=x"),
        "column 1: unknown fault `hnag`; did you mean `hang`?"
    );
    assert_eq!(
        say("hang tol=x"),
        "column 6: unknown option `tol` of `hang`; did you mean `tool`?"
    );
    assert_eq!(
        say("slow tool=x"),
        "`slow` needs `delay_ms`, as in `slow tool=search delay_ms=1500 jitter_ms=200`"
    );
    assert_eq!(
        say("slow delay_ms=1.5"),
        "column 6: invalid `delay_ms`: expected a whole number of milliseconds, found `1.5`"
    );
    assert_eq!(say("hang tool='x"), "column 11: the quote is not closed");
    assert_eq!(say("hang nth=0"), "column 6: `nth` must be at least 1");
    assert_eq!(say("hang nth=1 nth=2"), "column 12: duplicate `nth`");
    assert_eq!(
        say("hang probability=2"),
        "column 6: invalid `probability`: expected 0 to 1, or 0% to 100%, found `2`"
    );
    assert_eq!(
        say("hang tool="),
        "column 6: `tool` needs a value: `tool=…`"
    );
    assert!(say("exit status=256").contains("0 to 255"));
    assert_eq!(Fault::parse(" ").unwrap_err(), SpecError::Empty);
}

/// Lines of a conversation: calls, answers, noise.
fn lines() -> impl Strategy<Value = Vec<(bool, String)>> {
    let line = prop_oneof![
        (0..6_u64, prop::sample::select(vec!["search", "find"]))
            .prop_map(|(id, tool)| (true, call(id, tool))),
        (0..6_u64).prop_map(|id| (false, answer(id))),
        Just((false, "{\"method\":\"notifications/message\"}".to_owned())),
        Just((false, "no message".to_owned())),
        Just((true, String::new())),
    ];
    prop::collection::vec(line, 0..40)
}

fn play(faults: &[&str], seed: u64, lines: &[(bool, String)], remove: bool) -> Talk {
    let mut talk = Talk::seeded(seed, faults);
    for (at, (to_server, line)) in (0..).zip(lines) {
        if *to_server {
            talk.client(at * 1_000, line);
        } else {
            talk.server(at * 1_000, line);
        }
    }
    if remove {
        for entry in talk.fault_set.entries() {
            talk.fault_set.remove(&entry.name).unwrap();
        }
        talk.timeout(1_000_000_000);
    }
    talk
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_same_seed_and_traffic_give_the_same_faults(lines in lines(), seed in any::<u64>()) {
        let faults = ["slow probability=0.5 delay_ms=3 jitter_ms=3", "hang tool=find probability=0.3"];
        let (one, other) = (play(&faults, seed, &lines, false), play(&faults, seed, &lines, false));
        prop_assert_eq!(one.effects(), other.effects());
        prop_assert_eq!(one.raw_to_client(), other.raw_to_client());
    }

    #[test]
    fn a_fault_that_is_taken_away_has_lost_nothing(lines in lines()) {
        for fault in ["hang", "wedged", "slow delay_ms=9", "reorder", "slow-trickle bytes_per_s=9", "stdin-stall", "latency method=* latency_ms=5"] {
            let talk = play(&[fault], 0, &lines, true);
            let mut sent: Vec<&str> = lines.iter().filter(|line| !line.0).map(|line| line.1.as_str()).collect();
            let text = talk.raw_to_client();
            let mut arrived: Vec<&str> = text.lines().collect();
            sent.sort_unstable();
            arrived.sort_unstable();
            prop_assert_eq!(arrived, sent, "{}", fault);
            let sent: Vec<&str> = lines.iter().filter(|line| line.0).map(|line| line.1.as_str()).collect();
            let mut got = talk.to_server();
            let mut sent: Vec<String> = sent.into_iter().map(str::to_owned).collect();
            // Delayed messages are overtaken.
            if fault.starts_with("latency") {
                got.sort_unstable();
                sent.sort_unstable();
            }
            prop_assert_eq!(got, sent, "{}", fault);
        }
    }

    #[test]
    fn messages_that_no_fault_touches_keep_their_order(lines in lines()) {
        for fault in ["hang tool=search", "drop tool=search", "slow tool=search delay_ms=7", "wrong-id tool=search"] {
            let talk = play(&[fault], 0, &lines, false);
            let touched = talk.touched();
            let untouched: Vec<String> = talk.recorded(Direction::ToClient).into_iter().zip(touched)
                .filter(|(_, touched)| !touched).map(|(line, _)| line).collect();
            let text = talk.raw_to_client();
            let mut arrived = text.lines();
            for line in untouched {
                prop_assert!(arrived.any(|one| one == line), "{} is out of place under {}", line, fault);
            }
        }
    }

    #[test]
    fn a_book_without_a_fault_that_fits_changes_nothing(lines in lines()) {
        let talk = play(&["hang tool=never-called"], 0, &lines, false);
        let sent: Vec<&str> = lines.iter().filter(|line| !line.0).map(|line| line.1.as_str()).collect();
        prop_assert_eq!(talk.to_client(), sent);
        prop_assert!(talk.effects().is_empty());
    }
}
