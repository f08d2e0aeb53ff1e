//! Sessions in the notation of the invariants' examples, scored by tests.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tapewright_assertions::score::{Question, Scored, Scorer};
use tapewright_assertions::{Ask, Expectation, Json, Test, compile};
use tapewright_schemas::event::{
    ConduitId, Direction, Effect, Event, EventBody, Gap, GapReason, LineEnd, Offset, Payload,
    SessionKey, Sink as _, What,
};

use crate::support::Desk;

/// A test on `s` that calls `echo` with these arguments and expects this text.
fn echo(arguments: Option<Value>, text: &str) -> Test {
    let assertion = json!({"target": "result.text", "matcher": {"exact": text}});
    Test {
        server: "s".to_owned(),
        ask: Ask::Tool {
            name: "echo".to_owned(),
            arguments: arguments.map(|value| Json::from(&value)),
        },
        expectation: Expectation {
            assertions: vec![Arc::new(compile(&assertion).unwrap())],
            ..Expectation::default()
        },
        response_transform: None,
    }
}

struct Session {
    events: Vec<Event>,
    conduit: u32,
}

impl Session {
    fn new() -> Self {
        Self {
            events: Vec::new(),
            conduit: 0,
        }
    }

    fn push(&mut self, dir: Direction, body: EventBody) {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event {
            conduit: ConduitId(self.conduit),
            seq,
            at: Offset(seq * 1_000),
            session: SessionKey(0),
            dir,
            era: None,
            body,
        });
    }

    fn message(&mut self, dir: Direction, text: String) {
        let payload = Payload::Whole(Bytes::from(text));
        self.push(dir, EventBody::message(payload, LineEnd::Lf));
    }

    fn ask(&mut self, id: u32, method: &str, params: impl Into<Option<Value>>) {
        let params = params.into();
        let ask = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.message(Direction::ToServer, ask.to_string());
    }

    fn answer(&mut self, id: u32, result: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.message(Direction::ToClient, answer.to_string());
    }

    fn call(&mut self, id: u32, arguments: &Value, text: &str) {
        self.ask(
            id,
            "tools/call",
            json!({"name": "echo", "arguments": arguments}),
        );
        self.answer(id, &json!({"text": text}));
    }

    fn fault(&mut self, dir: Direction) {
        self.push(
            dir,
            EventBody::Faulted(Effect::plain(What::Changed).about(None)),
        );
    }
}

fn questions(tests: impl IntoIterator<Item = Test>) -> Vec<Question<Desk>> {
    let alone = |test| Question {
        test: Arc::new(test),
        rewritten: None,
        shown: None,
        world: Desk::default(),
    };
    tests.into_iter().map(alone).collect()
}

fn score(session: &Session, tests: impl IntoIterator<Item = Test>) -> Vec<Scored> {
    score_questions(session, questions(tests))
}

#[test]
fn a_test_is_scored_on_every_exchange_that_asks_the_same() {
    let mut session = Session::new();
    session.call(1, &json!({"m": 1}), "one");
    session.call(2, &json!({"m": 1.0}), "other");
    session.call(3, &json!({"m": 2}), "two");
    let tests = [
        echo(Some(json!({"m": 1})), "one"),
        echo(Some(json!({"m": 2})), "two"),
        echo(None, "one"),
        echo(Some(json!({"m": 3})), "three"),
    ];
    let scored = score(&session, tests);
    let seen: Vec<_> = scored
        .iter()
        .map(|one| (one.exercised, one.passed))
        .collect();
    assert_eq!(seen, [(2, 1), (1, 1), (3, 1), (0, 0)]);
    assert_eq!(scored[0].others[0].request, 3);
    assert_eq!(scored[0].others[0].response, Some(4));
    assert_eq!(scored[1].took_us, Some(1_000));
}

#[test]
fn a_test_without_arguments_goes_by_its_own_exchanges_first() {
    let mut session = Session::new();
    session.call(1, &json!({"m": 1}), "one");
    session.call(2, &json!({}), "none");
    let tests = [echo(Some(json!({"m": 1})), "one"), echo(None, "none")];
    let scored = score(&session, tests);
    assert_eq!((scored[1].exercised, scored[1].passed), (1, 1));
}

