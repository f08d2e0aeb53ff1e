//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::Wire;
use super::chat;
use super::http::ProviderRequest;
use super::turns::{Ask, Finish, ModelTurn, Open, Turns, halves, list, turn_of, words};

pub(super) struct Responses;

impl Wire for Responses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn key(&self, asked: &ProviderRequest) -> Option<String> {
        asked.bearer()
    }

    fn ask(&self, _: &ProviderRequest, body: &Value) -> Result<Ask, String> {
        Ok(Ask {
            model: body["model"]
                .as_str()
                .ok_or("missing required parameter: 'model'")?
                .to_owned(),
            stream: body["stream"] == true,
            sse: true,
            tools: offered(body),
            turn: turns(body)?,
            usage: true,
        })
    }

    fn whole(&self, told: &ModelTurn) -> Value {
        let items: Vec<_> = (0..count(told)).map(|at| item(told, at)).collect();
        let status = match told.finish {
            Finish::MaxTokens | Finish::Filter => "incomplete",
            _ => "completed",
        };
        response(told, status, &items)
    }

    fn events(&self, told: &ModelTurn) -> Vec<String> {
        let start = response(told, "in_progress", &[]);
        let mut events = vec![
            json!({"type": "response.created", "response": start}),
            json!({"type": "response.in_progress", "response": start}),
        ];
        for at in 0..count(told) {
            stream_item(&mut events, at, &item(told, at));
        }
        let whole = self.whole(told);
        let status = whole["status"].as_str().unwrap_or_default();
        events.push(json!({"type": format!("response.{status}"), "response": whole}));
        events.iter().enumerate().map(event).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        chat::error(status, message)
    }

    fn error_event(&self) -> String {
        let error = json!({"type": "error", "code": "server_error", "message": "overloaded", "param": null});
        event((999, &error))
    }
}

/// The names of functions, those in a namespace with its name before them.
fn offered(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for tool in list(&body["tools"]) {
        let name = tool["name"].as_str().unwrap_or_default();
        match tool["type"].as_str() {
            Some("function") => names.push(name.to_owned()),
            Some("namespace") => {
                for own in list(&tool["tools"]) {
                    let own = own["name"].as_str().unwrap_or_default();
                    names.push(format!("{name}/{own}"));
                }
            }
            _ => {}
        }
    }
    names
}

/// The turns of the assistant, and those before `previous_response_id`.
fn turns(body: &Value) -> Result<usize, String> {
    let (mut turns, mut open) = (Turns::default(), Open::default());
    let before = body["previous_response_id"].as_str();
    if let Some(id) = before {
        turns.said(Some(id));
    }
    turns.heard();
    for item in list(&body["input"]) {
        match item["type"].as_str() {
            Some("function_call") => {
                turns.said(item["call_id"].as_str());
                open.call(&item["call_id"]);
            }
            Some("function_call_output") => {
                turns.heard();
                let known = item["call_id"].as_str().and_then(turn_of);
                if before.is_none() || known.is_none_or(|turn| turn >= turns.count) {
                    open.result(&item["call_id"])?;
                }
            }
            Some("reasoning") => turns.said(item["id"].as_str()),
            _ if item["role"] == "assistant" => turns.said(item["id"].as_str()),
            _ => turns.heard(),
        }
    }
    open.closed()?;
    Ok(turns.count)
}

fn response(told: &ModelTurn, status: &str, output: &[Value]) -> Value {
    let mut usage = Value::Null;
    if status != "in_progress" {
        usage = json!({
            "input_tokens": told.input, "input_tokens_details": {"cached_tokens": told.cached},
            "output_tokens": told.output, "output_tokens_details": {"reasoning_tokens": told.reasoning},
            "total_tokens": told.input + told.output,
        });
    }
    let reason = match told.finish {
        Finish::Filter => "content_filter",
        _ => "max_output_tokens",
    };
    let incomplete = (status == "incomplete").then(|| json!({"reason": reason}));
    json!({
        "id": format!("resp_{}_t{}_0", told.nonce, told.turn), "object": "response", "created_at": 1_700_000_000,
        "status": status, "error": null, "incomplete_details": incomplete, "instructions": null, "metadata": {},
        "model": told.model, "output": output, "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto",
        "tools": [], "top_p": 1.0, "usage": usage,
    })
}

fn count(told: &ModelTurn) -> usize {
    before_calls(told) + told.calls.len()
}

fn before_calls(told: &ModelTurn) -> usize {
    usize::from(told.thinking.is_some()) + usize::from(says(told))
}

fn says(told: &ModelTurn) -> bool {
    told.text.is_some() || told.refusal.is_some()
}

