//! The wires over recorded exchanges, and the laws of reading and writing.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

mod laws;
mod recorded;
mod responses;
mod samples;
mod support;
