//! The client, against servers that do what a test specifies.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod asking;
mod endings;
mod limits;
mod openings;
mod server;
