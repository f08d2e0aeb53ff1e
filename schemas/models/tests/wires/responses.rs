//! Handwritten samples of OpenAI Responses, for which there are no recorded exchanges.

use serde_json::{Value, json};
use tapewright_models::conversation::{
    Block, Content, ErrorKind, FinishReason, Role, StreamEnd, StreamEvent, ToolChoice, ToolSpec,
};
use tapewright_models::{Call, Ended, Fold, Wire};

const WIRE: Wire = Wire::OpenAiResponses;

/// A second turn in the form of a Codex request.
fn request() -> Value {
    json!({
        "model": "gpt-5",
        "instructions": "be brief",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "sandboxed"}]},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": "data:image/png;base64,aQ==", "detail": "auto"},
            ]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look"}], "encrypted_content": "enc"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "{\"p\":1}"},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "*** Begin"},
            {"type": "function_call_output", "call_id": "call_1", "output": "a"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "done"}]},
        ],
        "tools": [
            {"type": "function", "name": "ls", "description": "lists", "strict": false, "parameters": {"type": "object"}},
            {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
            {"type": "web_search"},
        ],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
        "reasoning": {"effort": "low"},
        "store": false,
        "stream": true,
        "include": ["reasoning.encrypted_content"],
    })
}

#[test]
fn a_request_is_read_whole_and_written_as_it_was() {
    let body = request();
    let call = Call::generate(WIRE);
    let read = WIRE
        .read_request(&call, body.to_string().as_bytes())
        .unwrap();
    assert_eq!(read.system, [Block::text("be brief")]);
    let roles: Vec<Role> = read.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::System, Role::User, Role::Assistant, Role::User]
    );
    let said = &read.messages[2].blocks;
    assert!(matches!(&said[0].content, Content::Thinking(thought)
        if thought.text == "I look" && thought.signature.as_deref() == Some("enc")));
    assert_eq!(
        said[1].as_tool_use().unwrap().arguments(),
        Some(json!({"p": 1}))
    );
    assert_eq!(said[2].as_tool_use().unwrap().input.to_text(), "*** Begin");
    assert_eq!(read.messages[3].blocks.len(), 2);
    assert_eq!(
        read.tools.iter().map(ToolSpec::name).collect::<Vec<_>>(),
        [Some("ls"), None, None]
    );
    assert_eq!(
        (read.tool_choice.clone(), read.stream),
        (Some(ToolChoice::Auto), true)
    );
    let mut expected = body;
    // A single text is written as such.
    expected["input"][6]["output"] = json!("done");
    assert_eq!(WIRE.write_request(&read), expected);
}

fn whole() -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5-2025-08-07",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look"}]},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
                {"type": "output_text", "text": "Looking.", "annotations": [], "logprobs": []},
            ]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "{\"p\": 1}", "status": "completed"},
        ],
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 39},
    })
}

fn events() -> Vec<Value> {
    let whole = whole();
    let item = |at: usize| whole["output"][at].clone();
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0, "part": {}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "I "}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "look"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item(0)}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "role": "assistant", "content": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Look"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "ing."}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": item(1)}),
        json!({"type": "response.output_item.added", "output_index": 2, "item":
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": "", "status": "in_progress"}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"p\":"}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": " 1}"}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": item(2)}),
        json!({"type": "response.completed", "response": whole}),
    ]
}

fn fold(events: &[Value]) -> (Vec<StreamEvent>, Ended) {
    let mut fold = Fold::new(WIRE);
    let mut told = Vec::new();
    for event in events {
        told.extend(fold.event(event.to_string().as_bytes()).unwrap());
    }
    (told, fold.finish())
}

#[test]
fn a_stream_says_what_the_whole_says() {
    let response = WIRE.read_response(whole().to_string().as_bytes()).unwrap();
    assert_eq!(response.finish().unwrap().reason, FinishReason::ToolUse);
    let usage = response.usage.clone().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.reasoning),
        (Some(30), Some(20), Some(4))
    );
    let (told, ended) = fold(&events());
    assert_eq!(
        (ended.end, &ended.response),
        (StreamEnd::Complete, &response)
    );
    let said: String = told
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text { text, .. }
            | StreamEvent::Thinking { text, .. }
            | StreamEvent::Arguments { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said, "I lookLooking.{\"p\": 1}");
    let written: Vec<Value> = WIRE
        .write_stream(&response, 3)
        .iter()
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect();
    assert_eq!(fold(&written).1.response, response);
    let numbers: Vec<u64> = written
        .iter()
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().zip(0..).all(|(number, at)| *number == at));
}

#[test]
fn items_count_where_the_whole_leaves_them_out() {
    let mut events = events();
    events.last_mut().unwrap()["response"]["output"] = json!([]);
    let (_, ended) = fold(&events);
    assert_eq!(ended.end, StreamEnd::Complete);
    assert_eq!(ended.response.text(), "Looking.");
    assert_eq!(ended.response.tool_uses().count(), 1);
    assert_eq!(
        ended.response.finish().unwrap().reason,
        FinishReason::ToolUse
    );
}

#[test]
fn early_and_failed_ends_are_told_apart() {
    let events = events();
    let (_, ended) = fold(&events[..8]);
    assert_eq!(
        (ended.end, ended.response.text().as_str()),
        (StreamEnd::Truncated, "Look")
    );
    let (_, ended) = fold(&events[..12]);
    assert_eq!(ended.response.tool_uses().next().unwrap().arguments(), None);
    let failed = json!({"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "output": [],
        "error": {"code": "rate_limit_exceeded", "message": "slow down"}}});
    let (_, ended) = fold(&[events[0].clone(), failed]);
    assert!(
        matches!(ended.end, StreamEnd::Failed(error) if error.kind == ErrorKind::RateLimit && error.message == "slow down")
    );
    let error = json!({"type": "error", "code": "server_error", "message": "oh", "param": null});
    let (_, ended) = fold(&[events[0].clone(), error]);
    assert!(matches!(ended.end, StreamEnd::Failed(error) if error.kind == ErrorKind::Server));
    let incomplete = json!({"type": "response.incomplete", "response": {"status": "incomplete", "output": [],
        "incomplete_details": {"reason": "max_output_tokens"}}});
    let (_, ended) = fold(&[events[0].clone(), incomplete]);
    assert_eq!(ended.end, StreamEnd::Complete);
    assert_eq!(
        ended.response.finish().unwrap().reason,
        FinishReason::MaxTokens
    );
}
