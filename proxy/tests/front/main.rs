//! The front that serves stdio servers to HTTP clients, byte by byte.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod beside;
mod client;
mod endings;
mod fake;
#[path = "../support/front_server.rs"]
mod front_server;
mod legacy;
mod recorded;
mod sessions;
mod stateless;
mod statuses;
mod streams;
