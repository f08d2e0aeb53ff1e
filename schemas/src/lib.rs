//! The vocabulary of tapewright: what crosses the wire, and how it is recorded.
//!
//! Everything here is pure: bytes, times and settings are arguments, and no socket, file name,
//! clock or environment is touched. Reading and writing go through [`std::io`] traits that the
//! caller provides.

pub mod capture;
pub mod cassette;
pub mod conversation;
pub mod envelope;
pub mod era;
pub mod event;
pub mod filter;
pub mod http_exchange;
pub mod json;
pub mod listing;
pub mod made_in;
pub mod near;
pub mod order;
pub mod patience;
pub mod published;
pub mod recording;
pub mod redact;
pub mod schema_cost;
pub mod scrub;
pub mod slices;
pub mod summary;
pub mod tape;
pub mod volatile;
pub mod waits;
