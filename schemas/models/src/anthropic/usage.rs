//! Tokens of Anthropic Messages: `input_tokens` excludes tokens from a cache.

use serde_json::{Map, Value, json};

use crate::conversation::Usage;
use crate::read::{Members, ReadError};
use crate::write::with;

/// The reported token counts, before they are added up.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) fresh: Option<u64>,
    pub(super) usage: Usage,
}

pub(super) fn read(mut members: Members) -> Result<Raw, ReadError> {
    let mut usage = Usage {
        output: members.count("output_tokens")?,
        cache_read: members.count("cache_read_input_tokens")?,
        cache_write: members.count("cache_creation_input_tokens")?,
        ..Usage::default()
    };
    let fresh = members.count("input_tokens")?;
    if let Some(mut details) = members.object("output_tokens_details")? {
        usage.reasoning = details.count("thinking_tokens")?;
    }
    usage.more = members.rest();
    Ok(Raw { fresh, usage })
}

impl Raw {
    /// Takes over the values of a later event.
    pub(super) fn update(&mut self, later: Self) {
        self.fresh = later.fresh.or(self.fresh);
        self.usage.update(later.usage);
    }

    pub(super) fn sum(&self) -> Usage {
        let mut usage = self.usage.clone();
        usage.input = self.fresh.map(|fresh| {
            let cached = [usage.cache_read, usage.cache_write];
            cached
                .into_iter()
                .flatten()
                .fold(fresh, u64::saturating_add)
        });
        usage
    }
}

pub(super) fn write(usage: &Usage) -> Value {
    let mut map = Map::new();
    if let Some(input) = usage.input {
        let cached = [usage.cache_read, usage.cache_write];
        let fresh = cached
            .into_iter()
            .flatten()
            .fold(input, u64::saturating_sub);
        map.insert("input_tokens".into(), fresh.into());
    }
    let counts = [
        ("cache_creation_input_tokens", usage.cache_write),
        ("cache_read_input_tokens", usage.cache_read),
        ("output_tokens", usage.output),
    ];
    for (name, count) in counts {
        if let Some(count) = count {
            map.insert(name.into(), count.into());
        }
    }
    if let Some(thoughts) = usage.reasoning {
        let details = json!({"thinking_tokens": thoughts});
        map.insert("output_tokens_details".into(), details);
    }
    with(Value::Object(map), &usage.more)
}