#[test]
fn other_uuids_and_times_count_where_the_recording_has_no_others() {
    const ONE: &str = "3f0c1a52-9d4e-4b7c-8a11-5d2e6f7a8b90";
    const OTHER: &str = "7b1e9c44-2f3a-4d5b-9e66-0c1d2e3f4a5b";
    let at = |id: &str, at: u64, text: &str| {
        echo(
            Some(json!({"id": id, "at": at, "path": format!("/tmp/{id}/x")})),
            text,
        )
    };
    let mut session = Session::new();
    let recorded = json!({"id": ONE, "at": 1_763_697_600, "path": format!("/tmp/{ONE}/x")});
    session.call(1, &recorded, "in");
    for (test, counts) in [
        (at(OTHER, 1_763_697_999, "in"), (1, 0, 0)),
        (at(OTHER, 1_763_697_999, "out"), (0, 0, 1)),
        (at(ONE, 1_763_697_600, "out"), (0, 1, 0)),
        (at(OTHER, 7, "in"), (0, 0, 0)),
        (echo(Some(json!({"id": OTHER})), "in"), (0, 0, 0)),
    ] {
        let [one] = score(&session, [test]).try_into().unwrap();
        assert_eq!((one.passed, one.failed, one.doubtful), counts, "{one:?}");
    }
    // A question that is asked with its own values is not judged by others.
    session.call(
        2,
        &json!({"id": OTHER, "at": 1_763_697_600, "path": format!("/tmp/{OTHER}/x")}),
        "out",
    );
    let tests = [
        at(OTHER, 1_763_697_600, "out"),
        at(ONE, 1_763_697_600, "in"),
    ];
    assert!(
        score(&session, tests)
            .iter()
            .all(|one| (one.exercised, one.passed) == (1, 1))
    );
}

#[test]
fn tests_that_ask_the_same_fail_only_if_no_answer_holds() {
    let mut session = Session::new();
    session.call(1, &json!({"n": 1}), "first");
    session.call(2, &json!({"n": 1}), "second");
    let ask = |text: &str| echo(Some(json!({"n": 1})), text);
    let scored = score(&session, [ask("first"), ask("second"), ask("third")]);
    let counts = |one: &Scored| (one.passed, one.failed, one.doubtful);
    let counted: Vec<_> = scored.iter().map(counts).collect();
    assert_eq!(counted, [(1, 0, 1), (1, 0, 1), (0, 2, 0)]);
    // A test that matches loosely fails by each answer if no other test matches.
    assert_eq!(counts(&score(&session, [ask("first")])[0]), (1, 1, 0));
}

#[test]
fn arguments_that_say_nothing_are_the_same_as_none() {
    let mut session = Session::new();
    session.ask(
        1,
        "tools/call",
        json!({"name": "echo", "_meta": {"progressToken": 1}}),
    );
    session.answer(1, &json!({"text": "x"}));
    let scored = score(
        &session,
        [echo(Some(json!({})), "x"), echo(Some(json!({"a": 1})), "x")],
    );
    assert_eq!(scored[0].passed, 1);
    assert_eq!(scored[1].exercised, 0);
}

/// A test with a secret, and its form in a recording.
fn secret(value: &str, text: &str) -> Question<Desk> {
    let [question] = questions([echo(Some(json!({"q": 1, "password": value})), text)])
        .try_into()
        .unwrap();
    let hidden = json!({"q": 1, "password": "<REDACTED:password#1>"});
    Question {
        shown: Some(echo(Some(hidden), text).ask),
        ..question
    }
}

fn score_questions(session: &Session, questions: Vec<Question<Desk>>) -> Vec<Scored> {
    let mut scorer = Scorer::new(questions);
    scorer.enter(Some("s"), true);
    for event in &session.events {
        scorer.record(event);
    }
    scorer.finish().0
}

