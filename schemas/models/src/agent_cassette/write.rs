//! Writing an agent cassette: always the same text for the same run.

use serde_json::{Map, Value, json};

use super::{AgentCassette, ModelReply, RunStats, ToolCall, ToolOutcome, UserTurn, VERSION};
use crate::keys::hide_keys;
use crate::write::put;

impl AgentCassette {
    /// The text of the file, indented, with a placeholder for every key of a provider.
    #[must_use]
    pub fn write(&self) -> String {
        let mut map = Map::new();
        map.insert("schema_version".into(), VERSION.into());
        map.insert("agent_name".into(), self.agent_name.as_str().into());
        map.insert("model".into(), self.model.as_str().into());
        map.insert("user_prompt".into(), self.user_prompt.as_str().into());
        map.insert("system_prompt".into(), self.system_prompt.clone().into());
        map.insert("recorded_at".into(), self.recorded_at.as_str().into());
        put(
            &mut map,
            "tools_fingerprint",
            self.tools_fingerprint.as_deref(),
        );
        put(&mut map, "temperature", self.temperature);
        put(&mut map, "max_tokens", self.max_tokens);
        if !self.servers.is_empty() {
            let each = self.servers.iter();
            let each = each.map(|(name, version)| (name.clone(), version.as_str().into()));
            map.insert("servers".into(), Value::Object(each.collect()));
        }
        map.insert("trace".into(), self.trace.to_value());
        let text = format!("{:#}\n", Value::Object(map));
        hide_keys(&text)
    }
}

impl super::Trace {
    pub(super) fn to_value(&self) -> Value {
        let mut value = json!({
            "tool_calls": calls(&self.tool_calls),
            "tool_results": outcomes(&self.tool_results),
            "final_response": self.final_response,
            "conversation": talk(&self.conversation),
        });
        if let (false, Value::Object(map)) = (self.answers.is_empty(), &mut value) {
            map.insert("answers".into(), self.answers.iter().map(said).collect());
        }
        value
    }
}

fn said(said: &ModelReply) -> Value {
    let mut map = Map::new();
    map.insert("content".into(), said.content.clone().into());
    map.insert("tool_calls".into(), said.tool_calls.into());
    map.insert("finish_reason".into(), said.ended.name().into());
    put(&mut map, "model", said.model.as_deref());
    put(&mut map, "latency_ms", said.latency_ms);
    Value::Object(map)
}

fn calls(calls: &[ToolCall]) -> Vec<Value> {
    let one = |call: &ToolCall| {
        let mut map = Map::new();
        map.insert("name".into(), call.name.as_str().into());
        map.insert("server".into(), call.server.as_str().into());
        map.insert("args".into(), call.args.clone());
        put(&mut map, "caller", call.caller.clone());
        map.insert("hop_index".into(), call.hop_index.into());
        put(&mut map, "agent_id", call.agent_id.as_deref());
        put(&mut map, "inputs_digest", call.inputs_digest.as_deref());
        Value::Object(map)
    };
    calls.iter().map(one).collect()
}

fn outcomes(results: &[ToolOutcome]) -> Vec<Value> {
    let one = |result: &ToolOutcome| {
        json!({
            "call_index": result.call_index,
            "server": result.server,
            "is_error": result.is_error,
            "result": result.result,
        })
    };
    results.iter().map(one).collect()
}

fn talk(talk: &RunStats) -> Value {
    let turns: Vec<Value> = talk
        .turns
        .iter()
        .map(|turn| json!({"role": turn.role, "content": turn.content}))
        .collect();
    let mut value = json!({
        "tokens": {
            "prompt": talk.tokens.prompt,
            "completion": talk.tokens.completion,
            "total": talk.tokens.total,
        },
        "duration_ms": talk.duration_ms,
        "message_count": talk.message_count,
        "stop_reason": talk.stop_reason.name(),
        "turns": turns,
    });
    if let (false, Value::Object(map)) = (talk.per_turn.is_empty(), &mut value) {
        let turns = talk.per_turn.iter().map(user_turn).collect();
        map.insert("per_turn".into(), Value::Array(turns));
    }
    value
}

fn user_turn(turn: &UserTurn) -> Value {
    json!({
        "user": turn.user,
        "tool_calls": calls(&turn.tool_calls),
        "tool_results": outcomes(&turn.tool_results),
        "final_response": turn.final_response,
    })
}
