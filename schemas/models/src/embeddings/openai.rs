//! `POST /v1/embeddings` of OpenAI, Mistral and compatible servers.

use serde_json::{Value, json};

use super::{EmbedRequest, Embedding, vector_of};
use crate::conversation::Usage;
use crate::read::{Members, Problem, ReadError};

/// Without `encoding_format`: every server of this wire answers with numbers by default.
pub(super) fn write(request: &EmbedRequest) -> Value {
    json!({"model": request.model, "input": request.text})
}

pub(super) fn read(body: Value) -> Result<Embedding, ReadError> {
    let mut members = Members::of(body)?;
    let Some(first) = members.list("data")?.into_iter().next() else {
        return Err(ReadError::new(Problem::Missing).under("0").under("data"));
    };
    let mut first = Members::of(first).map_err(|error| error.under("0").under("data"))?;
    let vector =
        vector_of(&mut first, "embedding").map_err(|error| error.under("0").under("data"))?;
    let usage = match members.object("usage")? {
        None => None,
        Some(mut usage) => usage
            .count("prompt_tokens")
            .map_err(|error| error.under("usage"))?,
    };
    Ok(Embedding {
        vector,
        usage: usage.map(read_tokens),
    })
}

/// Without further details, all tokens are input.
pub(super) fn read_tokens(input: u64) -> Usage {
    Usage {
        input: Some(input),
        output: Some(0),
        ..Usage::default()
    }
}
