//! Embeddings: the vector that a model computes from a text.
//!
//! Two wires have them: OpenAI's `/embeddings`, which Mistral, Ollama and other compatible servers
//! support as well, and Gemini's `:embedContent`. Anthropic has none. Each request has one text, so
//! that the vector of a reference can be stored and reused.

mod gemini;
mod openai;

use serde_json::Value;

use crate::Wire;
use crate::conversation::Usage;
use crate::read::{Problem, ReadError, json};

/// The most numbers that a vector may have; the models that there are make 256 to 12,288.
pub const MAX_DIMENSIONS: usize = 65_536;

/// The API for embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbedWire {
    /// OpenAI's, `POST /v1/embeddings`.
    OpenAi,
    /// Gemini's, `POST /v1beta/models/M:embedContent`.
    Gemini,
}

/// A text to embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedRequest {
    /// The model.
    pub model: String,
    /// The text.
    pub text: String,
}

/// The vector of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// Its numbers, all finite, at least one and at most [`MAX_DIMENSIONS`].
    pub vector: Vec<f64>,
    /// The tokens, if the provider reports them.
    pub usage: Option<Usage>,
}

impl EmbedWire {
    /// The API for embeddings of a provider with this wire; `None` if it has none.
    #[must_use]
    pub fn of(wire: Wire) -> Option<Self> {
        match wire {
            Wire::Anthropic => None,
            Wire::OpenAiChat | Wire::OpenAiResponses => Some(Self::OpenAi),
            Wire::Gemini => Some(Self::Gemini),
        }
    }

    /// The wire whose headers and errors it uses.
    #[must_use]
    pub fn wire(self) -> Wire {
        match self {
            Self::OpenAi => Wire::OpenAiChat,
            Self::Gemini => Wire::Gemini,
        }
    }

    /// The path of a request, relative to the base URL that the SDKs of the wire are given.
    #[must_use]
    pub fn path(self, request: &EmbedRequest) -> String {
        match self {
            Self::OpenAi => "/embeddings".to_owned(),
            Self::Gemini => format!("/v1beta/{}:embedContent", gemini::resource(&request.model)),
        }
    }

    /// The body of a request.
    #[must_use]
    pub fn write_request(self, request: &EmbedRequest) -> Value {
        match self {
            Self::OpenAi => openai::write(request),
            Self::Gemini => gemini::write(request),
        }
    }

    /// Reads the body of a successful answer.
    pub fn read_response(self, body: &[u8]) -> Result<Embedding, ReadError> {
        let body = json(body)?;
        match self {
            Self::OpenAi => openai::read(body),
            Self::Gemini => gemini::read(body),
        }
    }
}

/// The numbers of a vector.
fn vector(list: &[Value]) -> Result<Vec<f64>, ReadError> {
    if list.len() > MAX_DIMENSIONS {
        return Err(ReadError::new(Problem::TooLong {
            limit: MAX_DIMENSIONS,
            unit: "numbers",
        }));
    }
    if list.is_empty() {
        return Err(ReadError::expected("at least one number"));
    }
    let number = |(index, value): (usize, &Value)| {
        let found = value.as_f64().filter(|number| number.is_finite());
        found.ok_or_else(|| ReadError::expected("a finite number").under(&index.to_string()))
    };
    list.iter().enumerate().map(number).collect()
}

/// The vector in this member.
fn vector_of(members: &mut crate::read::Members, name: &str) -> Result<Vec<f64>, ReadError> {
    if !members.has(name) {
        return Err(ReadError::new(Problem::Missing).under(name));
    }
    let list = members.list(name)?;
    vector(&list).map_err(|error| error.under(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WIRES: [EmbedWire; 2] = [EmbedWire::OpenAi, EmbedWire::Gemini];

    fn request(model: &str) -> EmbedRequest {
        EmbedRequest {
            model: model.to_owned(),
            text: "the order shipped".to_owned(),
        }
    }

    #[test]
    fn requests_are_those_of_the_documented_apis() {
        let one = request("text-embedding-3-small");
        assert_eq!(EmbedWire::OpenAi.path(&one), "/embeddings");
        assert_eq!(
            EmbedWire::OpenAi.write_request(&one),
            json!({"model": "text-embedding-3-small", "input": "the order shipped"})
        );
        for model in ["gemini-embedding-001", "models/gemini-embedding-001"] {
            let one = request(model);
            let path = "/v1beta/models/gemini-embedding-001:embedContent";
            assert_eq!(EmbedWire::Gemini.path(&one), path);
            assert_eq!(
                EmbedWire::Gemini.write_request(&one),
                json!({
                    "model": "models/gemini-embedding-001",
                    "content": {"parts": [{"text": "the order shipped"}]},
                })
            );
        }
    }

    #[test]
    fn answers_are_read_with_their_tokens() {
        let body = json!({
            "object": "list", "model": "m",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -1, 3e-2]}],
            "usage": {"prompt_tokens": 4, "total_tokens": 4},
        });
        let read = EmbedWire::OpenAi.read_response(body.to_string().as_bytes());
        let read = read.expect("an embedding");
        assert_eq!(read.vector, [0.25, -1.0, 0.03]);
        assert_eq!(read.usage.and_then(|usage| usage.input), Some(4));

        let body =
            json!({"embedding": {"values": [1, 0.5]}, "usageMetadata": {"promptTokenCount": 3}});
        let read = EmbedWire::Gemini.read_response(body.to_string().as_bytes());
        let read = read.expect("an embedding");
        assert_eq!(read.vector, [1.0, 0.5]);
        assert_eq!(read.usage.and_then(|usage| usage.input), Some(3));
    }

    /// An answer of each wire with this as its vector.
    fn answer(wire: EmbedWire, vector: &Value) -> String {
        match wire {
            EmbedWire::OpenAi => json!({"data": [{"embedding": vector}]}),
            EmbedWire::Gemini => json!({"embedding": {"values": vector}}),
        }
        .to_string()
    }

    #[test]
    fn what_is_no_vector_is_an_error_with_its_place() {
        for wire in WIRES {
            let place = match wire {
                EmbedWire::OpenAi => "/data/0/embedding",
                EmbedWire::Gemini => "/embedding/values",
            };
            let long = vec![0.5; MAX_DIMENSIONS + 1];
            for (vector, under) in [
                (json!([]), ""),
                (json!("AACAPw=="), ""),
                (json!([0.1, "b"]), "/1"),
                (json!([[0.1]]), "/0"),
                (json!(long), ""),
                (Value::Null, ""),
            ] {
                let read = wire.read_response(answer(wire, &vector).as_bytes());
                let error = read.expect_err("no vector");
                assert_eq!(error.pointer, format!("{place}{under}"), "{vector}");
            }
            let most = vec![0.5; MAX_DIMENSIONS];
            let read = wire.read_response(answer(wire, &json!(most)).as_bytes());
            assert_eq!(read.map(|one| one.vector.len()), Ok(MAX_DIMENSIONS));
            for body in ["", "{", "[]", "{}", "null", r#"{"data":[]}"#] {
                wire.read_response(body.as_bytes()).expect_err(body);
            }
        }
    }

    #[test]
    fn only_anthropic_has_none() {
        let without: Vec<_> = Wire::ALL
            .into_iter()
            .filter(|wire| EmbedWire::of(*wire).is_none())
            .collect();
        assert_eq!(without, [Wire::Anthropic]);
        for wire in WIRES {
            assert_eq!(EmbedWire::of(wire.wire()), Some(wire));
        }
    }
}
