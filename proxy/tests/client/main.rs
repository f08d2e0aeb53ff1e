//! The client, against servers that do what a test tells them to.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod asking;
mod endings;
mod limits;
mod openings;
mod server;
