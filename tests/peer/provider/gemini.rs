//! Gemini `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::Wire;
use super::http::ProviderRequest;
use super::turns::{Ask, Finish, ModelTurn, Turns, list, words};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn key(&self, asked: &ProviderRequest) -> Option<String> {
        let own = asked.field("x-goog-api-key").map(str::to_owned);
        let query = asked
            .query
            .split('&')
            .find_map(|pair| pair.strip_prefix("key="));
        own.or_else(|| query.map(str::to_owned))
    }

    fn ask(&self, asked: &ProviderRequest, body: &Value) -> Result<Ask, String> {
        let (before, method) = asked.path.rsplit_once(':').ok_or("no method")?;
        let model = before.rsplit('/').next().unwrap_or_default();
        let sets = list(&body["tools"]);
        let tools = sets.flat_map(|set| {
            list(&set["functionDeclarations"]).chain(list(&set["function_declarations"]))
        });
        let named = |tool: &Value| tool["name"].as_str().map(str::to_owned);
        Ok(Ask {
            model: model.to_owned(),
            stream: method == "streamGenerateContent",
            sse: asked.query.split('&').any(|pair| pair == "alt=sse"),
            tools: tools.filter_map(named).collect(),
            turn: turns(&body["contents"])?,
            usage: asked.query.split('&').any(|pair| pair == "alt=sse"),
        })
    }

    fn whole(&self, told: &ModelTurn) -> Value {
        chunk(told, &parts(told), true)
    }

    fn events(&self, told: &ModelTurn) -> Vec<String> {
        let mut chunks = Vec::new();
        for part in parts(told) {
            let text = part["text"].as_str();
            let pieces: Vec<Value> = match text {
                None => vec![part.clone()],
                Some(text) => words(text).map(|word| with_text(&part, word)).collect(),
            };
            chunks.extend(pieces.into_iter().map(|piece| vec![piece]));
        }
        let last = chunks.pop().unwrap_or_default();
        let mut values: Vec<_> = chunks
            .iter()
            .map(|parts| chunk(told, parts, false))
            .collect();
        values.push(chunk(told, &last, true));
        // `usage` means that events were requested; otherwise they form one array.
        if told.usage {
            return values
                .iter()
                .map(|value| format!("data: {value}\r\n\r\n"))
                .collect();
        }
        let end = values.len() - 1;
        let piece = |(at, value): (usize, &Value)| {
            let before = if at == 0 { "[" } else { ",\r\n" };
            let after = if at == end { "]" } else { "" };
            format!("{before}{value}{after}")
        };
        values.iter().enumerate().map(piece).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 | 529 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }

    fn error_event(&self) -> String {
        format!(
            "data: {}\r\n\r\n",
            self.error(503, "The model is overloaded.")
        )
    }
}

/// The turns of the model; as many responses as calls follow each.
fn turns(contents: &Value) -> Result<usize, String> {
    let mut turns = Turns::default();
    let mut calls = 0_usize;
    for content in list(contents) {
        let parts = || list(&content["parts"]);
        if content["role"] == "model" {
            turns.said(None);
            calls += parts()
                .filter(|part| part["functionCall"].is_object())
                .count();
        } else {
            turns.heard();
            let results = parts().filter(|part| part["functionResponse"].is_object());
            let count = results.count();
            if count != calls {
                return Err(format!(
                    "the number of function response parts ({count}) must equal that of function call parts ({calls})"
                ));
            }
            calls = 0;
        }
    }
    Ok(turns.count)
}

fn parts(told: &ModelTurn) -> Vec<Value> {
    let mut parts = Vec::new();
    if let Some(thinking) = &told.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if let Some(text) = &told.text {
        parts.push(json!({"text": text}));
    }
    for (at, call) in told.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments}});
        if at == 0 && told.thinking.is_some() {
            part["thoughtSignature"] = told.signature.as_str().into();
        }
        parts.push(part);
    }
    parts
}

fn with_text(part: &Value, text: &str) -> Value {
    let mut piece = part.clone();
    piece["text"] = text.into();
    piece
}

fn chunk(told: &ModelTurn, parts: &[Value], is_last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    let mut output = 1;
    if is_last {
        candidate["finishReason"] = finish_reason(told.finish).into();
        output = told.output.saturating_sub(told.reasoning);
    }
    if let Some(refusal) = &told.refusal {
        candidate["finishMessage"] = refusal.as_str().into();
    }
    let mut usage = json!({
        "promptTokenCount": told.input, "candidatesTokenCount": output,
        "totalTokenCount": told.input + output + told.reasoning,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": told.input}],
    });
    if told.cached > 0 {
        usage["cachedContentTokenCount"] = told.cached.into();
    }
    if told.reasoning > 0 {
        usage["thoughtsTokenCount"] = told.reasoning.into();
    }
    json!({
        "candidates": [candidate], "usageMetadata": usage, "modelVersion": told.model, "responseId": told.nonce,
    })
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::MaxTokens => "MAX_TOKENS",
        Finish::Refusal | Finish::Filter => "SAFETY",
    }
}
