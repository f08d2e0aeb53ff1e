//! Gemini, `POST /v1beta/models/M:generateContent` and `:streamGenerateContent`.
//!
//! Its JSON is that of protocol buffers: names may be spelled in snake case as well.

mod part;
mod request;
mod response;
mod stream;
mod usage;
mod write;

pub(crate) use request::read as read_request;
pub(crate) use response::{read as read_response, write as write_response};
pub(crate) use stream::{State, write as write_stream};
pub(crate) use write::write as write_request;
