//! Every expectation: it holds, it fails, and it cannot be decided.

mod asked;
mod errors;

use std::time::Duration;

use serde_json::{Value, json};
use tapewright_schemas::event::Direction;

use super::{Assertion, judge};
use crate::observation::{
    Answer, Cancelled, Framing, HttpHead, Observation, Reply, Sent, SideMessage,
};
use crate::rule::{Applies, RuleAssertion};
use crate::verdict::{Expectation, Untested, Verdict};
use crate::version::VersionCorpus;

/// An assertion as a corpus has it.
pub(crate) fn assertion(written: &Value) -> Assertion {
    let corpus = json!({ "corpus": { "category": "PROTO", "rules": [
        { "rule_id": "PROTO-001", "name": "a rule", "assertions": [written] },
    ] } });
    let read = VersionCorpus::read("draft", [("rules.yml".into(), corpus.to_string())]);
    let issues: Vec<&str> = read
        .issues
        .iter()
        .map(|issue| issue.message.as_str())
        .collect();
    let corpus = read
        .value
        .unwrap_or_else(|| panic!("{written}: {issues:?}"));
    let assertion: RuleAssertion = corpus.rules[0].assertions[0].clone();
    Assertion::new(assertion)
}

fn answered(reply: Reply) -> Observation {
    Observation {
        transport: Some(Applies::Stdio),
        answers: vec![Answer {
            reply,
            took: Some(Duration::from_millis(20)),
            ..Answer::default()
        }],
        ..Observation::default()
    }
}

fn result(value: Value) -> Observation {
    answered(Reply::Result(value))
}

fn error(code: i64, message: &str) -> Observation {
    answered(Reply::Error(json!({ "code": code, "message": message })))
}

fn over_http(status: u16, fields: &[(&str, &str)], mut seen: Observation) -> Observation {
    seen.transport = Some(Applies::Http);
    for answer in &mut seen.answers {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        answer.head = Some(HttpHead {
            status,
            fields: fields.iter().map(owned).collect(),
        });
    }
    seen
}

fn said(dir: Direction, message: Value) -> SideMessage {
    SideMessage { dir, message }
}

#[track_caller]
fn holds(expect: &Value, seen: &Observation) {
    assert_eq!(judged(expect, seen), Verdict::Pass, "{expect}");
}

/// The expectation that failed, and where.
#[track_caller]
fn breaks(expect: &Value, seen: &Observation) -> (Expectation, String) {
    match judged(expect, seen) {
        Verdict::Fail(failure) => (failure.expectation, failure.pointer),
        other => panic!("{expect}: {other:?}"),
    }
}

#[track_caller]
fn untested(expect: &Value, seen: &Observation) -> Untested {
    match judged(expect, seen) {
        Verdict::Untested(why) => why,
        other => panic!("{expect}: {other:?}"),
    }
}

fn judged(expect: &Value, seen: &Observation) -> Verdict {
    let call = json!({ "method": "tools/list" });
    judge(&assertion(&json!({ "call": call, "expect": expect })), seen)
}

#[test]
fn an_answer_must_come_and_be_a_result() {
    let nothing = json!({});
    holds(&nothing, &result(json!({})));
    assert_eq!(
        breaks(&nothing, &answered(Reply::None)).0,
        Expectation::Answer
    );
    assert_eq!(
        breaks(&nothing, &error(-32603, "no")).0,
        Expectation::Answer
    );
    let gap = Observation {
        gap: true,
        ..result(json!({}))
    };
    assert_eq!(untested(&nothing, &gap), Untested::Gap);
}

#[test]
fn what_was_chosen_for_a_test_may_be_refused() {
    let chosen = Observation {
        chosen: true,
        ..error(-32602, "bad arguments")
    };
    assert!(matches!(
        untested(&json!({}), &chosen),
        Untested::Refused(_)
    ));
    // The expected error is judged all the same.
    holds(&json!({ "error": { "code": -32602 } }), &chosen);
}

#[test]
fn nothing_answers_a_notification() {
    let written = json!({ "call": { "method": "notifications/initialized" }, "expect": {} });
    let assertion = assertion(&written);
    let judged = |seen: &Observation| judge(&assertion, seen);
    assert_eq!(judged(&answered(Reply::None)), Verdict::Pass);
    assert!(judged(&result(json!({}))).is_fail());
    assert!(judged(&error(-32601, "no")).is_fail());
    assert_eq!(
        judged(&over_http(202, &[], answered(Reply::None))),
        Verdict::Pass
    );
    assert!(judged(&over_http(200, &[], answered(Reply::None))).is_fail());
}

