//! Tokens of Gemini: thoughts are counted separately from the answer, and the input of its own
//! tools separately from the prompt.

use serde_json::{Map, Value};

use crate::conversation::Usage;
use crate::read::{Members, ReadError};
use crate::write::{put, with};

const OF_TOOLS: &str = "toolUsePromptTokenCount";

pub(super) fn read(mut members: Members) -> Result<Usage, ReadError> {
    let prompt = members.count("promptTokenCount")?;
    let of_tools = members.count(OF_TOOLS)?;
    let said = members.count("candidatesTokenCount")?;
    let reasoning = members.count("thoughtsTokenCount")?;
    let cache_read = members.count("cachedContentTokenCount")?;
    // The total.
    members.take("totalTokenCount");
    let mut more = members.rest();
    put(&mut more, OF_TOOLS, of_tools);
    Ok(Usage {
        input: sum(prompt, of_tools),
        output: sum(said, reasoning),
        cache_read,
        cache_write: None,
        reasoning,
        more,
    })
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}

pub(super) fn write(usage: &Usage) -> Value {
    let of_tools = usage
        .more
        .get(OF_TOOLS)
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let prompt = usage.input.map(|input| input.saturating_sub(of_tools));
    let thoughts = usage.reasoning.unwrap_or(0);
    let said = usage.output.map(|output| output.saturating_sub(thoughts));
    let mut map = Map::new();
    put(&mut map, "promptTokenCount", prompt);
    put(&mut map, "candidatesTokenCount", said);
    put(&mut map, "thoughtsTokenCount", usage.reasoning);
    put(&mut map, "cachedContentTokenCount", usage.cache_read);
    put(&mut map, "totalTokenCount", usage.total());
    with(Value::Object(map), &usage.more)
}
