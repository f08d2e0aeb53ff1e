//! OpenAI Responses, `POST /v1/responses`.

mod content;
mod item;
mod request;
mod response;
mod stream;
mod write;
mod write_stream;

pub(crate) use request::{read as read_request, write as write_request};
pub(crate) use response::{read as read_response, write as write_response};
pub(crate) use stream::State;
pub(crate) use write_stream::write as write_stream;

/// The names that this wire has for tokens.
const USAGE: crate::openai_chat::Names = crate::openai_chat::Names {
    input: "input_tokens",
    output: "output_tokens",
    input_details: "input_tokens_details",
    output_details: "output_tokens_details",
};