#[test]
fn a_result_is_compared_in_part_or_whole() {
    let seen = result(json!({ "a": { "b": 1, "c": [1, 2] }, "d": null }));
    holds(&json!({ "result": { "a": { "b": 1.0 } } }), &seen);
    holds(&json!({ "result": { "a": { "c": [1, 2] } } }), &seen);
    let (what, place) = breaks(&json!({ "result": { "a": { "c": [1] } } }), &seen);
    assert_eq!((what, place.as_str()), (Expectation::Result, "/a/c"));
    let (_, place) = breaks(&json!({ "result": { "a": { "x/y": 1 } } }), &seen);
    assert_eq!(place, "/a/x~1y");
    let exact = json!({ "result": { "a": { "b": 1, "c": [1, 2] } }, "match_mode": "exact" });
    assert_eq!(breaks(&exact, &seen).1, "/d");
    let whole =
        json!({ "result": { "d": null, "a": { "c": [1, 2], "b": 1 } }, "match_mode": "exact" });
    holds(&whole, &seen);
    let unreadable = answered(Reply::Unreadable);
    assert_eq!(untested(&exact, &unreadable), Untested::TooMuch);
}

#[test]
fn an_error_has_its_code_and_a_part_of_its_message() {
    let seen = error(-32601, "Method not found: x");
    holds(&json!({ "error": {} }), &seen);
    holds(
        &json!({ "error": { "code": -32601, "message_contains": "not found" } }),
        &seen,
    );
    assert_eq!(
        breaks(&json!({ "error": { "code": -32602 } }), &seen).1,
        "/code"
    );
    let message = json!({ "error": { "message_contains": "unknown" } });
    assert_eq!(breaks(&message, &seen).1, "/message");
    assert_eq!(
        breaks(&json!({ "error": {} }), &result(json!({}))).0,
        Expectation::Error
    );
    assert_eq!(
        breaks(&json!({ "error": {} }), &answered(Reply::None)).0,
        Expectation::Answer
    );
    // Over HTTP a status is an error, too; but it has no code.
    let status = over_http(400, &[], answered(Reply::None));
    holds(&json!({ "error": {} }), &status);
    assert_eq!(
        breaks(&json!({ "error": { "code": -32600 } }), &status).0,
        Expectation::Answer
    );
    let locked = over_http(401, &[], answered(Reply::None));
    let code = json!({ "error": { "code": -32600 } });
    assert_eq!(untested(&code, &locked), Untested::Unauthorized(401));
}

#[test]
fn a_result_is_of_its_schema_and_a_schema_fetches_nothing() {
    let schema = json!({ "schema": {
        "type": "object", "required": ["tools"],
        "properties": { "tools": { "type": "array", "items": { "required": ["name"] } } },
    } });
    holds(&schema, &result(json!({ "tools": [{ "name": "a" }] })));
    let (what, place) = breaks(&schema, &result(json!({ "tools": [{}] })));
    assert_eq!((what, place.as_str()), (Expectation::Schema, "/tools/0"));
    let far = json!({ "schema": { "$ref": "https://example.com/schema.json" } });
    assert_eq!(untested(&far, &result(json!({}))), Untested::TooMuch);
}

#[test]
fn headers_are_found_in_any_case_by_a_part_of_their_value() {
    let fields = [
        ("Content-Type", "application/json; charset=utf-8"),
        ("X", "1"),
    ];
    let seen = over_http(200, &fields, result(json!({})));
    holds(
        &json!({ "headers": { "content-type": "application/json" } }),
        &seen,
    );
    holds(&json!({ "headers": { ":status": "200" } }), &seen);
    let expect = json!({ "headers": { "content-type": "text/event-stream" } });
    assert_eq!(breaks(&expect, &seen).0, Expectation::Headers);
    assert_eq!(
        breaks(&json!({ "headers": { "y": "1" } }), &seen).0,
        Expectation::Headers
    );
    holds(&json!({ "headers": { ":status": "404 200" } }), &seen);
    // A status is not a text that may match in part.
    assert_eq!(
        breaks(&json!({ "headers": { ":status": "20" } }), &seen).0,
        Expectation::Headers
    );
    holds(&json!({ "headers_absent": ["y"] }), &seen);
    let absent = json!({ "headers_absent": ["x"] });
    assert_eq!(breaks(&absent, &seen).0, Expectation::HeadersAbsent);
    let stdio = result(json!({}));
    assert_eq!(
        untested(&absent, &stdio),
        Untested::Transport(Applies::Http)
    );
    let unknown = Observation {
        transport: Some(Applies::Http),
        ..result(json!({}))
    };
    assert_eq!(untested(&absent, &unknown), Untested::NoHead);
}

