//! Determines the wire of a request.

use tapewright_schemas::json::members;

use crate::Wire;

/// What the address of a request shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The wire.
    pub wire: Wire,
    /// The requested operation.
    pub operation: Operation,
    /// The model, if the path contains it.
    pub model: Option<String>,
    /// Whether a stream is requested, if the path shows it.
    pub stream: Option<bool>,
    /// How a stream would be framed.
    pub framing: Framing,
}

impl Call {
    /// A request to generate something at the usual path of a wire.
    #[must_use]
    pub fn generate(wire: Wire) -> Self {
        Self {
            wire,
            operation: Operation::Generate,
            model: None,
            stream: None,
            framing: Framing::Sse,
        }
    }
}

/// The operations of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A response of a model, which this package reads and writes.
    Generate,
    /// Counting the tokens of a request.
    CountTokens,
    /// Anything else: models, files, caches, batches, retrieving a response.
    Other,
}

/// How a stream is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// As an event stream.
    Sse,
    /// As one JSON array, element by element: Gemini without `alt=sse`.
    JsonArray,
}

/// The fields of a head that show a wire, whatever the path.
pub const FIELDS_OF_WIRES: [(&str, Wire); 2] = [
    ("anthropic-version", Wire::Anthropic),
    ("x-goog-api-key", Wire::Gemini),
];

/// The wire of a request, regardless of its host; `None` if it is none of them.
///
/// `target` is the path with its query. `head` returns the value of a header. A JSON-RPC body is
/// not a model call, whatever its path. It knows the paths of the providers themselves, of Azure
/// (`/openai/deployments/…`), of Vertex (`…/models/M:rawPredict`) and of gateways that add a
/// prefix.
pub fn recognise<'h>(
    method: &str,
    target: &str,
    head: impl Fn(&str) -> Option<&'h str>,
    body: Option<&[u8]>,
) -> Option<Call> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.trim_end_matches('/');
    let shown = || {
        FIELDS_OF_WIRES
            .iter()
            .find(|(name, _)| head(name).is_some())
    };
    let by_field = || shown().map(|(_, wire)| other(*wire));
    let mut call = by_path(path, query).or_else(by_field)?;
    if body.is_some_and(is_json_rpc) {
        return None;
    }
    if call.operation == Operation::Generate && method != "POST" {
        call.operation = Operation::Other;
    }
    Some(call)
}

fn by_path(path: &str, query: &str) -> Option<Call> {
    // Asked about every request that passes. A missing step is like an empty one.
    let mut all = path.rsplit('/');
    let steps = [(); 4].map(|()| all.next().unwrap_or_default());
    match steps {
        ["messages", "v1", ..] => Some(Call::generate(Wire::Anthropic)),
        ["count_tokens", "messages", "v1", ..] => Some(counted(Wire::Anthropic)),
        ["batches", "messages", "v1", ..] | [_, "batches", "messages", "v1"] => {
            Some(other(Wire::Anthropic))
        }
        ["completions", "chat", ..] => Some(Call::generate(Wire::OpenAiChat)),
        ["responses", ..] => Some(Call::generate(Wire::OpenAiResponses)),
        ["input_tokens", "responses", ..] => Some(counted(Wire::OpenAiResponses)),
        ["compact", "responses", ..] => Some(other(Wire::OpenAiResponses)),
        [_, "responses", "v1", ..] | [_, _, "responses", "v1"] => {
            Some(other(Wire::OpenAiResponses))
        }
        ["embeddings", ..] => Some(other(Wire::OpenAiChat)),
        ["cachedContents", ..] | [_, "cachedContents", ..] => Some(other(Wire::Gemini)),
        [last, "models", ..] => of_model(last, query),
        _ => None,
    }
}

/// `models/M:verb`, as Google has it.
fn of_model(step: &str, query: &str) -> Option<Call> {
    let (model, verb) = step.rsplit_once(':')?;
    let (wire, operation, stream) = match verb {
        "generateContent" => (Wire::Gemini, Operation::Generate, false),
        "streamGenerateContent" => (Wire::Gemini, Operation::Generate, true),
        "countTokens" => (Wire::Gemini, Operation::CountTokens, false),
        "embedContent" | "batchEmbedContents" | "predict" | "predictLongRunning" => {
            (Wire::Gemini, Operation::Other, false)
        }
        // Vertex, for models of Anthropic.
        "rawPredict" => (Wire::Anthropic, Operation::Generate, false),
        "streamRawPredict" => (Wire::Anthropic, Operation::Generate, true),
        _ => return None,
    };
    let has_sse = query.split('&').any(|pair| pair == "alt=sse");
    let framing = if wire == Wire::Gemini && !has_sse {
        Framing::JsonArray
    } else {
        Framing::Sse
    };
    Some(Call {
        wire,
        operation,
        model: Some(model.replace("%2F", "/")),
        stream: Some(stream),
        framing,
    })
}

