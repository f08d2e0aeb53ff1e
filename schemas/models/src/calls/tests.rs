use bytes::Bytes;
use tapewright_schemas::event::{
    CloseReason, Direction, Fields, Payload, RequestHead, ResponseHead,
};

use super::*;
use crate::conversation::FinishReason;

const STREAM: [&str; 5] = [
    r#"{"type":"message_start","message":{"id":"m","model":"claude-x","usage":{"input_tokens":3,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
    r#"{"type":"message_stop"}"#,
];

fn fold(events: Vec<(Direction, EventBody)>) -> Vec<ModelCall> {
    let mut calls = Calls::default();
    for (at, (dir, body)) in (1..).zip(events) {
        let mut event = Event::new(Offset(at * 1_000), dir, body);
        event.seq = at;
        calls.observe(&event);
    }
    calls.finish().0
}

fn asked(target: &str, body: &'static str) -> Vec<(Direction, EventBody)> {
    let head = RequestHead {
        method: "POST".into(),
        target: target.to_owned(),
        ..RequestHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Request(head)));
    let body = said(body);
    vec![(Direction::ToServer, head), (Direction::ToServer, body)]
}

fn said(body: &'static str) -> EventBody {
    let payload = Payload::Whole(Bytes::from_static(body.as_bytes()));
    EventBody::Body { payload }
}

fn answer(status: u16, kind: &str) -> (Direction, EventBody) {
    let mut fields = Fields::default();
    fields.push("Content-Type", kind);
    let head = ResponseHead {
        status,
        fields,
        ..ResponseHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Response(head)));
    (Direction::ToClient, head)
}

const REQUEST: &str = r#"{"model":"claude-x","max_tokens":5,"messages":[]}"#;

fn streamed(events: &[&'static str]) -> Vec<(Direction, EventBody)> {
    let mut all = asked("http://h:1/v1/messages?beta=true", REQUEST);
    all.push(answer(200, "text/event-stream; charset=utf-8"));
    all.extend(events.iter().map(|data| (Direction::ToClient, said(data))));
    all.push((
        Direction::ToClient,
        EventBody::Closed(CloseReason::EndOfInput),
    ));
    all
}

#[test]
fn a_streamed_call_is_told_with_tokens_tools_and_times() {
    let calls = fold(streamed(&STREAM));
    let [call] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(call.model.as_deref(), Some("claude-x"));
    assert_eq!(
        (call.seq, call.status, call.is_stream),
        (1, Some(200), true)
    );
    assert_eq!(call.finish.as_ref().unwrap().reason, FinishReason::ToolUse);
    assert_eq!(call.tool_uses, ["read"]);
    assert_eq!(call.usage.as_ref().unwrap().total(), Some(12));
    // The head of the request is event 1, the tool use event 5, the end event 9.
    assert_eq!(
        (call.first_token, call.took),
        (Some(Offset(4_000)), Some(Offset(8_000)))
    );
    assert_eq!(call.end, CallEnd::Answered);
}

#[test]
fn what_broke_off_failed_or_cannot_be_read_is_told_apart() {
    assert_eq!(fold(streamed(&STREAM[..3]))[0].end, CallEnd::CutShort);
    let broken = &fold(streamed(&[STREAM[0], "{\"type\":"]))[0];
    assert!(matches!(&broken.end, CallEnd::Unreadable(why) if why.contains("JSON")));
    assert_eq!(broken.usage.as_ref().unwrap().input, Some(3));
    let mut failed = asked("/v1/messages", REQUEST);
    failed.push(answer(529, "application/json"));
    failed.push((
        Direction::ToClient,
        said(r#"{"error":{"type":"overloaded_error","message":"later"}}"#),
    ));
    let CallEnd::Failed(error) = &fold(failed)[0].end else {
        panic!()
    };
    assert_eq!(
        error.to_string(),
        "Anthropic answered 529 (overloaded_error): later"
    );
    let silent = fold(asked("/v1/messages", REQUEST));
    assert_eq!(
        (silent[0].status, &silent[0].end),
        (None, &CallEnd::CutShort)
    );
}

#[test]
fn what_is_no_call_of_a_model_is_passed_over() {
    assert_eq!(fold(asked("/mcp", "{}")), []);
    assert_eq!(fold(asked("/v1/messages/count_tokens", REQUEST)), []);
    let mut mcp = asked("/v1/messages", "{}");
    let payload = Payload::Whole(Bytes::from_static(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    ));
    let message = EventBody::message(payload, tapewright_schemas::event::LineEnd::None);
    mcp[1] = (Direction::ToServer, message);
    assert_eq!(fold(mcp), []);
}
