//! Remembering changes no verdict, and no duration of a rule.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;
use tapewright_schemas::event::{Direction, Gap};

use super::*;
use crate::recorded::memory::Memory;
use crate::registry;

const TOOLS: &str = r#"{"tools":[{"name":"now","inputSchema":{"type":"object"}},
    {"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},
    {"name":"echo","inputSchema":{"type":"object","required":["a"]}}]}"#;

/// Methods and parameters: those that rules have, others, and unreadable ones.
const ASKED: [(&str, &str); 24] = [
    ("tools/list", "{}"),
    ("tools/list", r#"{"cursor":"tapewright-no-such-cursor"}"#),
    ("tools/list", r#"{"cursor":"p2"}"#),
    ("tools/call", r#"{"name":"now","arguments":{}}"#),
    ("tools/call", r#"{"name":"now"}"#),
    ("tools/call", r#"{"name":"now","arguments":{ }}"#),
    ("tools/call", r#"{"name":"weather","arguments":{}}"#),
    ("tools/call", r#"{"name":"echo","arguments":{"a":"b"}}"#),
    (
        "tools/call",
        r#"{"name":"echo","arguments":{"a":"\ud83d"}}"#,
    ),
    ("tools/call", r#"{"name":"now","arguments":{},"x":1e999}"#),
    ("tools/call", r#"{"name":"now","arguments":{},"x":1e9}"#),
    ("tools/call", r#"{"name":"hidden","arguments":{}}"#),
    (
        "tools/call",
        r#"{"name":"now","name":"tapewright-no-such-thing","arguments":{}}"#,
    ),
    ("tools/call", r#"{"n\u0061me":"now","arguments":{}}"#),
    ("tools/call", r#"{"name":"now","arguments":[1]}"#),
    ("tools/call", r#"{"arguments":{}}"#),
    (
        "tools/call",
        r#"{"name":"now","arguments":{},"inputResponses":{"who":{"roots":[]}},"requestState":"s"}"#,
    ),
    ("tools/call", "[]"),
    ("resources/read", r#"{"uri":"file:///a"}"#),
    (
        "resources/read",
        r#"{"uri":"tapewright-no-such-thing://nowhere/nothing"}"#,
    ),
    ("prompts/get", r#"{"name":"greet","arguments":{"a":"b"}}"#),
    ("ping", "{}"),
    ("tapewright/unknown", "{}"),
    ("logging/setLevel", r#"{"level":"info"}"#),
];

/// Members of answers, good and bad.
const SAID: [&str; 22] = [
    r#""result":{"content":[{"type":"text","text":"a"}]}"#,
    r#""result":{"content":[{"type":"text","text":"another"},{"type":"text","text":""}]}"#,
    r#""result":{"content":[{"type":"","text":"a"}]}"#,
    r#""result":{"content":[{"text":"a"}]}"#,
    r#""result":{"content":[{"type":"text","text":"\ud83d"}]}"#,
    r#""result":{"content":[],"structuredContent":{"a":1}}"#,
    r#""result":{"content":[],"isError":true}"#,
    r#""result":{"content":[],"isError":"yes"}"#,
    r#""result":{"c\u006fntent":[]}"#,
    r#""result":{"content":{}}"#,
    r#""result":{}"#,
    r#""result":[]"#,
    r#""result":{"resultType":"input_required","inputRequests":{"who":{"method":"roots/list"}},"requestState":"s"}"#,
    r#""result":{"resultType":"input\u005frequired"}"#,
    r#""result":{"tools":[],"nextCursor":"p2"}"#,
    r#""result":{"tools":[{"name":"a b"}]}"#,
    r#""result":{"contents":[]}"#,
    r#""result":{"contents":[{"uri":"file:///a","text":"t"}]}"#,
    r#""error":{"code":-32602,"message":"no"}"#,
    r#""error":{"code":-32602,"message":"no, not this"}"#,
    r#""error":{"code":-32601,"message":"no"}"#,
    r#""error":{"code":"-32601"}"#,
];

/// An event between a request and its answer, or in place of the answer.
#[derive(Clone, Copy, Debug)]
enum Interruption {
    Nothing,
    Progress,
    Asks,
    Cancelled,
    Unanswered,
    Gap,
    Slow,
}

fn step() -> impl Strategy<Value = (usize, usize, Interruption, bool)> {
    let beside = prop_oneof![
        12 => Just(Interruption::Nothing),
        1 => Just(Interruption::Progress),
        1 => Just(Interruption::Asks),
        1 => Just(Interruption::Cancelled),
        1 => Just(Interruption::Unanswered),
        1 => Just(Interruption::Gap),
        1 => Just(Interruption::Slow),
    ];
    (0..ASKED.len(), 0..SAID.len() + 6, beside, any::<bool>())
}

/// Few questions and answers, so that they come again.
fn steps() -> impl Strategy<Value = Vec<(usize, usize, Interruption, bool)>> {
    let few = proptest::collection::vec(step(), 1..6);
    (few, proptest::collection::vec(0..6_usize, 1..60)).prop_map(|(few, order)| {
        let each = order.iter().filter_map(|at| few.get(at % few.len()));
        each.copied().collect()
    })
}

fn take(tape: &mut Tape, id: usize, step: (usize, usize, Interruption, bool), stateless: bool) {
    let (asked, said, beside, token) = step;
    let (method, params) = ASKED[asked];
    let mut params = params.to_owned();
    let meta = match (token, stateless) {
        (false, false) => String::new(),
        (true, false) => format!(r#""_meta":{{"progressToken":{id}}}"#),
        (token, true) => {
            let token = if token {
                format!(r#","progressToken":{id}"#)
            } else {
                String::new()
            };
            format!(
                r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{{}}{token}}}"#
            )
        }
    };
    if !meta.is_empty() && params.ends_with('}') {
        params.pop();
        let comma = if params == "{" { "" } else { "," };
        params = format!("{params}{comma}{meta}}}");
    }
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    tape.line(Direction::ToServer, &text);
    match beside {
        Interruption::Nothing => {}
        Interruption::Unanswered => return,
        Interruption::Progress => {
            tape.says(json!({ "method": "notifications/progress",
                "params": { "progressToken": id, "progress": 1 } }));
        }
        Interruption::Asks => {
            tape.says(json!({ "id": id, "method": "roots/list" }));
            tape.asks(json!({ "id": id, "result": { "roots": [] } }));
        }
        Interruption::Cancelled => {
            tape.now += 20_000_000;
            tape.asks(
                json!({ "method": "notifications/cancelled", "params": { "requestId": id } }),
            );
        }
        Interruption::Gap => tape.event(Direction::ToClient, EventBody::Gap(Gap::default())),
        Interruption::Slow => tape.now += 6_000_000,
    }
    // Most lists are unchanged.
    let said = SAID
        .get(said)
        .map_or_else(|| format!(r#""result":{TOOLS}"#), |one| (*one).to_owned());
    tape.line(
        Direction::ToClient,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},{said}}}"#),
    );
}

/// All results for a tape, with a memory of this size.
fn judged(tape: &Tape, plan: &Plan, revision: &str, memory: Memory) -> String {
    let source = Source {
        revision: revision.to_owned(),
        transport: None,
        timed: true,
    };
    let mut recorded = Recorded::new(plan, source);
    recorded.memory = memory;
    for event in &tape.events {
        recorded.observe(event, None);
    }
    let judged = recorded.finish(false);
    let verdicts: Vec<Verdict> = plan.each().map(|(at, _)| judged.tally.get(at)).collect();
    let outcomes = plan.outcomes(&judged.tally, &judged.facts);
    format!(
        "{verdicts:#?}{outcomes:#?}{:?}",
        judged.facts.known.extent()
    )
}

fn plan_of(version: &str) -> Plan {
    let corpus = VersionCorpus::embedded(version).expect("a corpus");
    Plan::new(&registry::embedded().value.expect("a registry"), &corpus)
}

fn same_with_and_without(plan: &Plan, steps: &[(usize, usize, Interruption, bool)]) {
    let version = &plan.version;
    let revision = version.trim_start_matches('v');
    let stateless = revision >= "2026-07-28";
    let mut tape = Tape::new();
    if stateless {
        take(
            &mut tape,
            0,
            (0, usize::MAX, Interruption::Nothing, false),
            true,
        );
    } else {
        let params = json!({ "protocolVersion": revision });
        tape.asks(json!({ "id": 0, "method": "initialize", "params": params }));
        tape.says(json!({ "id": 0, "result": { "protocolVersion": revision,
            "capabilities": { "tools": {} } } }));
        take(
            &mut tape,
            1,
            (0, usize::MAX, Interruption::Nothing, false),
            false,
        );
    }
    for (id, step) in steps.iter().enumerate() {
        take(&mut tape, id + 2, *step, stateless);
    }
    let with = judged(&tape, plan, revision, Memory::default());
    let without = judged(&tape, plan, revision, Memory::of(0));
    pretty_assert(&with, &without);
}

fn pretty_assert(with: &str, without: &str) {
    let differs = with
        .lines()
        .zip(without.lines())
        .find(|(one, other)| one != other);
    assert_eq!(differs, None);
    assert_eq!(with.len(), without.len());
}

static SESSIONS: LazyLock<Plan> = LazyLock::new(|| plan_of("v2025-11-25"));
static STATELESS: LazyLock<Plan> = LazyLock::new(|| plan_of("v2026-07-28"));

proptest! {
    #[test]
    fn what_is_remembered_changes_nothing(steps in steps()) {
        same_with_and_without(&SESSIONS, &steps);
    }

    #[test]
    fn what_is_remembered_changes_nothing_without_sessions(steps in steps()) {
        same_with_and_without(&STATELESS, &steps);
    }
}

#[test]
fn an_answer_that_says_the_same_is_not_judged_again() {
    let plan = plan(&json!([{ "call": { "method": "tools/list" },
        "expect": { "schema": { "required": ["tools"] } } }]));
    let mut tape = Tape::opened();
    for id in 1..50 {
        tape.asks(json!({ "id": id, "method": "tools/list", "params": {} }));
        tape.says(
            json!({ "id": id, "result": { "tools": [{ "name": "t", "title": format!("{id}") }] } }),
        );
    }
    let source = Source {
        revision: "2025-06-18".to_owned(),
        transport: None,
        timed: true,
    };
    let mut recorded = Recorded::new(&plan, source);
    for event in &tape.events {
        recorded.observe(event, None);
    }
    assert_eq!(recorded.memory.sizes(), (1, 1));
}
