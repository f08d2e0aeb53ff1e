//! The scripted provider of the tests has the format that the product reads, on each wire: both
//! were written independently.

use bytes::Bytes;
use serde_json::{Value, json};
use tapewright_models::conversation::{FinishReason, Response, StreamEnd};
use tapewright_models::embeddings::{EmbedRequest, EmbedWire, Embedding};
use tapewright_models::{StreamReader, Wire, recognise};

use crate::support::provider::{Provider, ask};

/// A request of each wire: the path, the head, the body with one offered tool.
fn request(wire: Wire, stream: bool) -> (String, String, Value) {
    let schema = json!({"type": "object"});
    let asked = "what is 2 + 3?";
    match wire {
        Wire::Anthropic => (
            "/v1/messages".to_owned(),
            "x-api-key: sk-told\r\nanthropic-version: 2023-06-01\r\n".to_owned(),
            json!({
                "model": "m", "max_tokens": 99, "stream": stream, "messages": [{"role": "user", "content": asked}],
                "tools": [{"name": "mcp__sums__add", "input_schema": schema}],
            }),
        ),
        Wire::OpenAiChat => (
            "/v1/chat/completions".to_owned(),
            "authorization: Bearer sk-told\r\n".to_owned(),
            json!({
                "model": "m", "stream": stream, "stream_options": {"include_usage": true},
                "messages": [{"role": "user", "content": asked}],
                "tools": [{"type": "function", "function": {"name": "mcp__sums__add", "parameters": schema}}],
            }),
        ),
        Wire::OpenAiResponses => (
            "/v1/responses".to_owned(),
            "authorization: Bearer sk-told\r\n".to_owned(),
            json!({
                "model": "m", "stream": stream, "input": asked,
                "tools": [{"type": "function", "name": "mcp__sums__add", "parameters": schema}],
            }),
        ),
        Wire::Gemini => (
            if stream {
                "/v1beta/models/m:streamGenerateContent?alt=sse".to_owned()
            } else {
                "/v1beta/models/m:generateContent".to_owned()
            },
            "x-goog-api-key: sk-told\r\n".to_owned(),
            json!({
                "contents": [{"role": "user", "parts": [{"text": asked}]}],
                "tools": [{"functionDeclarations": [{"name": "mcp__sums__add", "parameters": schema}]}],
            }),
        ),
    }
}

/// The product's parsed answer to a first request.
fn answer(provider: &Provider, wire: Wire, stream: bool) -> Response {
    let (path, head, body) = request(wire, stream);
    let (status, _, bytes) = ask(provider.url(), &path, &head, &body);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    if !stream {
        return wire.read_response(&bytes).expect("a readable answer");
    }
    let call = recognise("POST", &path, |_| None, None).expect("a call of a model");
    let mut reader = StreamReader::new(wire, call.framing);
    reader.feed(&Bytes::from(bytes)).expect("a readable stream");
    let ended = reader.finish();
    assert_eq!(ended.end, StreamEnd::Complete, "{wire:?}");
    ended.response
}

#[test]
fn what_the_script_says_is_read_alike_on_each_wire_streamed_or_not() {
    let provider = Provider::start(&json!({"key": "sk-told", "turns": [{
        "thinking": "a sum it is", "text": "I shall add them.",
        "tools": [{"name": "add", "arguments": {"a": 2, "b": "dr\u{00e9}i"}}, {"name": "add", "arguments": {}}],
        "usage": {"input": 321, "output": 45, "cached": 300},
    }]}));
    for wire in Wire::ALL {
        for stream in [false, true] {
            let response = answer(&provider, wire, stream);
            let told = format!("{wire:?} {stream}: {response:?}");
            let uses: Vec<_> = response.tool_uses().collect();
            assert_eq!(uses.len(), 2, "{told}");
            assert_eq!(uses[0].name, "mcp__sums__add", "{told}");
            let arguments = json!({"a": 2, "b": "dr\u{00e9}i"});
            assert_eq!(uses[0].arguments(), Some(arguments), "{told}");
            assert_eq!(uses[1].arguments(), Some(json!({})), "{told}");
            assert_eq!(response.text(), "I shall add them.", "{told}");
            let finish = response.finish().map(|finish| finish.reason);
            assert_eq!(finish, Some(FinishReason::ToolUse), "{told}");
            let usage = response.usage.as_ref().expect("usage");
            assert_eq!((usage.input, usage.output), (Some(321), Some(45)), "{told}");
            assert_eq!(usage.cache_read, Some(300), "{told}");
        }
    }
    let requests = provider.requests();
    assert_eq!(requests.len(), 8);
    assert!(requests.iter().all(|request| request["key"] == "sk-told"));
}

