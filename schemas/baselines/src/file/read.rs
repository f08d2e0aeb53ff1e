//! Reading a file. Unknown members are preserved.

use std::collections::HashMap;

use serde_json::Value;

use super::members::{Open, each, text};
use super::{
    Answer, Baseline, Ended, Exchange, FORMAT, Identity, Problem, ReadError, Rules, ToolCall, json,
};
use crate::invariant::{Condition, Invariant};
use crate::runs::MOST_RUNS;

impl Baseline {
    /// Reads the text of a file, with any layout and order of members.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        Self::of_value(json::read(text)?)
    }

    fn of_value(value: Value) -> Result<Self, ReadError> {
        let mut open = Open::of(value)?;
        // Nothing else can be assumed about another version.
        version(&mut open)?;
        let schema = open.text("schema")?;
        let identity = Identity {
            model_id: open.name("model_id")?,
            model_version: open.text("model_version")?,
            mcptest_version: open.text("mcptest_version")?,
            server_version: open.text("server_version")?,
            server_config_hash: open.text("server_config_hash")?,
        };
        let rules = rules(open.object("config_fingerprint")?)
            .map_err(|error| error.under("config_fingerprint"))?;
        let runs = open.optional_count("runs")?.unwrap_or(1);
        if runs == 0 || runs > MOST_RUNS {
            return Err(ReadError::expected("a number of runs from 1 to 100").under("runs"));
        }
        let mut exchanges = open.each("assertions", |value| exchange(value, runs))?;
        distinct(&exchanges).map_err(|error| error.under("assertions"))?;
        exchanges.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(Self {
            schema,
            identity,
            rules,
            exchanges,
            invariants: open.optional_each("invariants", invariant)?,
            runs,
            more: open.rest(),
        })
    }
}

/// Reads a list of invariants, as the member `invariants` has it.
pub fn read_invariants(text: &[u8]) -> Result<Vec<Invariant>, ReadError> {
    each(json::read(text)?, invariant)
}

fn version(open: &mut Open) -> Result<(), ReadError> {
    let value = open.needed("version")?;
    match value.as_u64() {
        Some(FORMAT) => Ok(()),
        Some(found) => Err(ReadError::new(Problem::Version { found }).under("version")),
        None => Err(ReadError::expected("a whole number").under("version")),
    }
}

/// Checks that ids are unique.
fn distinct(exchanges: &[Exchange]) -> Result<(), ReadError> {
    let mut known = HashMap::with_capacity(exchanges.len());
    for (at, exchange) in exchanges.iter().enumerate() {
        if let Some(first) = known.insert(exchange.id.as_str(), at) {
            let error = ReadError::new(Problem::SameId { first }).under("id");
            return Err(error.under(&at.to_string()));
        }
    }
    Ok(())
}

fn rules(mut open: Open) -> Result<Rules, ReadError> {
    Ok(Rules {
        invariants: open.each("invariants", text)?,
        variances: open.each("variances", text)?,
        more: open.rest(),
    })
}

fn exchange(value: Value, runs: u64) -> Result<Exchange, ReadError> {
    let mut open = Open::of(value)?;
    let id = open.name("id")?;
    let answer = answer(&mut open)?;
    let variants = open.optional_each("variants", |value| {
        let mut open = Open::of(value)?;
        self::answer(&mut open)
    })?;
    if variants.len() as u64 >= MOST_RUNS {
        return Err(ReadError::expected("fewer variants than runs").under("variants"));
    }
    let seen = open.optional_count("seen")?;
    if seen.is_some_and(|seen| seen == 0 || seen > runs) {
        return Err(ReadError::expected("at least one of the runs").under("seen"));
    }
    Ok(Exchange {
        id,
        answer,
        variants,
        seen,
        mcp_messages: open.optional_each("mcp_messages", |value| match value {
            Value::Object(_) => Ok(value),
            _ => Err(ReadError::expected("an object")),
        })?,
        more: open.rest(),
    })
}

fn answer(open: &mut Open) -> Result<Answer, ReadError> {
    let content = open.each("content", block)?;
    let tool_calls = open.each("tool_calls", call)?;
    let finish = open.text("finish_reason")?;
    let finish_reason = Ended::of_name(&finish).ok_or_else(|| {
        let known = "`stop`, `tool_use`, `max_tokens` or `other`";
        ReadError::expected(known).under("finish_reason")
    })?;
    Ok(Answer {
        content,
        tool_calls,
        finish_reason,
        latency_ms: open.optional_count("latency_ms")?,
    })
}

fn block(value: Value) -> Result<Value, ReadError> {
    let Value::Object(map) = &value else {
        return Err(ReadError::expected("an object"));
    };
    let member = |name: &str| match map.get(name) {
        None => Err(ReadError::new(Problem::Missing).under(name)),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(ReadError::expected("a string").under(name)),
    };
    if member("type")? == "text" {
        member("text")?;
    }
    Ok(value)
}

fn call(value: Value) -> Result<ToolCall, ReadError> {
    let mut open = Open::of(value)?;
    Ok(ToolCall {
        name: open.name("name")?,
        arguments: open.needed("arguments")?,
        raw_arguments: open.optional_text("raw_arguments")?,
        more: open.rest(),
    })
}

fn invariant(value: Value) -> Result<Invariant, ReadError> {
    let mut open = Open::of(value)?;
    let name = open.name("name")?;
    let kind = open.text("kind")?;
    let mut stated = open.object("condition")?;
    let condition = condition(&kind, &mut stated)?;
    Ok(Invariant {
        name,
        condition,
        id: open.optional_text("id")?,
        condition_more: stated.rest(),
        more: open.rest(),
    })
}

fn condition(kind: &str, stated: &mut Open) -> Result<Condition, ReadError> {
    let read = match kind {
        "tool_called" => stated
            .name("tool")
            .map(|tool| Condition::ToolCalled { tool }),
        "arg_present" => stated.name("tool").and_then(|tool| {
            let arg = stated.name("arg")?;
            Ok(Condition::ArgPresent { tool, arg })
        }),
        "response_field_present" => {
            let text = stated.text("text");
            text.map(|text| Condition::ResponseFieldPresent { text })
        }
        "response_semantic_match" => {
            let text = stated.text("text");
            text.map(|text| Condition::ResponseSemanticMatch { text })
        }
        "latency_under_ms" => match stated.optional_count("ms") {
            Ok(Some(ms)) => Ok(Condition::LatencyUnderMs { ms }),
            Ok(None) => Err(ReadError::new(Problem::Missing).under("ms")),
            Err(error) => Err(error),
        },
        _ => {
            let known = "`tool_called`, `arg_present`, `response_field_present`, `response_semantic_match` or `latency_under_ms`";
            return Err(ReadError::expected(known).under("kind"));
        }
    };
    read.map_err(|error| error.under("condition"))
}
