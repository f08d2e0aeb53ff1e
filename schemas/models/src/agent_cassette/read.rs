//! Reading an agent cassette. Unknown members are ignored.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    AgentCassette, Ended, ModelReply, RunStats, StopReason, Tokens, ToolCall, ToolOutcome, Trace,
    Turn, UserTurn, VERSION,
};
use crate::read::{Members, Problem, ReadError, json};

impl AgentCassette {
    /// Reads the text of a file.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        let mut members = Members::of(json(text)?)?;
        if members.needed_text("schema_version")? != VERSION {
            return Err(ReadError::expected("`v1`").under("schema_version"));
        }
        let trace = needed(&mut members, "trace")?;
        Ok(Self {
            agent_name: members.needed_text("agent_name")?,
            model: members.needed_text("model")?,
            user_prompt: members.needed_text("user_prompt")?,
            system_prompt: members.text("system_prompt")?,
            recorded_at: members.needed_text("recorded_at")?,
            tools_fingerprint: members.text("tools_fingerprint")?,
            temperature: members.number("temperature")?,
            max_tokens: members.count("max_tokens")?,
            servers: servers(&mut members).map_err(|error| error.under("servers"))?,
            trace: read_trace(trace).map_err(|error| error.under("trace"))?,
        })
    }
}

fn missing(name: &str) -> ReadError {
    ReadError::new(Problem::Missing).under(name)
}

fn needed(members: &mut Members, name: &str) -> Result<Members, ReadError> {
    members.object(name)?.ok_or_else(|| missing(name))
}

fn needed_count(members: &mut Members, name: &str) -> Result<u64, ReadError> {
    members.count(name)?.ok_or_else(|| missing(name))
}

fn read_trace(mut members: Members) -> Result<Trace, ReadError> {
    for name in ["tool_calls", "tool_results"] {
        if !members.has(name) {
            return Err(missing(name));
        }
    }
    let tool_calls = members.each("tool_calls", call)?;
    let tool_results = members.each("tool_results", outcome)?;
    for (at, result) in tool_results.iter().enumerate() {
        let is_there = usize::try_from(result.call_index).is_ok_and(|at| at < tool_calls.len());
        if !is_there {
            let error = ReadError::expected("the place of a tool call").under("call_index");
            return Err(error.under(&at.to_string()).under("tool_results"));
        }
    }
    Ok(Trace {
        tool_calls,
        tool_results,
        final_response: members.needed_text("final_response")?,
        conversation: talk(needed(&mut members, "conversation")?)
            .map_err(|error| error.under("conversation"))?,
        answers: members.each("answers", said)?,
    })
}

fn servers(members: &mut Members) -> Result<BTreeMap<String, String>, ReadError> {
    let Some(found) = members.object("servers")? else {
        return Ok(BTreeMap::new());
    };
    let one = |(name, version): (String, Value)| match version {
        Value::String(version) => Ok((name, version)),
        _ => Err(ReadError::expected("a string").under(&name)),
    };
    found.rest().into_iter().map(one).collect()
}

fn said(value: Value) -> Result<ModelReply, ReadError> {
    let mut members = Members::of(value)?;
    let finish = members.needed_text("finish_reason")?;
    Ok(ModelReply {
        content: members.list("content")?,
        tool_calls: members.count("tool_calls")?.unwrap_or(0),
        ended: Ended::of_name(&finish)
            .ok_or_else(|| ReadError::expected("a known reason").under("finish_reason"))?,
        model: members.text("model")?,
        latency_ms: members.count("latency_ms")?,
    })
}

fn call(value: Value) -> Result<ToolCall, ReadError> {
    let mut members = Members::of(value)?;
    Ok(ToolCall {
        name: members.needed_text("name")?,
        server: members.text("server")?.unwrap_or_default(),
        args: members.take("args").unwrap_or_default(),
        caller: members.take("caller"),
        hop_index: members.count("hop_index")?.unwrap_or(0),
        agent_id: members.text("agent_id")?,
        inputs_digest: members.text("inputs_digest")?,
    })
}

fn outcome(value: Value) -> Result<ToolOutcome, ReadError> {
    let mut members = Members::of(value)?;
    let is_error = members.flag("is_error")?.or(members.flag("isError")?);
    Ok(ToolOutcome {
        call_index: needed_count(&mut members, "call_index")?,
        server: members.text("server")?.unwrap_or_default(),
        is_error: is_error.ok_or_else(|| missing("is_error"))?,
        result: members.take("result").unwrap_or_default(),
    })
}

fn talk(mut members: Members) -> Result<RunStats, ReadError> {
    let mut counts = needed(&mut members, "tokens")?;
    let tokens = tokens(&mut counts).map_err(|error| error.under("tokens"))?;
    let stop_reason = match members.text("stop_reason")? {
        None => StopReason::default(),
        Some(name) => StopReason::of_name(&name)
            .ok_or_else(|| ReadError::expected("a known reason").under("stop_reason"))?,
    };
    Ok(RunStats {
        tokens,
        duration_ms: needed_count(&mut members, "duration_ms")?,
        message_count: needed_count(&mut members, "message_count")?,
        stop_reason,
        turns: members.each("turns", turn)?,
        per_turn: members.each("per_turn", user_turn)?,
    })
}

fn tokens(counts: &mut Members) -> Result<Tokens, ReadError> {
    Ok(Tokens {
        prompt: needed_count(counts, "prompt")?,
        completion: needed_count(counts, "completion")?,
        total: needed_count(counts, "total")?,
    })
}

fn turn(value: Value) -> Result<Turn, ReadError> {
    let mut members = Members::of(value)?;
    Ok(Turn {
        role: members.needed_text("role")?,
        content: members.needed_text("content")?,
    })
}

fn user_turn(value: Value) -> Result<UserTurn, ReadError> {
    let mut members = Members::of(value)?;
    Ok(UserTurn {
        user: members.needed_text("user")?,
        tool_calls: members.each("tool_calls", call)?,
        tool_results: members.each("tool_results", outcome)?,
        final_response: members.text("final_response")?.unwrap_or_default(),
    })
}
