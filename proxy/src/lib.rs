//! Transports and the recorder.
//!
//! This crate transports bytes; their meaning is decided in [`tapewright_engine`] and
//! [`tapewright_schemas`], which do not use descriptors, threads or clocks.
//!
//! The stdio path uses plain blocking threads, one per direction: on a pipe a read and a write are
//! the whole cost of a hop, and a blocked direction cannot delay another one.

pub mod agent;
pub mod behind;
pub mod bridge;
pub mod client;
pub mod clock;
pub mod control;
pub mod front;
pub mod growth;
pub mod http;
pub mod operations;
pub mod page;
pub mod provider;
pub mod record;
pub mod stdio;
pub mod system;
#[cfg(test)]
mod told;
pub mod traces;
pub mod upstream;
