//! Handwritten samples of three wires, for what the recorded exchanges do not have.

use bytes::Bytes;
use serde_json::{Value, json};
use tapewright_models::conversation::{
    Block, Content, ErrorKind, FinishReason, Input, Media, MediaKind, Message, Request, Role,
    Source, StreamEnd, StreamEvent, ToolResult,
};
use tapewright_models::{Ended, Fold, Framing, StreamReader, Wire};

fn fold(wire: Wire, events: &[Value]) -> (Vec<StreamEvent>, Ended) {
    let mut fold = Fold::new(wire);
    let mut told = Vec::new();
    for event in events {
        told.extend(fold.event(event.to_string().as_bytes()).unwrap());
    }
    (told, fold.finish())
}

fn message_start() -> Value {
    json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "c",
        "content": [], "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}}})
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_told_with_what_was_said_before() {
    let said = [
        message_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ];
    let (events, ended) = fold(Wire::Anthropic, &said);
    let StreamEnd::Failed(error) = ended.end else {
        panic!("{:?}", ended.end)
    };
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Overloaded, "Overloaded")
    );
    assert_eq!(ended.response.text(), "Hel");
    assert!(matches!(events.last(), Some(StreamEvent::Failed(_))));

    let chat = [
        json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}),
        json!({"error": {"message": "upstream gone", "code": 502}}),
    ];
    let (_, ended) = fold(Wire::OpenAiChat, &chat);
    let StreamEnd::Failed(error) = ended.end else {
        panic!("{:?}", ended.end)
    };
    assert_eq!((error.kind, error.status), (ErrorKind::Server, Some(502)));

    let gemini = [
        json!({"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]}),
        json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}),
    ];
    let (_, ended) = fold(Wire::Gemini, &gemini);
    assert!(matches!(ended.end, StreamEnd::Failed(error) if error.kind == ErrorKind::Overloaded));
    assert_eq!(ended.response.text(), "Hel");
}

#[test]
fn arguments_that_were_cut_off_are_kept_as_text() {
    let (events, ended) = fold(
        Wire::Anthropic,
        &[
            message_start(),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":"}}),
        ],
    );
    assert_eq!(ended.end, StreamEnd::Truncated);
    let tool = ended.response.tool_uses().next().unwrap();
    assert_eq!(tool.input, Input::Text("{\"a\":".to_owned()));
    assert_eq!(tool.arguments(), None);
    let first = events.iter().find(|event| event.is_said()).unwrap();
    assert!(matches!(first, StreamEvent::ToolUse { name, .. } if name == "f"));
}

#[test]
fn what_a_provider_runs_is_kept_whole_and_hidden_thoughts_are_carried_back() {
    let (_, ended) = fold(
        Wire::Anthropic,
        &[
            message_start(),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "xyz"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"query\": \"a\"}"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 9}}),
            json!({"type": "message_stop"}),
        ],
    );
    assert_eq!(ended.end, StreamEnd::Complete);
    assert_eq!(
        ended.response.finish().unwrap().reason,
        FinishReason::Paused
    );
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "a"}});
    assert_eq!(
        ended.response.blocks()[1].content,
        Content::Other(server.clone())
    );
    let mut request = Request::new(Wire::Anthropic, "c");
    request.messages.push(Message::new(
        Role::Assistant,
        ended.response.blocks().to_vec(),
    ));
    let body = Wire::Anthropic.write_request(&request);
    assert_eq!(
        body["messages"][0]["content"],
        json!([{"type": "redacted_thinking", "data": "xyz"}, server])
    );
}

#[test]
fn parallel_calls_are_told_apart_with_indices_and_without() {
    let delta = |calls: Value| json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let call = |index: Value, id: &str, name: &str, text: &str| json!([{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": text}}]);
    let more =
        |index: Value, text: &str| json!([{"index": index, "function": {"arguments": text}}]);
    let end =
        json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let interleaved = [
        delta(call(json!(0), "a", "f", "")),
        delta(call(json!(1), "b", "g", "{\"x\"")),
        delta(more(json!(0), "{}")),
        delta(more(json!(1), ":1}")),
        end.clone(),
    ];
    let same_index = [
        delta(call(json!(0), "a", "f", "{}")),
        delta(call(json!(0), "b", "g", "{\"x\":1}")),
        end.clone(),
    ];
    let no_index = [
        delta(call(Value::Null, "a", "f", "{}")),
        delta(call(Value::Null, "b", "g", "{\"x\"")),
        delta(more(Value::Null, ":1}")),
        end,
    ];
    for events in [interleaved.as_slice(), &same_index, &no_index] {
        let (_, ended) = fold(Wire::OpenAiChat, events);
        assert_eq!(ended.end, StreamEnd::Complete);
        let told: Vec<_> = ended
            .response
            .tool_uses()
            .map(|tool| (tool.id.as_deref().unwrap(), tool.arguments().unwrap()))
            .collect();
        assert_eq!(told, [("a", json!({})), ("b", json!({"x": 1}))]);
    }
}

#[test]
fn gemini_streams_as_a_list_as_well() {
    let body = "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a [\\\"}\"}]}}]}\r\n,\r\n{\"candidates\":[{\"content\":\
        {\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}]";
    for chunk in 1..body.len() {
        let mut reader = StreamReader::new(Wire::Gemini, Framing::JsonArray);
        for chunk in body.as_bytes().chunks(chunk) {
            reader.feed(&Bytes::copy_from_slice(chunk)).unwrap();
        }
        let ended = reader.finish();
        assert_eq!(
            (ended.response.text().as_str(), ended.end),
            ("a [\"}b", StreamEnd::Complete)
        );
    }
    let mut reader = StreamReader::new(Wire::Gemini, Framing::JsonArray);
    assert!(reader.feed(&Bytes::from_static(b"<html>")).is_err());
}

#[test]
fn a_prompt_that_was_refused_has_a_reason() {
    let body = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}});
    let response = Wire::Gemini
        .read_response(body.to_string().as_bytes())
        .unwrap();
    let finish = response.finish().unwrap();
    assert_eq!(
        (finish.reason, finish.word.as_str()),
        (FinishReason::Filtered, "PROHIBITED_CONTENT")
    );
    let written = Wire::Gemini.write_response(&response);
    assert_eq!(written.get("candidates"), None);
    assert_eq!(
        Wire::Gemini.read_response(written.to_string().as_bytes()),
        Ok(response.clone())
    );
    let (_, ended) = fold(Wire::Gemini, &[body]);
    assert_eq!(ended.response, response);
}

