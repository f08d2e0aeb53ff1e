//! Whole-product tests: the real binary between real processes.
//!
//! One program, so that it links once. A new test goes into the module of its subject.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail, and measures how long it waits"
)]

#[path = "../support/mod.rs"]
mod support;

mod cli;
mod endings;
mod files;
mod http;
mod http_rmcp;
mod kill;
mod law;
mod manners;
mod rmcp;
mod secrets;