#[test]
fn lines_are_messages_or_they_are_noise() {
    let framed = |lines: &[&str]| {
        let mut framing = Framing::default();
        framing.message();
        for line in lines {
            framing.noise(line.as_bytes());
        }
        Observation {
            transport: Some(Applies::Stdio),
            framing: Some(framing),
            ..Observation::default()
        }
    };
    let lines = json!({ "transport_observation": "line_delimited" });
    let lengths = json!({ "transport_observation": "content_length_framed" });
    holds(&lines, &framed(&[]));
    assert_eq!(
        breaks(&lines, &framed(&["listening"])).0,
        Expectation::TransportObservation
    );
    holds(&lengths, &framed(&["content-length: 30\r"]));
    assert_eq!(
        breaks(&lengths, &framed(&[])).0,
        Expectation::TransportObservation
    );
    assert_eq!(untested(&lines, &result(json!({}))), Untested::NotAsked);
}

#[test]
fn a_cancellation_may_be_too_late_and_must_not_hang_the_server() {
    let cancelled = |answered, goes_on| Observation {
        transport: Some(Applies::Stdio),
        cancelled: Some(Cancelled { answered, goes_on }),
        ..Observation::default()
    };
    let expect = json!({ "transport_observation": "cancellable" });
    holds(&expect, &cancelled(false, Some(true)));
    holds(&expect, &cancelled(true, Some(true)));
    let stuck = cancelled(false, Some(false));
    assert_eq!(breaks(&expect, &stuck).0, Expectation::TransportObservation);
    assert_eq!(
        untested(&expect, &cancelled(false, None)),
        Untested::NotAsked
    );
}

#[test]
fn an_answer_comes_in_time() {
    let seen = result(json!({}));
    holds(&json!({ "max_duration_ms": 20 }), &seen);
    let expect = json!({ "max_duration_ms": 19 });
    assert_eq!(breaks(&expect, &seen).0, Expectation::MaxDuration);
    let mut untimed = seen;
    untimed.answers[0].took = None;
    assert_eq!(untested(&expect, &untimed), Untested::NoTimes);
}

#[test]
fn members_are_the_same_in_all_answers() {
    let twice = |one: Value, other: Value| {
        let mut seen = result(one);
        seen.answers.extend(result(other).answers);
        seen
    };
    let expect = json!({ "stable_keys": ["tools", "/a/b"] });
    let same = twice(
        json!({ "tools": [1], "x": 1 }),
        json!({ "x": 2, "tools": [1] }),
    );
    holds(&expect, &same);
    let other = twice(json!({ "a": { "b": 1 } }), json!({ "a": {} }));
    let (what, place) = breaks(&expect, &other);
    assert_eq!((what, place.as_str()), (Expectation::StableKeys, "/a/b"));
    let once = untested(&expect, &result(json!({})));
    assert_eq!(
        once,
        Untested::TooFew {
            asked: 1,
            wanted: 2
        }
    );
}

#[test]
fn what_is_asked_at_once_is_answered_as_often() {
    let written = json!({ "call": { "method": "ping", "repeat": 3 }, "expect": {} });
    let assertion = assertion(&written);
    let mut seen = result(json!({}));
    let too_few = Untested::TooFew {
        asked: 1,
        wanted: 3,
    };
    assert_eq!(judge(&assertion, &seen), Verdict::Untested(too_few));
    seen.answers.extend(result(json!({})).answers);
    seen.answers.extend(result(json!({})).answers);
    assert_eq!(judge(&assertion, &seen), Verdict::Pass);
    seen.answers[1].reply = Reply::None;
    assert!(judge(&assertion, &seen).is_fail());
}