fn failed_with_image() -> Request {
    let image = Block::new(Content::Media(Media {
        kind: MediaKind::Image,
        mime: Some("image/png".to_owned()),
        source: Source::Base64("aQ==".to_owned()),
    }));
    let mut request = Request::new(Wire::OpenAiChat, "gpt-4o");
    request.messages.push(Message::new(
        Role::User,
        vec![Block::new(Content::ToolResult(ToolResult {
            id: Some("a".to_owned()),
            name: Some("f".to_owned()),
            is_error: true,
            content: vec![Block::text("no such file"), image],
        }))],
    ));
    request
}

#[test]
fn what_a_wire_has_no_place_for_is_said_in_words() {
    let request = failed_with_image();
    let chat = Wire::OpenAiChat.write_request(&request);
    let url = json!({"url": "data:image/png;base64,aQ=="});
    assert_eq!(
        chat["messages"],
        json!([
            {"role": "tool", "tool_call_id": "a", "content": "Error: no such file"},
            {"role": "user", "content": [
                {"type": "text", "text": "Returned by the tool call a:"},
                {"type": "image_url", "image_url": url},
            ]},
        ])
    );
    let responses = Wire::OpenAiResponses.write_request(&request);
    assert_eq!(
        responses["input"],
        json!([{"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "Error: no such file"},
            {"type": "input_image", "image_url": "data:image/png;base64,aQ=="},
        ]}])
    );
    let anthropic = Wire::Anthropic.write_request(&request);
    assert_eq!(
        anthropic["messages"][0]["content"],
        json!([{"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [
            {"type": "text", "text": "no such file"},
            {"type": "image", "source": {"type": "base64", "data": "aQ==", "media_type": "image/png"}},
        ]}])
    );
    let gemini = Wire::Gemini.write_request(&request);
    assert_eq!(
        gemini["contents"][0]["parts"],
        json!([{"functionResponse": {"id": "a", "name": "f",
        "response": {"error": "no such file"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aQ=="}}]}}])
    );
}

#[test]
fn bodies_are_bounded_and_mistakes_have_a_place() {
    let read =
        |wire: Wire, body: &str| wire.read_response(body.as_bytes()).unwrap_err().to_string();
    let deep = format!("{{\"content\":{}{}}}", "[".repeat(500), "]".repeat(500));
    assert!(read(Wire::Anthropic, &deep).starts_with("not JSON (recursion limit exceeded"));
    assert_eq!(read(Wire::Anthropic, "[]"), "expected an object at `/`");
    let body = r#"{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":7}]}"#;
    assert_eq!(
        read(Wire::Anthropic, body),
        "expected a string at `/content/1/name`"
    );
    let body = r#"{"choices":[{"message":{"content":[{"type":"text"}]}}]}"#;
    assert_eq!(
        read(Wire::OpenAiChat, body),
        "missing member at `/choices/0/message/content/0/text`"
    );
    let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}"#;
    assert_eq!(
        read(Wire::Gemini, body),
        "missing member at `/candidates/0/content/parts/0/functionCall/name`"
    );
    let body = r#"{"output":[{"type":"message","role":"x"}]}"#;
    assert_eq!(
        read(Wire::OpenAiResponses, body),
        "expected a known role at `/output/0/role`"
    );
    let mut fold = Fold::new(Wire::OpenAiChat);
    let far = br#"{"choices":[{"index":4000000000,"delta":{"content":"a"}}]}"#;
    let error = fold.event(far).unwrap_err();
    assert_eq!(
        error.to_string(),
        "too long: at most 128 answers are read at `/choices/0`"
    );
}
