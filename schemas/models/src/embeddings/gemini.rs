//! `POST /v1beta/models/M:embedContent` of Gemini.

use serde_json::{Value, json};

use super::openai::read_tokens;
use super::{EmbedRequest, Embedding, vector_of};
use crate::read::{Members, Problem, ReadError};

/// A model as Google names it: `models/M`.
pub(super) fn resource(model: &str) -> String {
    format!("models/{}", model.strip_prefix("models/").unwrap_or(model))
}

pub(super) fn write(request: &EmbedRequest) -> Value {
    json!({
        "model": resource(&request.model),
        "content": {"parts": [{"text": request.text}]},
    })
}

pub(super) fn read(body: Value) -> Result<Embedding, ReadError> {
    let mut members = Members::of_proto(body)?;
    let Some(mut embedding) = members.object("embedding")? else {
        return Err(ReadError::new(Problem::Missing).under("embedding"));
    };
    let vector = vector_of(&mut embedding, "values").map_err(|error| error.under("embedding"))?;
    let usage = match members.object("usageMetadata")? {
        None => None,
        Some(mut usage) => usage
            .count("promptTokenCount")
            .map_err(|error| error.under("usageMetadata"))?,
    };
    Ok(Embedding {
        vector,
        usage: usage.map(read_tokens),
    })
}
