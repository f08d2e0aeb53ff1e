//! The wires of model providers: the messages between an agent and a model.
//!
//! Everything here is pure: bytes in, values out. [`recognise`] determines the wire of a request,
//! [`Wire`] reads and writes the bodies, [`StreamReader`] combines streams, and [`conversation`] is
//! the neutral form of the messages, the same for every wire. [`key`] determines which recorded
//! request matches another one, [`recorded`] has the response to it, [`agent_cassette`] is the file
//! of a recorded agent run, [`links`] determines which `tools/call` carried out a tool use,
//! [`listing`] shows model calls among other lines, [`embeddings`] has the vectors of texts,
//! [`prices`] the cost of tokens, and [`Family`] the provider that a model belongs to.
//!
//! Bodies come from peers: they are bounded in length and depth, and a body that cannot be read is
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
pub use recognise::{Call, FIELDS_OF_WIRES, Framing, Operation, recognise};
pub use stream::{Ended, Fold, Frame, StreamReader, write_array};
/// Parts of texts whose bounds are our own.
pub use tapewright_schemas::slices;
pub use wire::Wire;
