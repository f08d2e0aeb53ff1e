//! Several recordings judged as one, requests within a result, and the recorder's answers in a
//! server's place.

use serde_json::{Value, json};
use tapewright_schemas::event::{
    CloseReason, Direction, EventBody, Fields, Head, InPlace, Peer, RequestHead, ResponseHead,
};

use super::{Tape, one, plan};
use crate::plan::{Inapplicable, State};
use crate::recorded::{Recorded, Source};
use crate::verdict::{Untested, Verdict};

fn source() -> Source {
    Source {
        revision: "2025-06-18".to_owned(),
        transport: None,
        timed: true,
    }
}

/// The verdicts on recordings that are judged as one.
fn together(tapes: &[&Tape], assertions: &Value) -> Vec<Verdict> {
    let plan = plan(assertions);
    let mut recorded = Recorded::new(&plan, source());
    for (number, tape) in tapes.iter().enumerate() {
        if number > 0 {
            recorded.next(false, source());
        }
        for event in &tape.events {
            recorded.observe(event, None);
        }
    }
    let judged = recorded.finish(false);
    plan.each().map(|(at, _)| judged.tally.get(at)).collect()
}

#[test]
fn conversations_on_recordings_of_their_own_are_judged_as_one() {
    let mut first = Tape::opened();
    first.asks(json!({ "id": 1, "method": "tools/list" }));
    first.says(json!({ "id": 1, "result": { "tools": [{ "name": "echo" }] } }));
    // What the server has is known from the first recording; ids start again.
    let mut second = Tape::opened();
    second.asks(
        json!({ "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": {} } }),
    );
    second.says(json!({ "id": 1, "result": { "content": "no" } }));
    let call = json!({ "call": { "method": "tools/call", "params": { "name": "${tool:first}", "arguments": {} } },
        "expect": { "schema": { "properties": { "content": { "type": "array" } } } } });
    let list = json!({ "call": { "method": "tools/list" }, "expect": { "schema": { "required": ["tools"] } } });
    let all = json!([call, list]);
    assert_eq!(
        together(&[&second], &all),
        [
            Verdict::Untested(Untested::NotAsked),
            Verdict::Untested(Untested::NotAsked)
        ]
    );
    let verdicts = together(&[&first, &second], &all);
    let Verdict::Fail(failure) = &verdicts[0] else {
        panic!("{verdicts:?}")
    };
    assert_eq!((failure.recording, failure.seq), (1, Some(5)));
    assert_eq!(verdicts[1], Verdict::Pass);
}

#[test]
fn a_request_that_is_open_at_the_end_of_a_recording_is_not_answered_on_the_next() {
    let mut first = Tape::opened();
    first.asks(json!({ "id": 1, "method": "tools/list" }));
    let mut second = Tape::new();
    second.says(json!({ "id": 1, "result": { "tools": [] } }));
    let list = json!([{ "call": { "method": "tools/list" }, "expect": { "schema": {} } }]);
    assert_eq!(
        together(&[&first, &second], &list),
        [Verdict::Untested(Untested::NotAwaited)]
    );
}

/// A call that is answered by asking for a form to be filled in.
fn asking(schema: &Value) -> Tape {
    let mut tape = Tape::opened();
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    tape.says(json!({ "id": 1, "result": { "tools": [{ "name": "ask" }] } }));
    tape.asks(json!({ "id": 2, "method": "tools/call", "params": { "name": "ask", "arguments": { "what": "x" } } }));
    tape.says(json!({ "id": 2, "result": { "resultType": "input_required", "requestState": "s",
        "inputRequests": { "who": { "method": "elicitation/create", "params": { "requestedSchema": schema } } } } }));
    tape
}

fn answered(tape: &mut Tape, state: &str) {
    tape.asks(json!({ "id": 3, "method": "tools/call", "params": { "name": "ask", "arguments": { "what": "x" },
        "requestState": state,
        "inputResponses": { "who": { "action": "accept", "content": { "name": "Ada" } } } } }));
    tape.says(json!({ "id": 3, "result": { "content": [], "resultType": "complete" } }));
}

fn elicits(content: bool) -> Value {
    let mut expect = json!({ "server_request": { "method": "elicitation/create" } });
    if content {
        expect["server_request"]["content_matches_requested_schema"] = json!(true);
    } else {
        expect["result"] = json!({ "content": [] });
    }
    json!({ "call": { "method": "tools/call", "params": { "name": "${tool:first}", "arguments": {} } }, "expect": expect })
}