/// One item of the output: thinking, text, then the calls.
fn item(told: &ModelTurn, at: usize) -> Value {
    let id = |kind: &str| format!("{kind}_{}_t{}_{at}", told.nonce, told.turn);
    if let Some(call) = at
        .checked_sub(before_calls(told))
        .map(|call| &told.calls[call])
    {
        let mut item = json!({
            "type": "function_call", "id": id("fc"), "call_id": format!("call_{}", call.id), "name": call.name,
            "arguments": call.arguments.to_string(), "status": "completed",
        });
        if let Some((namespace, name)) = call.name.split_once('/') {
            item["namespace"] = namespace.into();
            item["name"] = name.into();
        }
        return item;
    }
    if let Some(thinking) = told.thinking.as_ref().filter(|_| at == 0) {
        return json!({
            "type": "reasoning", "id": id("rs"), "summary": [{"type": "summary_text", "text": thinking}],
            "encrypted_content": told.signature,
        });
    }
    let part = match &told.refusal {
        Some(refusal) => json!({"type": "refusal", "refusal": refusal}),
        None => {
            json!({"type": "output_text", "text": told.text, "annotations": [], "logprobs": []})
        }
    };
    json!({"type": "message", "id": id("msg"), "status": "completed", "role": "assistant", "content": [part]})
}

fn stream_item(events: &mut Vec<Value>, at: usize, item: &Value) {
    let id = &item["id"];
    let mut start = item.clone();
    match item["type"].as_str() {
        Some("function_call") => {
            start["arguments"] = "".into();
            start["status"] = "in_progress".into();
        }
        Some("message") => {
            start["content"] = json!([]);
            start["status"] = "in_progress".into();
        }
        _ => start["summary"] = json!([]),
    }
    events.push(json!({"type": "response.output_item.added", "output_index": at, "item": start}));
    match item["type"].as_str() {
        Some("function_call") => {
            let text = item["arguments"].as_str().unwrap_or_default();
            let kind = "response.function_call_arguments";
            let value = serde_json::from_str(text).unwrap_or_default();
            for part in halves(&value) {
                events.push(json!({
                    "type": format!("{kind}.delta"), "item_id": id, "output_index": at, "delta": part,
                }));
            }
            events.push(json!({
                "type": format!("{kind}.done"), "item_id": id, "output_index": at, "arguments": text, "name": item["name"],
            }));
        }
        Some("message") => stream_part(events, at, id, &item["content"][0]),
        _ => stream_summary(events, at, id, &item["summary"][0]),
    }
    events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
}

fn stream_part(events: &mut Vec<Value>, at: usize, id: &Value, part: &Value) {
    let member = if part["refusal"].is_string() {
        "refusal"
    } else {
        "text"
    };
    let kind = part["type"].as_str().unwrap_or_default();
    let mut empty = part.clone();
    empty[member] = "".into();
    let place = json!({"item_id": id, "output_index": at, "content_index": 0});
    let with = |kind: &str, name: &str, value: Value| {
        let mut event = place.clone();
        event["type"] = kind.into();
        event[name] = value;
        if kind.starts_with("response.output_text") {
            event["logprobs"] = json!([]);
        }
        event
    };
    events.push(with("response.content_part.added", "part", empty));
    let text = part[member].as_str().unwrap_or_default();
    for word in words(text) {
        events.push(with(
            &format!("response.{kind}.delta"),
            "delta",
            word.into(),
        ));
    }
    events.push(with(&format!("response.{kind}.done"), member, text.into()));
    events.push(with("response.content_part.done", "part", part.clone()));
}

fn stream_summary(events: &mut Vec<Value>, at: usize, id: &Value, part: &Value) {
    let kind = "response.reasoning_summary";
    let place = json!({"item_id": id, "output_index": at, "summary_index": 0});
    let with = |end: &str, name: &str, value: Value| {
        let mut event = place.clone();
        event["type"] = format!("{kind}_{end}").into();
        event[name] = value;
        event
    };
    let empty = json!({"type": "summary_text", "text": ""});
    events.push(with("part.added", "part", empty));
    for word in words(part["text"].as_str().unwrap_or_default()) {
        events.push(with("text.delta", "delta", word.into()));
    }
    events.push(with("text.done", "text", part["text"].clone()));
    events.push(with("part.done", "part", part.clone()));
}

fn event((number, value): (usize, &Value)) -> String {
    let mut value = value.clone();
    value["sequence_number"] = number.into();
    let kind = value["type"].as_str().unwrap_or_default();
    format!("event: {kind}\ndata: {value}\n\n")
}
