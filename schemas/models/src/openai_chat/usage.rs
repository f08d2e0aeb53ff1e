//! Tokens of Chat Completions: tokens from a cache are included in those of the prompt.

use serde_json::{Map, Value};

use crate::conversation::Usage;
use crate::read::{Members, ReadError};
use crate::write::{put, with};

/// The names that two wires of `OpenAI` have for the same counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    pub(crate) input_details: &'static str,
    pub(crate) output_details: &'static str,
}

pub(super) const CHAT: Names = Names {
    input: "prompt_tokens",
    output: "completion_tokens",
    input_details: "prompt_tokens_details",
    output_details: "completion_tokens_details",
};

pub(crate) fn read(mut members: Members, names: Names) -> Result<Usage, ReadError> {
    let mut usage = Usage {
        input: members.count(names.input)?,
        output: members.count(names.output)?,
        ..Usage::default()
    };
    // The sum of both.
    members.take("total_tokens");
    let mut details = Vec::new();
    if let Some(mut found) = members.object(names.input_details)? {
        usage.cache_read = found.count("cached_tokens")?;
        usage.cache_write = found.count("cache_write_tokens")?;
        details.push((names.input_details, found.rest()));
    }
    if let Some(mut found) = members.object(names.output_details)? {
        usage.reasoning = found.count("reasoning_tokens")?;
        details.push((names.output_details, found.rest()));
    }
    usage.more = members.rest();
    for (name, rest) in details {
        if !rest.is_empty() {
            usage.more.insert(name.to_owned(), Value::Object(rest));
        }
    }
    Ok(usage)
}

pub(crate) fn write(usage: &Usage, names: Names) -> Value {
    let mut map = Map::new();
    put(&mut map, names.input, usage.input);
    put(&mut map, names.output, usage.output);
    put(&mut map, "total_tokens", usage.total());
    let mut input = Map::new();
    put(&mut input, "cached_tokens", usage.cache_read);
    put(&mut input, "cache_write_tokens", usage.cache_write);
    let mut output = Map::new();
    put(&mut output, "reasoning_tokens", usage.reasoning);
    for (name, mut details) in [(names.input_details, input), (names.output_details, output)] {
        if let Some(Value::Object(rest)) = usage.more.get(name) {
            details.extend(rest.clone());
        }
        if !details.is_empty() {
            map.insert(name.to_owned(), Value::Object(details));
        }
    }
    with(Value::Object(map), &usage.more)
}
