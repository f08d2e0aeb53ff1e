//! `OpenAI` Chat Completions, which Mistral and many others support as well.

use serde_json::{Value, json};

use super::Wire;
use super::http::ProviderRequest;
use super::turns::{Ask, Finish, ModelTurn, Open, Turns, halves, list, words};

pub(super) struct Chat;

impl Wire for Chat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn key(&self, asked: &ProviderRequest) -> Option<String> {
        asked.bearer()
    }

    fn ask(&self, _: &ProviderRequest, body: &Value) -> Result<Ask, String> {
        let named = |tool: &Value| tool["function"]["name"].as_str().map(str::to_owned);
        Ok(Ask {
            model: body["model"]
                .as_str()
                .ok_or("you must provide a model parameter")?
                .to_owned(),
            stream: body["stream"] == true,
            sse: true,
            tools: list(&body["tools"]).filter_map(named).collect(),
            turn: turns(&body["messages"])?,
            usage: body["stream_options"]["include_usage"] == true,
        })
    }

    fn whole(&self, told: &ModelTurn) -> Value {
        let mut message = json!({
            "role": "assistant", "content": told.text, "refusal": told.refusal, "annotations": [],
        });
        if !told.calls.is_empty() {
            let calls: Vec<_> = (0..told.calls.len()).map(|at| call(told, at)).collect();
            message["tool_calls"] = calls.into();
        }
        let mut answer = envelope(told, "chat.completion");
        answer["choices"] = json!([{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(told.finish),
        }]);
        answer["usage"] = usage(told);
        answer
    }

    fn events(&self, told: &ModelTurn) -> Vec<String> {
        let mut deltas = vec![json!({"role": "assistant", "content": "", "refusal": null})];
        let text = told.text.as_deref().unwrap_or_default();
        deltas.extend(words(text).map(|part| json!({"content": part})));
        let refusal = told.refusal.as_deref().unwrap_or_default();
        deltas.extend(words(refusal).map(|part| json!({"refusal": part})));
        for (at, own) in told.calls.iter().enumerate() {
            let mut start = call(told, at);
            start["index"] = at.into();
            if is_mistral(told) {
                deltas.push(json!({"tool_calls": [start]}));
                continue;
            }
            start["function"]["arguments"] = "".into();
            deltas.push(json!({"tool_calls": [start]}));
            deltas.extend(halves(&own.arguments).map(
                |part| json!({"tool_calls": [{"index": at, "function": {"arguments": part}}]}),
            ));
        }
        let mut events: Vec<_> = deltas
            .iter()
            .map(|delta| chunk(told, delta, &Value::Null))
            .collect();
        events.push(chunk(told, &json!({}), &finish_reason(told.finish).into()));
        if told.usage || is_mistral(told) {
            let mut last = envelope(told, "chat.completion.chunk");
            last["choices"] = json!([]);
            last["usage"] = usage(told);
            events.push(format!("data: {last}\n\n"));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn error(&self, status: u16, message: &str) -> Value {
        error(status, message)
    }

    fn error_event(&self) -> String {
        format!("data: {}\n\n", error(503, "overloaded"))
    }
}

/// An error in the form of both `OpenAI` wires.
pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// The turns of the assistant; the results of its calls follow it at once.
fn turns(messages: &Value) -> Result<usize, String> {
    let (mut turns, mut open) = (Turns::default(), Open::default());
    for message in list(messages) {
        match message["role"].as_str() {
            Some("assistant") => {
                open.closed()?;
                turns.said(None);
                for call in list(&message["tool_calls"]) {
                    turns.said(call["id"].as_str());
                    open.call(&call["id"]);
                }
            }
            Some("tool") => {
                turns.heard();
                open.result(&message["tool_call_id"])?;
            }
            _ => {
                turns.heard();
                open.closed()?;
            }
        }
    }
    open.closed()?;
    Ok(turns.count)
}

fn envelope(told: &ModelTurn, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{}", told.nonce), "object": object, "created": 1_700_000_000, "model": told.model,
        "service_tier": "default", "system_fingerprint": "fp_script",
    })
}

/// Mistral streams a call in one piece, and its usage unasked.
fn is_mistral(told: &ModelTurn) -> bool {
    told.model.contains("mistral")
}

fn call(told: &ModelTurn, at: usize) -> Value {
    let call = &told.calls[at];
    json!({
        "id": format!("call_{}", call.id), "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.to_string()},
    })
}

fn chunk(told: &ModelTurn, delta: &Value, finish: &Value) -> String {
    let mut chunk = envelope(told, "chat.completion.chunk");
    chunk["choices"] =
        json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    if told.usage {
        chunk["usage"] = Value::Null;
    }
    format!("data: {chunk}\n\n")
}

fn usage(told: &ModelTurn) -> Value {
    json!({
        "prompt_tokens": told.input, "completion_tokens": told.output, "total_tokens": told.input + told.output,
        "prompt_tokens_details": {"cached_tokens": told.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": told.reasoning, "audio_tokens": 0},
    })
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Refusal => "stop",
        Finish::Calls => "tool_calls",
        Finish::MaxTokens => "length",
        Finish::Filter => "content_filter",
    }
}
