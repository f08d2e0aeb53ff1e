//! Tests of the complete program.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod bucket;
mod kills;
mod page;
mod query;
mod s3;
#[path = "../support/mod.rs"]
mod support;
mod words;