fn counted(wire: Wire) -> Call {
    Call {
        operation: Operation::CountTokens,
        ..Call::generate(wire)
    }
}

fn other(wire: Wire) -> Call {
    Call {
        operation: Operation::Other,
        ..Call::generate(wire)
    }
}

/// Whether a body is a message of JSON-RPC, or a batch of them.
fn is_json_rpc(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    if body.first() == Some(&b'[') {
        // No wire's request is a list.
        return true;
    }
    let mut found = false;
    members(body, |name, _| found |= name == b"jsonrpc");
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(method: &str, target: &str) -> Option<(Wire, Operation)> {
        recognise(method, target, |_| None, None).map(|call| (call.wire, call.operation))
    }

    #[test]
    fn the_paths_of_providers_and_gateways_are_known() {
        let (generate, count, other) = (
            Operation::Generate,
            Operation::CountTokens,
            Operation::Other,
        );
        for (target, wire, operation) in [
            ("/v1/messages", Wire::Anthropic, generate),
            ("/v1/messages?beta=true", Wire::Anthropic, generate),
            ("/anthropic/v1/messages", Wire::Anthropic, generate),
            ("/v1/messages/count_tokens", Wire::Anthropic, count),
            ("/v1/messages/batches", Wire::Anthropic, other),
            ("/v1/chat/completions", Wire::OpenAiChat, generate),
            ("/chat/completions", Wire::OpenAiChat, generate),
            (
                "/openai/deployments/d/chat/completions?api-version=1",
                Wire::OpenAiChat,
                generate,
            ),
            ("/v1/embeddings", Wire::OpenAiChat, other),
            (
                "/openai/deployments/d/embeddings?api-version=1",
                Wire::OpenAiChat,
                other,
            ),
            ("/v1beta/models/m:embedContent", Wire::Gemini, other),
            ("/v1/responses", Wire::OpenAiResponses, generate),
            ("/v1/responses/resp_1", Wire::OpenAiResponses, other),
            ("/v1/responses/resp_1/cancel", Wire::OpenAiResponses, other),
            ("/v1/responses/input_tokens", Wire::OpenAiResponses, count),
            (
                "/v1beta/models/m:generateContent?key=k",
                Wire::Gemini,
                generate,
            ),
            ("/v1beta/models/m:countTokens", Wire::Gemini, count),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
                Wire::Anthropic,
                generate,
            ),
        ] {
            assert_eq!(told("POST", target), Some((wire, operation)), "{target}");
        }
    }

    #[test]
    fn the_address_says_model_stream_and_framing() {
        let found = |target| recognise("POST", target, |_| None, None).unwrap();
        let sse = found("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=k");
        assert_eq!(sse.model.as_deref(), Some("gemini-2.5-pro"));
        assert_eq!((sse.stream, sse.framing), (Some(true), Framing::Sse));
        let array = found("/v1beta/models/m:streamGenerateContent");
        assert_eq!(array.framing, Framing::JsonArray);
        let vertex = found("/v1/publishers/anthropic/models/claude-x@1:streamRawPredict");
        assert_eq!(vertex.model.as_deref(), Some("claude-x@1"));
        assert_eq!((vertex.stream, vertex.framing), (Some(true), Framing::Sse));
    }

    #[test]
    fn what_is_no_call_of_a_model_is_not_taken_for_one() {
        for target in [
            "/mcp",
            "/messages?sessionId=1",
            "/sse",
            "/v1",
            "/models/m:go",
            "/",
        ] {
            assert_eq!(told("POST", target), None, "{target}");
        }
        let rpc = br#" {"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for body in [rpc.as_slice(), b"[{\"jsonrpc\":\"2.0\"}]"] {
            assert_eq!(
                recognise("POST", "/v1/messages", |_| None, Some(body)),
                None
            );
        }
        assert_eq!(
            told("GET", "/v1/responses"),
            Some((Wire::OpenAiResponses, Operation::Other))
        );
    }

    #[test]
    fn other_requests_are_told_by_their_heads() {
        let head = |name: &str| (name == "anthropic-version").then_some("2023-06-01");
        let call = recognise("GET", "/v1/models", head, None).unwrap();
        assert_eq!(
            (call.wire, call.operation),
            (Wire::Anthropic, Operation::Other)
        );
    }
}
