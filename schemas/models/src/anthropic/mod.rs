//! Anthropic Messages, `POST /v1/messages`, version 2023-06-01.

mod block;
mod request;
mod response;
mod stream;
mod usage;
mod write_stream;

pub(crate) use request::{read as read_request, write as write_request};
pub(crate) use response::{read as read_response, write as write_response};
pub(crate) use stream::State;
pub(crate) use write_stream::write as write_stream;
