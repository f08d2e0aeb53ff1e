//! The wires of model providers: what an agent and a model say to each other.
//!
//! Everything here is pure: bytes in, values out. [`recognise`] tells which wire a request
//! travels on, [`Wire`] reads and writes the bodies, [`StreamReader`] adds up streams, and
//! [`conversation`] has the words for what was said, alike for every wire. [`key`] decides
//! which recorded request another one is, [`recorded`] what came back for it, [`agent_cassette`]
//! is the file of a recorded agent run, [`links`] tells which `tools/call` carried out what a
//! model asked for, [`listing`] shows calls of models among what else crossed, [`embeddings`] has
//! the vectors of texts, [`prices`] what tokens cost, [`Family`] which provider a model belongs
//! to.
//!
//! Bodies come from peers: they are bounded in length and depth, and what cannot be read is
//! a [`ReadError`] with a JSON pointer.

pub mod agent_cassette;
mod anthropic;
pub mod calls;
pub mod conversation;
pub mod embeddings;
mod errors;
mod errors_write;
mod family;
mod gemini;
pub mod key;
mod keys;
pub mod links;
pub mod listing;
mod mcp;
mod openai_chat;
mod openai_responses;
pub mod prices;
mod read;
mod recognise;
pub mod recorded;
mod stream;
mod wire;
mod write;

pub use errors::{read as read_error, retry_after_ms};
pub use family::Family;
pub use keys::hide_keys;
pub use mcp::{result_of_mcp, tool_of_mcp};
pub use read::{MAX_BYTES, Problem, ReadError};
pub use recognise::{Call, Framing, Operation, recognise};
pub use stream::{Ended, Fold, Frame, StreamReader, write_array};
/// Parts of texts whose bounds are our own.
pub use tapewright_schemas::slices;
pub use wire::Wire;
