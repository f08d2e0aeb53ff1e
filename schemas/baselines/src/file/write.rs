//! Writing a file: always the same text for the same baseline.

use serde_json::{Map, Value};

use super::{Answer, Baseline, Exchange, FORMAT, Rules, ToolCall};
use crate::invariant::Invariant;

impl Baseline {
    /// The text of the file: compact JSON, with keys sorted at every level and no final line feed.
    #[must_use]
    pub fn write(&self) -> String {
        canonical(&self.to_value())
    }

    fn to_value(&self) -> Value {
        let mut map = self.more.clone();
        let identity = &self.identity;
        map.insert("schema".to_owned(), self.schema.as_str().into());
        map.insert("version".to_owned(), FORMAT.into());
        for (name, value) in [
            ("model_id", &identity.model_id),
            ("model_version", &identity.model_version),
            ("mcptest_version", &identity.mcptest_version),
            ("server_version", &identity.server_version),
            ("server_config_hash", &identity.server_config_hash),
        ] {
            map.insert(name.to_owned(), value.as_str().into());
        }
        map.insert("config_fingerprint".to_owned(), rules(&self.rules));
        let mut exchanges: Vec<&Exchange> = self.exchanges.iter().collect();
        exchanges.sort_by(|one, other| one.id.cmp(&other.id));
        let exchanges = exchanges.into_iter().map(exchange).collect();
        map.insert("assertions".to_owned(), exchanges);
        let invariants = self.invariants.iter().map(Invariant::to_value).collect();
        map.insert("invariants".to_owned(), invariants);
        if self.runs != 1 {
            map.insert("runs".to_owned(), self.runs.into());
        }
        Value::Object(map)
    }
}

fn rules(rules: &Rules) -> Value {
    let mut map = rules.more.clone();
    map.insert("invariants".to_owned(), rules.invariants.clone().into());
    map.insert("variances".to_owned(), rules.variances.clone().into());
    Value::Object(map)
}

fn exchange(exchange: &Exchange) -> Value {
    let mut map = exchange.more.clone();
    map.insert("id".to_owned(), exchange.id.as_str().into());
    answer(&exchange.answer, &mut map);
    if !exchange.variants.is_empty() {
        let variants = exchange.variants.iter().map(Answer::to_value).collect();
        map.insert("variants".to_owned(), variants);
    }
    if let Some(seen) = exchange.seen {
        map.insert("seen".to_owned(), seen.into());
    }
    if !exchange.mcp_messages.is_empty() {
        let messages = exchange.mcp_messages.clone();
        map.insert("mcp_messages".to_owned(), messages.into());
    }
    Value::Object(map)
}

impl Answer {
    /// Its value in a file.
    pub(crate) fn to_value(&self) -> Value {
        let mut map = Map::new();
        answer(self, &mut map);
        Value::Object(map)
    }
}

fn answer(answer: &Answer, map: &mut Map<String, Value>) {
    map.insert("content".to_owned(), answer.content.clone().into());
    let calls = answer.tool_calls.iter().map(call).collect();
    map.insert("tool_calls".to_owned(), calls);
    let finish = answer.finish_reason.name();
    map.insert("finish_reason".to_owned(), finish.into());
    if let Some(latency) = answer.latency_ms {
        map.insert("latency_ms".to_owned(), latency.into());
    }
}

fn call(call: &ToolCall) -> Value {
    let mut map = call.more.clone();
    map.insert("name".to_owned(), call.name.as_str().into());
    map.insert("arguments".to_owned(), call.arguments.clone());
    if let Some(raw) = &call.raw_arguments {
        map.insert("raw_arguments".to_owned(), raw.as_str().into());
    }
    Value::Object(map)
}

/// A value as compact JSON with the members of every object in the order of their names.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (at, value) in list.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(value, out);
            }
            out.push(']');
        }
        value => out.push_str(&value.to_string()),
    }
}
