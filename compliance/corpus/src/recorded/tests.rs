//! Sessions by hand, judged by corpora by hand.

use bytes::Bytes;
use serde_json::{Value, json};
use tapewright_schemas::event::{
    Carrier, ConduitId, Direction, Event, EventBody, Gap, LineEnd, Offset, Payload, Peer,
};

mod memory;
mod sessions;
mod several;

use super::{Judged, Recorded, Source};
use crate::plan::{AssertionIndex, Plan};
use crate::rule::Applies;
use crate::verdict::{Untested, Verdict};
use crate::version::VersionCorpus;

const VERSION: &str = "v2025-06-18";

/// A plan of one rule with these assertions.
fn plan(assertions: &Value) -> Plan {
    let corpus = json!({ "corpus": { "category": "PROTO", "rules": [
        { "rule_id": "PROTO-001", "name": "a rule", "assertions": assertions },
    ] } });
    let registry = json!({ "version": 1, "rules": [{
        "id": "PROTO-001", "name": "a rule", "category": "PROTO", "severity": "MUST",
        "applies_to": ["stdio", "http"], "spec_versions": [VERSION], "description": "It holds.",
        "references": [], "section": "lifecycle" }] });
    let read = VersionCorpus::read(VERSION, [("rules.yml".into(), corpus.to_string())]);
    let said = |issues: &[tapewright_config::Issue]| {
        issues
            .iter()
            .map(|one| one.message.clone())
            .collect::<Vec<_>>()
    };
    let corpus = read
        .value
        .unwrap_or_else(|| panic!("{:?}", said(&read.issues)));
    let path = std::path::Path::new("registry.yml");
    let read = tapewright_config::corpus::read_registry(path, &registry.to_string());
    let registry = read
        .value
        .unwrap_or_else(|| panic!("{:?}", said(&read.issues)));
    Plan::new(&registry, &corpus)
}

/// A session on stdio, event by event.
struct Tape {
    events: Vec<Event>,
    now: u64,
}

impl Tape {
    fn new() -> Self {
        let mut tape = Self {
            events: Vec::new(),
            now: 0,
        };
        tape.event(
            Direction::ToServer,
            EventBody::Opened(Peer::Process { pid: 7 }),
        );
        tape
    }