#[test]
fn a_secret_that_was_taken_out_stands_for_the_one_that_it_can_be() {
    for hidden in [
        "<REDACTED:password#1>",
        "<REDACTED:password#7>",
        "[REDACTED:length=6]",
    ] {
        let mut session = Session::new();
        session.call(1, &json!({"password": hidden, "q": 1.0}), "in");
        let scored = score_questions(&session, vec![secret("secret", "in")]);
        assert_eq!((scored[0].exercised, scored[0].passed), (1, 1), "{hidden}");
        let scored = score_questions(&session, vec![secret("secret", "out")]);
        assert_eq!((scored[0].exercised, scored[0].failed), (1, 1), "{hidden}");
    }
    for other in [
        json!({"password": "[REDACTED:length=5]", "q": 1}),
        json!({"password": "<REDACTED:password#1>", "q": 2}),
        json!({"password": "<REDACTED:password#1>"}),
        json!({"password": "other", "q": 1}),
    ] {
        let mut session = Session::new();
        session.call(1, &other, "in");
        let scored = score_questions(&session, vec![secret("secret", "in")]);
        assert_eq!(scored[0].exercised, 0, "{other}");
    }
}

#[test]
fn tests_that_only_what_is_hidden_tells_apart_are_not_decided() {
    let mut session = Session::new();
    session.call(
        1,
        &json!({"password": "<REDACTED:password#1>", "q": 1}),
        "in",
    );
    let scored = score_questions(&session, vec![secret("right", "in"), secret("wrong", "no")]);
    for one in &scored {
        assert_eq!((one.exercised, one.doubtful), (1, 1));
        let outcome = &one.others[0].outcome;
        assert!(outcome.failures.is_empty());
        let why = "only redacted values distinguish this test from others";
        assert_eq!(outcome.doubts, [why]);
    }
    // Two tests with the same question share its answer.
    let scored = score_questions(&session, vec![secret("right", "in"), secret("right", "no")]);
    assert_eq!((scored[0].passed, scored[1].failed), (1, 1));
}

#[test]
fn what_we_tampered_with_decides_nothing() {
    for dir in [Direction::ToServer, Direction::ToClient] {
        let mut session = Session::new();
        session.ask(1, "tools/call", json!({"name": "echo"}));
        if dir == Direction::ToServer {
            session.fault(dir);
        }
        session.answer(1, &json!({"text": "wrong"}));
        if dir == Direction::ToClient {
            session.fault(dir);
        }
        let scored = score(&session, [echo(None, "right")]);
        let outcome = &scored[0].others[0].outcome;
        assert!(outcome.failures.is_empty(), "{dir:?}");
        assert_eq!(outcome.doubts, ["a fault was injected into it"], "{dir:?}");
    }
}

#[test]
fn an_answer_that_never_came_decides_nothing() {
    let mut session = Session::new();
    session.ask(1, "tools/call", json!({"name": "echo"}));
    let scored = score(&session, [echo(None, "x")]);
    assert_eq!(
        scored[0].others[0].outcome.doubts,
        ["the recording has no answer to it"]
    );
}

#[test]
fn ids_pair_by_type_and_in_order() {
    let mut session = Session::new();
    session.ask(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"n": 1}}),
    );
    session.ask(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"n": 2}}),
    );
    let answer = r#"{"jsonrpc":"2.0","id":"1","result":{"text":"stray"}}"#;
    session.message(Direction::ToClient, answer.to_owned());
    session.answer(1, &json!({"text": "first"}));
    session.answer(1, &json!({"text": "second"}));
    let tests = [
        echo(Some(json!({"n": 1})), "first"),
        echo(Some(json!({"n": 2})), "second"),
    ];
    let scored = score(&session, tests);
    assert!(scored.iter().all(|one| one.passed == 1), "{scored:?}");
}

#[test]
fn the_handshake_and_lists_answer_checks() {
    let check = |method: &str, target: &str| Test {
        server: "s".to_owned(),
        ask: Ask::Check {
            method: method.to_owned(),
        },
        expectation: Expectation {
            assertions: vec![Arc::new(
                compile(&json!({"target": target, "matcher": {"not": {"exact": null}}})).unwrap(),
            )],
            ..Expectation::default()
        },
        response_transform: None,
    };
    let mut session = Session::new();
    session.ask(0, "initialize", json!({"protocolVersion": "2025-06-18"}));
    session.answer(0, &json!({"protocolVersion": "2025-06-18"}));
    session.ask(1, "tools/list", json!({"cursor": "2"}));
    session.answer(1, &json!({"tools": [{"name": "late"}]}));
    session.ask(2, "tools/list", json!({}));
    session.answer(2, &json!({"tools": [{"name": "echo"}]}));
    let tests = [
        check("initialize", "result.protocolVersion"),
        check("tools/list", "result.tools"),
        check("ping", "result"),
    ];
    let scored = score(&session, tests);
    let seen: Vec<_> = scored
        .iter()
        .map(|one| (one.exercised, one.passed))
        .collect();
    assert_eq!(seen, [(1, 1), (1, 1), (0, 0)]);
}

