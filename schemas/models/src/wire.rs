//! The four wires, and how each is read and written.

use serde_json::Value;

use crate::conversation::{Request, Response};
use crate::read::{ReadError, json};
use crate::stream::Frame;
use crate::{Call, anthropic, gemini, openai_chat, openai_responses};

/// A wire: how requests and responses are spelled, for any provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, which Mistral and many others support as well.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Gemini `generateContent` and `streamGenerateContent`.
    Gemini,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 4] = [
        Self::Anthropic,
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Gemini,
    ];

    /// Its name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }

    /// The wire with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }

    /// Whose wire it is, in a message to people.
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAiChat | Self::OpenAiResponses => "OpenAI",
            Self::Gemini => "Gemini",
        }
    }

    /// Reads the body of a request to generate something; `call` is what its address shows.
    pub fn read_request(self, call: &Call, body: &[u8]) -> Result<Request, ReadError> {
        let body = json(body)?;
        match self {
            Self::Anthropic => anthropic::read_request(call, body),
            Self::OpenAiChat => openai_chat::read_request(call, body),
            Self::OpenAiResponses => openai_responses::read_request(call, body),
            Self::Gemini => gemini::read_request(call, body),
        }
    }

    /// Reads the body of a successful response that came as one JSON document.
    pub fn read_response(self, body: &[u8]) -> Result<Response, ReadError> {
        let body = json(body)?;
        match self {
            Self::Anthropic => anthropic::read_response(body),
            Self::OpenAiChat => openai_chat::read_response(body),
            Self::OpenAiResponses => openai_responses::read_response(body),
            Self::Gemini => gemini::read_response(body),
        }
    }

    /// The body of a request for this wire, which may differ from the request's original one.
    /// Content that a wire does not support is put into words: that a tool failed, an image in a
    /// tool's result.
    #[must_use]
    pub fn write_request(self, request: &Request) -> Value {
        match self {
            Self::Anthropic => anthropic::write_request(request),
            Self::OpenAiChat => openai_chat::write_request(request),
            Self::OpenAiResponses => openai_responses::write_request(request),
            Self::Gemini => gemini::write_request(request),
        }
    }

    /// The path of a request, relative to the base URL that its SDKs are given.
    #[must_use]
    pub fn path(self, request: &Request) -> String {
        match self {
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::OpenAiChat => "/chat/completions".to_owned(),
            Self::OpenAiResponses => "/responses".to_owned(),
            Self::Gemini => {
                let model = request.model.strip_prefix("models/");
                let model = model.unwrap_or(&request.model);
                if request.stream {
                    format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
                } else {
                    format!("/v1beta/models/{model}:generateContent")
                }
            }
        }
    }

    /// A response as one JSON document.
    #[must_use]
    pub fn write_response(self, response: &Response) -> Value {
        match self {
            Self::Anthropic => anthropic::write_response(response),
            Self::OpenAiChat => openai_chat::write_response(response),
            Self::OpenAiResponses => openai_responses::write_response(response),
            Self::Gemini => gemini::write_response(response),
        }
    }

    /// A response as the events of a stream, with texts split into pieces of this many characters.
    #[must_use]
    pub fn write_stream(self, response: &Response, piece: usize) -> Vec<Frame> {
        match self {
            Self::Anthropic => anthropic::write_stream(response, piece),
            Self::OpenAiChat => openai_chat::write_stream(response, piece),
            Self::OpenAiResponses => openai_responses::write_stream(response, piece),
            Self::Gemini => gemini::write_stream(response, piece),
        }
    }
}