#[test]
fn a_request_without_the_key_or_with_an_open_call_is_refused_on_each_wire() {
    let provider = Provider::start(&json!({"key": "sk-told", "turns": [{"text": "yes"}]}));
    for wire in Wire::ALL {
        let (path, head, mut body) = request(wire, false);
        let wrong = head.replace("sk-told", "sk-wrong");
        assert_eq!(ask(provider.url(), &path, &wrong, &body).0, 401, "{wire:?}");
        let (list, open) = match wire {
            Wire::Anthropic => (
                "messages",
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]}),
            ),
            Wire::OpenAiChat => (
                "messages",
                json!({"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}),
            ),
            Wire::OpenAiResponses => ("input", json!({"type": "function_call", "call_id": "1"})),
            Wire::Gemini => (
                "contents",
                json!({"role": "model", "parts": [{"functionCall": {"name": "x"}}]}),
            ),
        };
        body[list] =
            json!([open, {"role": "user", "content": "and?", "parts": [{"text": "and?"}]}]);
        let (status, _, bytes) = ask(provider.url(), &path, &head, &body);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(status, 400, "{wire:?}: {text}");
        assert!(text.contains("call"), "{wire:?}: {text}");
    }
}

#[test]
fn a_turn_may_fail_first_and_answer_then() {
    let provider = Provider::start(&json!([
        [{"status": 429, "retry_after": 1, "message": "slow down"}, {"status": 529}, {"text": "now"}],
    ]));
    for wire in Wire::ALL {
        // The times are counted for all wires together.
        let (path, head, body) = request(wire, false);
        let (status, fields, bytes) = ask(provider.url(), &path, &head, &body);
        if wire == Wire::Anthropic {
            assert_eq!(status, 429);
            assert!(fields.contains("retry-after: 1"), "{fields}");
            assert!(String::from_utf8_lossy(&bytes).contains("slow down"));
        } else if wire == Wire::OpenAiChat {
            assert_eq!(status, 529);
        } else {
            assert_eq!(status, 200, "{wire:?}");
        }
    }
}

/// The product's parsed vector of a text, or the status in place of it.
fn embedded(provider: &Provider, wire: EmbedWire, key: &str, text: &str) -> Result<Embedding, u16> {
    let (base, model) = match wire {
        EmbedWire::OpenAi => ("/v1", "text-embedding-3-small"),
        EmbedWire::Gemini => ("", "gemini-embedding-001"),
    };
    let request = EmbedRequest {
        model: model.to_owned(),
        text: text.to_owned(),
    };
    let path = format!("{base}{}", wire.path(&request));
    let head = wire.wire().headers(key);
    let field = |(name, value): &(&str, String)| format!("{name}: {value}\r\n");
    let head: String = head.iter().skip(1).map(field).collect();
    let body = wire.write_request(&request);
    let (status, _, bytes) = ask(provider.url(), &path, &head, &body);
    if status != 200 {
        return Err(status);
    }
    Ok(wire.read_response(&bytes).expect("a vector"))
}

#[test]
fn texts_are_embedded_alike_on_both_wires() {
    let provider = Provider::start(&json!({"key": "sk-told", "turns": [], "embeddings": [
        {"when": "shipped", "vector": [0.6, 0.8]},
        [{"when": "busy", "status": 429, "retry_after": 1}, {"vector": [1, 0]}],
    ]}));
    for (at, wire) in [EmbedWire::OpenAi, EmbedWire::Gemini]
        .into_iter()
        .enumerate()
    {
        let said = |key, text| embedded(&provider, wire, key, text);
        let vector = |text| said("sk-told", text).map(|read| read.vector);
        assert_eq!(vector("it shipped"), Ok(vec![0.6, 0.8]), "{wire:?}");
        assert_eq!(vector("abc"), Ok(vec![3.0, 97.0]), "{wire:?}");
        assert_eq!(said("sk-wrong", "abc").map(|_| ()), Err(401), "{wire:?}");
        assert_eq!(EmbedWire::of(wire.wire()), Some(wire));
        // The times are counted for both wires together.
        if at == 0 {
            assert_eq!(vector("busy"), Err(429));
        }
        assert_eq!(vector("busy"), Ok(vec![1.0, 0.0]));
    }
    let wires: std::collections::BTreeSet<String> = provider
        .requests()
        .iter()
        .map(|one| one["wire"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        wires.into_iter().collect::<Vec<_>>(),
        ["gemini-embeddings", "openai-embeddings"]
    );
}
