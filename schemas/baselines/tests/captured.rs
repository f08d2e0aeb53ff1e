//! Exchanges from the traces of runs.

use serde_json::json;
use tapewright_baselines::{Ended, Exchange, exchanges, model_version};
use tapewright_models::agent_cassette::{ModelReply, StopReason, ToolCall, Trace, Turn};

fn call(name: &str, knew: Option<&str>) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        server: "s".to_owned(),
        args: json!({"b": 1, "a": 2}),
        caller: None,
        hop_index: 0,
        agent_id: None,
        inputs_digest: knew.map(str::to_owned),
    }
}

fn said(calls: u64, ended: Ended, model: &str) -> ModelReply {
    ModelReply {
        content: vec![json!({"type": "image", "data": "AAAA"})],
        tool_calls: calls,
        ended,
        model: Some(model.to_owned()),
        latency_ms: Some(7),
    }
}

/// Turns from pairs of a role and a text.
fn turns(all: &[(&str, &str)]) -> Vec<Turn> {
    let turn = |(role, content): &(&str, &str)| Turn {
        role: (*role).to_owned(),
        content: (*content).to_owned(),
    };
    all.iter().map(turn).collect()
}

/// The tools, the number of blocks and the end of each exchange.
fn told(exchanges: &[Exchange]) -> Vec<(Vec<&str>, usize, Ended)> {
    let each = exchanges.iter().map(|one| {
        let tools = one.answer.tool_calls.iter();
        let tools = tools.map(|call| call.name.as_str()).collect();
        (tools, one.answer.content.len(), one.answer.finish_reason)
    });
    each.collect()
}

#[test]
fn answers_that_were_kept_are_taken_as_they_are() {
    let trace = Trace {
        tool_calls: vec![call("a", None), call("b", None), call("c", None)],
        answers: vec![
            said(2, Ended::ToolUse, "m-1"),
            // A cap stopped the run before all of them were called.
            said(3, Ended::ToolUse, "m-2"),
        ],
        ..Trace::default()
    };
    let all = exchanges("f.yaml", "t", &trace);
    assert_eq!(
        told(&all),
        [
            (vec!["a", "b"], 1, Ended::ToolUse),
            (vec!["c"], 1, Ended::ToolUse)
        ]
    );
    let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["f.yaml::t::step-1", "f.yaml::t::step-2"]);
    let first = all.first().map(|one| &one.answer);
    assert_eq!(first.and_then(|answer| answer.latency_ms), Some(7));
    let raw = first.and_then(|answer| answer.tool_calls.first()?.raw_arguments.as_deref());
    assert_eq!(raw, Some("{\"b\":1,\"a\":2}"));
    assert_eq!(model_version([&trace, &trace].into_iter()), "m-1, m-2");
    assert_eq!(model_version(std::iter::empty()), "unknown");
}

#[test]
fn answers_that_were_not_kept_are_told_apart_by_what_was_said_and_known() {
    let mut trace = Trace {
        tool_calls: vec![
            call("a", Some("1")),
            call("b", Some("1")),
            call("c", Some("2")),
        ],
        final_response: "done".to_owned(),
        ..Trace::default()
    };
    trace.conversation.turns = turns(&[
        ("user", "do it"),
        ("assistant", "I look"),
        ("tool", "1"),
        ("tool", "2"),
        ("tool", "3"),
        ("assistant", "done"),
    ]);
    assert_eq!(
        told(&exchanges("f", "t", &trace)),
        [
            (vec!["a", "b"], 1, Ended::ToolUse),
            (vec!["c"], 0, Ended::ToolUse),
            (vec![], 1, Ended::Stop),
        ]
    );
    trace.conversation.stop_reason = StopReason::TokenBudget;
    let all = exchanges("f", "t", &trace);
    let last = all.last().map(|one| one.answer.finish_reason);
    assert_eq!(last, Some(Ended::Other));
}

#[test]
fn a_trace_without_turns_has_its_calls_and_its_last_text() {
    let trace = Trace {
        tool_calls: vec![call("a", None), call("b", None)],
        final_response: "done".to_owned(),
        ..Trace::default()
    };
    assert_eq!(
        told(&exchanges("f", "t", &trace)),
        [
            (vec!["a", "b"], 0, Ended::ToolUse),
            (vec![], 1, Ended::Stop)
        ]
    );
    assert!(exchanges("f", "t", &Trace::default()).is_empty());
}