#[test]
fn the_coverage_says_what_was_used_and_what_hides() {
    let mut session = Session::new();
    session.ask(1, "tools/list", json!({}));
    session.answer(1, &json!({"tools": [{"name": "echo"}, {"name": "idle"}]}));
    session.call(2, &json!({}), "x");
    session.call(3, &json!({"a": 1}), "x");
    session.ask(4, "tools/call", json!({"name": "hidden"}));
    let gap = Gap {
        events: 3,
        bytes: 9,
        why: GapReason::QueueFull,
        detail: None,
    };
    session.push(Direction::ToClient, EventBody::Gap(gap));
    let clipped = Payload::Clipped {
        len: 9_000_000,
        head: Bytes::from_static(b"{\"id\":4"),
    };
    session.push(
        Direction::ToClient,
        EventBody::message(clipped, LineEnd::Lf),
    );
    let tests = [echo(Some(json!({})), "x"), echo(Some(json!({"b": 1})), "x")];
    let mut scorer = Scorer::new(questions(tests));
    scorer.enter(Some("s"), true);
    for event in &session.events {
        scorer.record(event);
    }
    let (_, coverage) = scorer.finish();
    let tool = |name: &str| coverage.tools[&("s".to_owned(), name.to_owned())].clone();
    assert_eq!(
        (
            tool("echo").calls,
            tool("echo").listed,
            tool("echo").tests.len()
        ),
        (2, true, 1)
    );
    assert_eq!((tool("idle").calls, tool("idle").listed), (0, true));
    assert_eq!((tool("hidden").calls, tool("hidden").listed), (1, false));
    assert_eq!(coverage.gaps, 2);
}

#[test]
fn a_session_with_another_server_is_none_of_ours() {
    let mut session = Session::new();
    session.call(1, &json!({}), "x");
    let tests = [echo(None, "x")];
    let mut scorer = Scorer::new(questions(tests));
    scorer.enter(Some("elsewhere"), true);
    for event in &session.events {
        scorer.record(event);
    }
    assert_eq!(scorer.finish().0[0].exercised, 0);
}

#[test]
fn a_failure_behind_many_doubts_is_a_failure_and_told() {
    let mut session = Session::new();
    for id in 0..20 {
        session.ask(id, "tools/call", json!({"name": "echo"}));
        session.answer(id, &json!({"text": "wrong"}));
        session.fault(Direction::ToClient);
    }
    session.call(20, &json!({}), "wrong");
    let scored = &score(&session, [echo(None, "right")])[0];
    assert_eq!((scored.failed, scored.doubtful), (1, 20));
    // Only a readable number of inconclusive results is reported.
    assert_eq!((scored.others.len(), scored.more), (17, 4));
    let last = scored.others.last().expect("the failure");
    assert_eq!(last.outcome.failures.len(), 1);
}

#[test]
fn requests_beyond_what_is_followed_decide_nothing() {
    let mut session = Session::new();
    let large = "x".repeat(40 << 20);
    for id in 0..2 {
        let arguments = json!({"name": "echo", "arguments": {"large": large, "id": id}});
        session.ask(id, "tools/call", arguments);
    }
    session.answer(0, &json!({"text": "right"}));
    session.answer(1, &json!({"text": "right"}));
    let scored = &score(&session, [echo(None, "right")])[0];
    assert_eq!(
        (scored.exercised, scored.passed, scored.doubtful),
        (2, 1, 1)
    );
    let doubts = &scored.others[0].outcome.doubts;
    assert_eq!(doubts, &["too many open requests"]);
}

#[test]
fn values_are_let_go_when_too_much_is_kept() {
    let mut session = Session::new();
    let large = "x".repeat(30 << 20);
    for id in 0..3 {
        session.call(id, &json!({}), &large);
    }
    let scored = &score(&session, [echo(None, "right")])[0];
    let kept: Vec<_> = scored
        .others
        .iter()
        .map(|one| one.outcome.failures[0].actual.is_some())
        .collect();
    assert_eq!((scored.failed, kept), (3, vec![true, true, false]));
}
