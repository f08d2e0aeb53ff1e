//! Agent cassettes out of recordings.

use serde_json::{Value, json};
use tapewright_models::agent_cassette::{AgentCassette, StopReason};
use tapewright_models::recorded::{Answer, Piece, ProviderExchange};
use tapewright_schemas::event::{Fields, Offset};

fn exchange(seq: u64, target: &str, body: &Value, answer: &Value) -> ProviderExchange {
    let piece = Piece {
        waited: Offset(200_000),
        bytes: answer.to_string().into(),
    };
    ProviderExchange {
        seq,
        at: Offset(seq * 1_000_000),
        method: "POST".to_owned(),
        target: target.to_owned(),
        fields: Fields::default(),
        body: body.to_string().into(),
        answer: Some(Answer {
            status: 200,
            fields: Fields::default(),
            is_events: false,
            waited: Offset(300_000),
            pieces: vec![piece],
            is_whole: true,
        }),
    }
}

fn says(content: &Value) -> Value {
    json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x-1", "content": content,
        "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 2}})
}

/// A run of Claude Code: a separate request for a title, reminders around the prompt.
fn run() -> Vec<ProviderExchange> {
    let target = "/v1/messages";
    let title = json!({"model": "claude-small", "max_tokens": 5, "messages": [{"role": "user", "content": "title?"}]});
    let tool =
        json!({"name": "mcp__fs__read", "description": "d", "input_schema": {"type": "object"}});
    let prompt = json!({"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>\ncwd: /x\n</system-reminder>"},
        {"type": "text", "text": "What is in a.txt?"},
    ]});
    let wish = json!([
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "mcp__fs__read", "input": {"path": "a.txt"}},
    ]);
    let ask = |messages: Value| {
        json!({"model": "claude-x", "max_tokens": 99, "temperature": 0.5, "system": "Be brief.",
            "messages": messages, "tools": [tool]})
    };
    let first = ask(json!([prompt]));
    let second = ask(json!([
        prompt,
        {"role": "assistant", "content": wish},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "hello"}]}]},
    ]));
    vec![
        exchange(
            1,
            target,
            &title,
            &says(&json!([{"type": "text", "text": "A title"}])),
        ),
        exchange(2, target, &first, &says(&wish)),
        exchange(
            4,
            target,
            &second,
            &says(&json!([{"type": "text", "text": "It says hello."}])),
        ),
    ]
}

#[test]
fn the_longest_call_tells_the_run() {
    let cassette = AgentCassette::of_recording(&run(), "claude", "2026-11-25T02:00:00Z").unwrap();
    assert_eq!(cassette.model, "claude-x");
    assert_eq!(cassette.user_prompt, "What is in a.txt?");
    assert_eq!(cassette.system_prompt.as_deref(), Some("Be brief."));
    assert_eq!(
        (cassette.max_tokens, cassette.temperature),
        (Some(99), Some(0.5))
    );
    let trace = &cassette.trace;
    assert_eq!(trace.final_response, "It says hello.");
    let call = &trace.tool_calls[0];
    assert_eq!((call.server.as_str(), call.name.as_str()), ("fs", "read"));
    assert_eq!(call.args, json!({"path": "a.txt"}));
    let result = &trace.tool_results[0];
    assert_eq!((result.call_index, result.is_error), (0, false));
    assert_eq!(
        result.result,
        json!({"content": [{"type": "text", "text": "hello"}]})
    );
    let talk = &trace.conversation;
    // Without the title, which is not a part of the run.
    assert_eq!(
        (
            talk.tokens.prompt,
            talk.tokens.completion,
            talk.tokens.total
        ),
        (20, 4, 24)
    );
    assert_eq!(talk.duration_ms, 2_500);
    assert_eq!(talk.stop_reason, StopReason::Completed);
    let turns: Vec<(&str, &str)> = talk
        .turns
        .iter()
        .map(|turn| (turn.role.as_str(), turn.content.as_str()))
        .collect();
    assert_eq!(
        turns,
        [
            ("user", "What is in a.txt?"),
            ("assistant", "I look."),
            ("tool", "hello"),
            ("assistant", "It says hello."),
        ]
    );
    assert!(talk.per_turn.is_empty());
    assert_eq!(
        AgentCassette::read(cassette.write().as_bytes()).unwrap(),
        cassette
    );
}

#[test]
fn what_builds_upon_an_earlier_answer_by_its_id_is_put_together() {
    let target = "/v1/responses";
    let call = json!({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"});
    let message = |text: &str| json!({"type": "message", "id": "x", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let answer = |id: &str, output: Value| json!({"id": id, "object": "response", "model": "gpt-x", "status": "completed", "output": output});
    let first = json!({"model": "gpt-x", "input": "list"});
    let second = json!({"model": "gpt-x", "previous_response_id": "r1", "input": [{"type": "function_call_output", "call_id": "c1", "output": "a.txt"}]});
    let third = json!({"model": "gpt-x", "previous_response_id": "r2", "input": [{"role": "user", "content": "more?"}]});
    let all = [
        exchange(1, target, &first, &answer("r1", json!([call]))),
        exchange(2, target, &second, &answer("r2", json!([message("one")]))),
        exchange(3, target, &third, &answer("r3", json!([message("two")]))),
    ];
    let cassette = AgentCassette::of_recording(&all, "a", "").unwrap();
    assert_eq!(cassette.user_prompt, "list");
    assert_eq!(cassette.trace.tool_calls[0].name, "ls");
    assert_eq!(cassette.trace.tool_results[0].call_index, 0);
    assert_eq!(cassette.trace.final_response, "two");
    let turns = &cassette.trace.conversation.per_turn;
    assert_eq!(
        (turns[0].final_response.as_str(), turns[0].tool_calls.len()),
        ("one", 1)
    );
    assert_eq!(turns.last().unwrap().final_response, "two");
}

#[test]
fn where_no_model_answered_there_is_no_run() {
    assert_eq!(AgentCassette::of_recording(&[], "a", ""), None);
    let mut failed = run();
    for one in &mut failed {
        one.answer.as_mut().unwrap().status = 500;
    }
    assert_eq!(AgentCassette::of_recording(&failed, "a", ""), None);
}