fn progress(token: &Value, progress: &[i64]) -> Observation {
    let each = progress.iter().map(|progress| {
        said(
            Direction::ToClient,
            json!({ "method": "notifications/progress",
                "params": { "progressToken": token, "progress": progress } }),
        )
    });
    Observation {
        sent: Sent {
            method: Some("tools/call".to_owned()),
            params: json!({ "_meta": { "progressToken": "t" } })
                .as_object()
                .cloned(),
        },
        between: each.collect(),
        ..result(json!({}))
    }
}

#[test]
fn notifications_come_with_the_token_of_their_call_and_do_not_fall() {
    let stream = |more: Value| {
        let mut stream = json!({ "method": "notifications/progress" });
        let members = more.as_object().cloned().unwrap_or_default();
        stream.as_object_mut().expect("an object").extend(members);
        json!({ "notification_stream": stream })
    };
    let correlated = stream(json!({ "correlate_token": true }));
    let rising = stream(json!({ "progress_non_decreasing": true }));
    holds(&correlated, &progress(&json!("t"), &[1, 2]));
    assert_eq!(
        breaks(&correlated, &progress(&json!("u"), &[1])).1,
        "/params/progressToken"
    );
    holds(&rising, &progress(&json!("t"), &[1, 1, 2]));
    assert_eq!(
        breaks(&rising, &progress(&json!("t"), &[2, 1])).1,
        "/params/progress"
    );
    let none = untested(&correlated, &progress(&json!("t"), &[]));
    assert_eq!(
        none,
        Untested::NoneCame("notifications/progress".to_owned())
    );
    let absent = stream(json!({ "absent": true }));
    holds(&absent, &progress(&json!("t"), &[]));
    assert_eq!(
        breaks(&absent, &progress(&json!("t"), &[1])).0,
        Expectation::NotificationStream
    );
}

#[test]
fn a_subscription_is_acknowledged() {
    let method = "notifications/subscriptions/acknowledged";
    let expect = json!({ "notification_stream": { "method": method } });
    let silent = Observation {
        transport: Some(Applies::Stdio),
        ..Observation::default()
    };
    assert_eq!(breaks(&expect, &silent).0, Expectation::NotificationStream);
    let told = Observation {
        between: vec![said(Direction::ToClient, json!({ "method": method }))],
        ..silent
    };
    holds(&expect, &told);
}

#[test]
fn a_server_asks_and_what_it_gets_is_of_its_schema() {
    let expect = json!({ "server_request": {
        "method": "elicitation/create", "content_matches_requested_schema": true } });
    let asks = |answer: Option<Value>, schema: Value| {
        let request = json!({ "id": 7, "method": "elicitation/create", "params": schema });
        let mut between = vec![said(Direction::ToClient, request)];
        let answer = answer.map(|result| json!({ "id": 7, "result": result }));
        between.extend(answer.map(|answer| said(Direction::ToServer, answer)));
        Observation {
            between,
            ..result(json!({}))
        }
    };
    let schema = json!({ "requestedSchema": { "type": "object", "required": ["name"] } });
    let accepts = |content: Value| Some(json!({ "action": "accept", "content": content }));
    holds(
        &expect,
        &asks(accepts(json!({ "name": "x" })), schema.clone()),
    );
    let (what, _) = breaks(&expect, &asks(accepts(json!({})), schema.clone()));
    assert_eq!(what, Expectation::ServerRequest);
    let (_, place) = breaks(&expect, &asks(accepts(json!({})), json!({})));
    assert_eq!(place, "/params/requestedSchema");
    let declines = Some(json!({ "action": "decline" }));
    assert_eq!(
        untested(&expect, &asks(declines, schema)),
        Untested::Declined
    );
    let none = untested(&expect, &result(json!({})));
    assert_eq!(none, Untested::NoneCame("elicitation/create".to_owned()));
}

#[test]
fn a_failure_outweighs_what_cannot_be_told_and_a_success_too() {
    let pass = || Verdict::Pass;
    let untested = || Verdict::Untested(Untested::NotAsked);
    let fail = || breaks_of(&error(-32603, "no"));
    assert!(untested().and(fail).is_fail());
    assert_eq!(untested().and(pass), untested());
    assert!(pass().merge(fail()).is_fail());
    assert_eq!(untested().merge(pass()), pass());
    let gap = Verdict::Untested(Untested::Gap);
    assert_eq!(untested().merge(gap.clone()), gap);
}

fn breaks_of(seen: &Observation) -> Verdict {
    judged(&json!({}), seen)
}
