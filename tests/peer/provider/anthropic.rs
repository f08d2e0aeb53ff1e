//! Anthropic Messages, `anthropic-version: 2023-06-01`.

use serde_json::{Value, json};

use super::Wire;
use super::http::ProviderRequest;
use super::turns::{Ask, Finish, ModelTurn, Open, Turns, halves, list, words};

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn key(&self, asked: &ProviderRequest) -> Option<String> {
        let own = asked.field("x-api-key").map(str::to_owned);
        own.or_else(|| asked.bearer())
    }

    fn ask(&self, asked: &ProviderRequest, body: &Value) -> Result<Ask, String> {
        if asked.field("anthropic-version").is_none() {
            return Err("anthropic-version: header is required".to_owned());
        }
        if !body["max_tokens"].is_u64() {
            return Err("max_tokens: Field required".to_owned());
        }
        let stream = body["stream"] == true;
        let named = |tool: &Value| tool["name"].as_str().map(str::to_owned);
        Ok(Ask {
            model: body["model"]
                .as_str()
                .ok_or("model: Field required")?
                .to_owned(),
            stream,
            sse: true,
            tools: list(&body["tools"]).filter_map(named).collect(),
            turn: turns(&body["messages"])?,
            usage: true,
        })
    }

    fn whole(&self, told: &ModelTurn) -> Value {
        let mut message = envelope(told);
        message["content"] = blocks(told).into();
        message["stop_reason"] = stop_reason(told.finish).into();
        message["usage"] = usage(told, told.output);
        message
    }

    fn events(&self, told: &ModelTurn) -> Vec<String> {
        let mut message = envelope(told);
        message["usage"] = usage(told, 1);
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (index, block) in blocks(told).iter().enumerate() {
            stream_block(&mut events, index, block);
        }
        events.push(json!({"type": "ping"}));
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(told.finish), "stop_sequence": null},
            "usage": {"output_tokens": told.output},
        }));
        events.push(json!({"type": "message_stop"}));
        events.iter().map(event).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_script"})
    }

    fn error_event(&self) -> String {
        event(&self.error(529, "Overloaded"))
    }
}

/// The turns of the assistant; each call has its result in the next message.
fn turns(messages: &Value) -> Result<usize, String> {
    let (mut turns, mut open) = (Turns::default(), Open::default());
    for message in list(messages) {
        if message["role"] == "assistant" {
            open.closed()?;
            turns.said(None);
            for block in list(&message["content"]).filter(|block| block["type"] == "tool_use") {
                turns.said(block["id"].as_str());
                open.call(&block["id"]);
            }
        } else {
            turns.heard();
            for block in list(&message["content"]).filter(|block| block["type"] == "tool_result") {
                open.result(&block["tool_use_id"])?;
            }
            open.closed()?;
        }
    }
    open.closed()?;
    Ok(turns.count)
}

fn envelope(told: &ModelTurn) -> Value {
    json!({
        "id": format!("msg_{}", told.nonce), "type": "message", "role": "assistant", "model": told.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
    })
}

fn blocks(told: &ModelTurn) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &told.thinking {
        blocks.push(json!({"type": "thinking", "thinking": thinking, "signature": told.signature}));
    }
    if let Some(text) = told.text.as_ref().or(told.refusal.as_ref()) {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in &told.calls {
        let id = format!("toolu_{}", call.id);
        blocks.push(json!({
            "type": "tool_use", "id": id, "name": call.name, "input": call.arguments,
        }));
    }
    blocks
}

fn usage(told: &ModelTurn, output: u64) -> Value {
    json!({
        "input_tokens": told.input.saturating_sub(told.cached), "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": told.cached, "output_tokens": output, "service_tier": "standard",
    })
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::MaxTokens => "max_tokens",
        Finish::Refusal | Finish::Filter => "refusal",
    }
}

fn stream_block(events: &mut Vec<Value>, index: usize, block: &Value) {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    let (start, deltas): (Value, Vec<Value>) = match text("type") {
        "thinking" => {
            let think = |part| json!({"type": "thinking_delta", "thinking": part});
            let signed = json!({"type": "signature_delta", "signature": block["signature"]});
            (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                words(text("thinking")).map(think).chain([signed]).collect(),
            )
        }
        "tool_use" => {
            let half = |part| json!({"type": "input_json_delta", "partial_json": part});
            let mut start = block.clone();
            start["input"] = json!({});
            (start, halves(&block["input"]).map(half).into())
        }
        _ => {
            let say = |part| json!({"type": "text_delta", "text": part});
            (
                json!({"type": "text", "text": ""}),
                words(text("text")).map(say).collect(),
            )
        }
    };
    events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
}

fn event(value: &Value) -> String {
    let kind = value["type"].as_str().unwrap_or_default();
    format!("event: {kind}\ndata: {value}\n\n")
}