    /// With a handshake.
    fn opened() -> Self {
        let mut tape = Self::new();
        tape.asks(json!({ "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } }));
        tape.says(
            json!({ "id": 0, "result": { "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} } } }),
        );
        tape
    }

    fn event(&mut self, dir: Direction, body: EventBody) {
        self.now += 1_000;
        let mut event = Event::new(Offset(self.now), dir, body);
        event.seq = self.events.len() as u64 + 1;
        event.conduit = ConduitId(0);
        self.events.push(event);
    }

    fn line(&mut self, dir: Direction, text: &str) {
        let payload = Payload::Whole(Bytes::copy_from_slice(text.as_bytes()));
        self.event(dir, EventBody::message(payload, LineEnd::Lf));
    }

    fn asks(&mut self, message: Value) -> &mut Self {
        let text = enveloped(message);
        self.line(Direction::ToServer, &text);
        self
    }

    fn says(&mut self, message: Value) -> &mut Self {
        let text = enveloped(message);
        self.line(Direction::ToClient, &text);
        self
    }

    fn judged(&self, assertions: &Value) -> Vec<Verdict> {
        let plan = plan(assertions);
        let judged = self.run(&plan);
        plan.each().map(|(at, _)| judged.tally.get(at)).collect()
    }

    fn run(&self, plan: &Plan) -> Judged {
        let mut recorded = Recorded::new(
            plan,
            Source {
                revision: "2025-06-18".to_owned(),
                transport: None,
                timed: true,
            },
        );
        for event in &self.events {
            recorded.observe(event, None);
        }
        recorded.finish(false)
    }
}

fn enveloped(mut message: Value) -> String {
    if let Some(members) = message.as_object_mut() {
        members.insert("jsonrpc".to_owned(), json!("2.0"));
    }
    message.to_string()
}

#[track_caller]
fn one(tape: &Tape, assertion: &Value) -> Verdict {
    tape.judged(&json!([assertion])).remove(0)
}

#[test]
fn what_was_asked_is_judged_and_what_was_not_is_not() {
    let mut tape = Tape::opened();
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    tape.says(json!({ "id": 1, "result": { "tools": [] } }));
    let verdicts = tape.judged(&json!([
        { "expect": { "result": { "protocolVersion": "2025-06-18" } } },
        { "call": { "method": "tools/list" }, "expect": { "schema": { "required": ["tools"] } } },
        { "call": { "method": "tools/list" }, "expect": { "schema": { "required": ["items"] } } },
        { "call": { "method": "prompts/list" }, "expect": {} },
    ]));
    assert_eq!(verdicts[0], Verdict::Pass);
    assert_eq!(verdicts[1], Verdict::Pass);
    let Verdict::Fail(failure) = &verdicts[2] else {
        panic!("{verdicts:?}")
    };
    assert_eq!(failure.seq, Some(5));
    assert_eq!(verdicts[3], Verdict::Untested(Untested::NotAsked));
}

#[test]
fn one_answer_of_many_that_breaks_a_rule_is_found_wherever_it_stands() {
    let mut tape = Tape::opened();
    for id in 1..200 {
        tape.asks(json!({ "id": id, "method": "tools/list" }));
        let result = if id == 150 {
            json!({})
        } else {
            json!({ "tools": [] })
        };
        tape.says(json!({ "id": id, "result": result }));
    }
    let rule = json!({ "call": { "method": "tools/list" },
        "expect": { "schema": { "required": ["tools"] } } });
    assert!(one(&tape, &rule).is_fail());
}

#[test]
fn an_unknown_tool_is_one_that_is_in_no_list() {
    let rule = json!({ "call": { "method": "tools/call", "params": { "name": "${tool:unknown}" } },
        "expect": { "error": { "code": -32602 } } });
    let called = |name: &str, answer: Value| {
        let mut tape = Tape::opened();
        tape.asks(json!({ "id": 1, "method": "tools/list" }));
        tape.says(json!({ "id": 1, "result": { "tools": [{ "name": "echo" }] } }));
        tape.asks(json!({ "id": 2, "method": "tools/call", "params": { "name": name } }));
        let mut answer = answer;
        answer
            .as_object_mut()
            .expect("an object")
            .insert("id".to_owned(), json!(2));
        tape.says(answer);
        one(&tape, &rule)
    };
    let refused = json!({ "error": { "code": -32602, "message": "no" } });
    let other = json!({ "error": { "code": -32601, "message": "no" } });
    let fine = json!({ "result": { "content": [] } });
    let not_asked = Verdict::Untested(Untested::NotAsked);
    assert_eq!(called("nope", refused.clone()), Verdict::Pass);
    assert!(called("nope", other).is_fail());
    // A server may have a tool that is in no list; none has tapewright's.
    assert_eq!(called("hidden", fine.clone()), not_asked);
    assert!(called(crate::placeholder::UNKNOWN_NAME, fine).is_fail());
    assert_eq!(called("echo", refused), not_asked);
}

#[test]
fn a_known_tool_that_refuses_its_arguments_breaks_nothing() {
    let rule = json!({ "call": { "method": "tools/call", "params": { "name": "${tool:first}" } },
        "expect": { "schema": { "required": ["content"] } } });
    let called = |answer: Value| {
        let mut tape = Tape::opened();
        tape.asks(json!({ "id": 1, "method": "tools/list" }));
        tape.says(json!({ "id": 1, "result": { "tools": [{ "name": "echo" }] } }));
        tape.asks(json!({ "id": 2, "method": "tools/call",
            "params": { "name": "echo", "arguments": { "a": 1 } } }));
        tape.says(answer);
        one(&tape, &rule)
    };
    assert_eq!(
        called(json!({ "id": 2, "result": { "content": [] } })),
        Verdict::Pass
    );
    assert!(called(json!({ "id": 2, "result": {} })).is_fail());
    let refused = called(json!({ "id": 2, "error": { "code": -32602, "message": "a" } }));
    assert!(matches!(refused, Verdict::Untested(Untested::Refused(_))));
}

#[test]
fn a_cursor_that_was_never_given_makes_another_question() {
    let plain = json!({ "call": { "method": "tools/list" }, "expect": {} });
    let bad = json!({ "call": { "method": "tools/list", "params": { "cursor": "${cursor:bad}" } },
        "expect": { "error": { "code": -32602 } } });
    let mut tape = Tape::opened();
    tape.asks(json!({ "id": 1, "method": "tools/list", "params": { "cursor": "x" } }));
    tape.says(json!({ "id": 1, "error": { "code": -32602, "message": "no such cursor" } }));
    assert_eq!(one(&tape, &plain), Verdict::Untested(Untested::NotAsked));
    assert_eq!(one(&tape, &bad), Verdict::Pass);
    tape.asks(json!({ "id": 2, "method": "tools/list" }));
    tape.says(json!({ "id": 2, "result": { "tools": [], "nextCursor": "p2" } }));
    tape.asks(json!({ "id": 3, "method": "tools/list", "params": { "cursor": "p2" } }));
    tape.says(json!({ "id": 3, "error": { "code": -32602, "message": "no" } }));
    assert!(one(&tape, &plain).is_fail());
}

#[test]
fn bytes_that_are_no_request_are_answered_by_what_names_no_id() {
    let rule = json!({ "call": { "raw": "{\"jsonrpc\": \"2.0\", " }, "expect": { "error": { "code": -32700 } } });
    let mut tape = Tape::opened();
    assert_eq!(one(&tape, &rule), Verdict::Untested(Untested::NotAsked));
    tape.line(Direction::ToServer, "{\"jsonrpc\": \"2.0\", ");
    tape.asks(json!({ "id": 1, "method": "ping" }));
    tape.says(json!({ "id": 1, "result": {} }));
    assert!(one(&tape, &rule).is_fail(), "nothing answers it");
    tape.says(json!({ "id": null, "error": { "code": -32700, "message": "parse" } }));
    assert_eq!(one(&tape, &rule), Verdict::Pass);
}

#[test]
fn a_malformed_request_puts_no_rule_of_well_formed_ones_to_the_test() {
    let rule = json!({ "call": { "method": "tools/list" }, "expect": {} });
    let mut tape = Tape::opened();
    tape.line(
        Direction::ToServer,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
    );
    tape.says(json!({ "id": 1, "error": { "code": -32600, "message": "no" } }));
    assert_eq!(one(&tape, &rule), Verdict::Untested(Untested::NotAsked));
}

#[test]
fn a_request_that_nobody_waited_for_decides_nothing() {
    let rule = json!({ "call": { "method": "tools/list", "timeout_ms": 500 }, "expect": {} });
    let mut tape = Tape::opened();
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    assert_eq!(one(&tape, &rule), Verdict::Untested(Untested::NotAwaited));
    tape.now += 600_000;
    tape.asks(json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    assert!(
        one(&tape, &rule).is_fail(),
        "it was given up after its time"
    );
}

#[test]
fn what_a_gap_may_hide_is_inconclusive() {
    let rule = json!({ "call": { "method": "tools/list" }, "expect": {} });
    let mut tape = Tape::opened();
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    tape.event(Direction::ToClient, EventBody::Gap(Gap::default()));
    assert_eq!(one(&tape, &rule), Verdict::Untested(Untested::Gap));
}

#[test]
fn answers_to_the_same_question_are_compared_wherever_they_stand() {
    let rule =
        json!({ "call": { "method": "tools/list" }, "expect": { "stable_keys": ["tools"] } });
    let mut tape = Tape::opened();
    for (id, name) in [(1, "a"), (2, "a"), (3, "a")] {
        tape.asks(json!({ "id": id, "method": "tools/list" }));
        tape.says(json!({ "id": id, "result": { "tools": [{ "name": name }] } }));
    }
    assert_eq!(one(&tape, &rule), Verdict::Pass);
    tape.asks(json!({ "id": 4, "method": "tools/list" }));
    tape.says(json!({ "id": 4, "result": { "tools": [{ "name": "b" }] } }));
    assert!(one(&tape, &rule).is_fail());
}

#[test]
fn progress_of_another_call_is_not_held_against_one() {
    let rule = json!({ "call": { "method": "tools/call",
            "params": { "name": "${tool:first}", "_meta": { "progressToken": "p" } } },
        "expect": { "notification_stream": {
            "method": "notifications/progress", "correlate_token": true } } });
    let progress = |token: &str| {
        json!({ "method": "notifications/progress",
            "params": { "progressToken": token, "progress": 1 } })
    };
    let session = |tokens: &[&str]| {
        let mut tape = Tape::opened();
        tape.asks(json!({ "id": 1, "method": "tools/list" }));
        tape.says(json!({ "id": 1, "result": { "tools": [{ "name": "echo" }] } }));
        for (id, token) in [(2, "x"), (3, "y")] {
            tape.asks(json!({ "id": id, "method": "tools/call",
                "params": { "name": "echo", "_meta": { "progressToken": token } } }));
        }
        for token in tokens {
            tape.says(progress(token));
        }
        tape.says(json!({ "id": 2, "result": { "content": [] } }));
        tape.says(json!({ "id": 3, "result": { "content": [] } }));
        one(&tape, &rule)
    };
    assert_eq!(session(&["x", "y"]), Verdict::Pass);
    assert!(session(&["x", "z"]).is_fail());
}

#[test]
fn noise_on_standard_output_is_no_line_of_the_protocol() {
    let rule = json!({ "expect": { "transport_observation": "line_delimited" } });
    let mut tape = Tape::opened();
    assert_eq!(one(&tape, &rule), Verdict::Pass);
    tape.line(Direction::ToClient, "listening on 3000");
    assert!(one(&tape, &rule).is_fail());
}

#[test]
fn lines_tell_that_a_process_is_behind_them_even_if_nothing_says_how_it_was_opened() {
    let rule = json!({ "expect": { "transport_observation": "line_delimited" } });
    let of = |carrier: Carrier| {
        let mut tape = Tape::opened();
        tape.line(Direction::ToClient, "listening on 3000");
        tape.events
            .retain(|event| !matches!(event.body, EventBody::Opened(_)));
        for event in &mut tape.events {
            if let EventBody::Message { origin, .. } = &mut event.body {
                origin.carrier = carrier;
            }
        }
        one(&tape, &rule)
    };
    assert!(of(Carrier::Line).is_fail());
    assert_eq!(
        of(Carrier::Document),
        Verdict::Untested(Untested::UnknownTransport)
    );
}

#[test]
fn another_revision_is_not_judged_by_this_one() {
    let rule = json!({ "call": { "method": "tools/list" }, "expect": {} });
    let mut tape = Tape::new();
    tape.asks(
        json!({ "id": 0, "method": "initialize", "params": { "protocolVersion": "2024-11-05" } }),
    );
    tape.says(
        json!({ "id": 0, "result": { "protocolVersion": "2024-11-05", "capabilities": {} } }),
    );
    tape.asks(json!({ "id": 1, "method": "tools/list" }));
    tape.says(json!({ "id": 1, "error": { "code": -32603, "message": "no" } }));
    assert_eq!(one(&tape, &rule), Verdict::Untested(Untested::NotAsked));
}

#[test]
fn facts_are_read_from_the_opening() {
    let plan = plan(&json!([{ "expect": {} }]));
    let judged = Tape::opened().run(&plan);
    assert_eq!(judged.facts.transports, [Applies::Stdio]);
    assert_eq!(judged.facts.known.declares("tools"), Some(true));
    assert_eq!(judged.facts.known.declares("prompts"), Some(false));
    let at = AssertionIndex {
        rule: 0,
        assertion: 0,
    };
    assert_eq!(judged.tally.get(at), Verdict::Pass);
}