#[test]
fn what_a_result_asks_for_and_the_same_request_gives_is_one_exchange() {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let mut tape = asking(&schema);
    answered(&mut tape, "s");
    assert_eq!(one(&tape, &elicits(true)), Verdict::Pass);
    assert_eq!(one(&tape, &elicits(false)), Verdict::Pass);
    let mut tape = asking(&json!({ "type": "object", "required": ["age"] }));
    answered(&mut tape, "s");
    assert!(matches!(one(&tape, &elicits(true)), Verdict::Fail(_)));
}

#[test]
fn what_a_result_asks_for_and_nobody_gives_is_no_fault_of_the_server() {
    let tape = asking(&json!({ "type": "object" }));
    assert_eq!(
        one(&tape, &elicits(true)),
        Verdict::Untested(Untested::Declined)
    );
    assert_eq!(
        one(&tape, &elicits(false)),
        Verdict::Untested(Untested::NotAwaited)
    );
    // The state is of another question.
    let mut tape = asking(&json!({ "type": "object" }));
    answered(&mut tape, "t");
    assert!(matches!(one(&tape, &elicits(true)), Verdict::Untested(_)));
}

#[test]
fn the_same_question_several_times_at_once_is_answered_by_asking_for_input_too() {
    let mut tape = asking(&json!({ "type": "object" }));
    let call = json!({ "name": "ask", "arguments": {} });
    for id in 10..13 {
        tape.asks(json!({ "id": id, "method": "tools/call", "params": call }));
    }
    for id in 10..13 {
        tape.says(
            json!({ "id": id, "result": { "resultType": "input_required", "requestState": "s" } }),
        );
    }
    let three = json!({ "call": { "method": "tools/call", "repeat": 3,
        "params": { "name": "${tool:first}", "arguments": {} } }, "expect": { "result": {} } });
    assert_eq!(one(&tape, &three), Verdict::Pass);
}

#[test]
fn behind_bytes_that_no_client_sends_nothing_else_is_judged() {
    let mut tape = Tape::opened();
    tape.asks(json!({ "method": "notifications/tapewright/unknown" }));
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    tape.says(json!({ "id": 1, "error": { "code": -32601, "message": "no" } }));
    let verdicts = tape.judged(&json!([
        { "call": { "method": "notifications/tapewright/unknown" }, "expect": {} },
        { "call": { "method": "tools/list" }, "expect": { "result": {} } },
    ]));
    assert_eq!(
        verdicts,
        [Verdict::Pass, Verdict::Untested(Untested::NotAsked)]
    );
}

#[test]
fn what_a_recorder_answers_in_the_servers_place_is_not_judged() {
    let mut verdicts = Vec::new();
    for (ours, fields) in [
        (true, vec![]),
        (false, vec![("x-tapewright", "answered")]),
        (false, vec![]),
    ] {
        let mut tape = Tape {
            events: Vec::new(),
            now: 0,
        };
        let client = Peer::Client {
            connection: 1,
            address: String::new(),
        };
        tape.event(Direction::ToServer, EventBody::Opened(client));
        let request = RequestHead {
            method: "POST".into(),
            fields: Fields::from_iter([("origin", "http://a.example")]),
            ..RequestHead::default()
        };
        tape.event(
            Direction::ToServer,
            EventBody::Head(Box::new(Head::Request(request))),
        );
        tape.asks(json!({ "id": 1, "method": "ping" }));
        let response = ResponseHead {
            status: 403,
            fields: Fields::from_iter(fields),
            ours: ours.then_some(InPlace::Unknown),
            ..ResponseHead::default()
        };
        tape.event(
            Direction::ToClient,
            EventBody::Head(Box::new(Head::Response(response))),
        );
        tape.event(
            Direction::ToClient,
            EventBody::Closed(CloseReason::EndOfInput),
        );
        verdicts.push(one(
            &tape,
            &json!({
            "call": { "method": "ping", "headers": { "Origin": "http://a.example" } },
            "expect": { "headers": { ":status": "403" } } }),
        ));
    }
    let ours = Verdict::Untested(Untested::InPlace);
    assert_eq!(verdicts, [ours.clone(), ours, Verdict::Pass]);
}

#[test]
fn a_rule_about_what_a_client_offers_counts_where_the_server_asks_for_it() {
    let mut asked = plan(&json!([elicits(true)]));
    asked.rules[0].registered.applicability = Some("client:elicitation".to_owned());
    let schema = json!({ "type": "object" });
    let mut asks = asking(&schema);
    answered(&mut asks, "s");
    for (tape, counts) in [(asks, true), (Tape::opened(), false)] {
        let judged = tape.run(&asked);
        let outcome = &asked.outcomes(&judged.tally, &judged.facts)[0];
        let unused = State::Inapplicable(Inapplicable::Unused("elicitation".to_owned()));
        if counts {
            assert!(matches!(outcome.state, State::Pass { .. }), "{outcome:?}");
        } else {
            assert_eq!(outcome.state, unused);
        }
    }
}
