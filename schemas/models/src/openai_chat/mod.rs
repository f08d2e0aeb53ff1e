//! `OpenAI` Chat Completions, `POST /v1/chat/completions`, which Mistral, Azure and most gateways
//! and self-hosted servers support as well.

mod message;
mod part;
mod request;
mod response;
mod stream;
mod usage;
mod write;
mod write_stream;

pub(crate) use part::media_url;
pub(crate) use request::read as read_request;
pub(crate) use response::{read as read_response, write as write_response};
pub(crate) use stream::State;
pub(crate) use usage::{Names, read as read_usage, write as write_usage};
pub(crate) use write::{error_text, write as write_request};
pub(crate) use write_stream::write as write_stream;
