//! The bridge from a client on stdio to a server on HTTP, against scripted servers.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod endings;
mod errors;
mod legacy;
mod order;
mod server;
mod session;
mod stateless;
mod streams;
mod talk;
