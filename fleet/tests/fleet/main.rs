//! The whole program, as its users run it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod bucket;
mod clickhouse;
mod growth;
mod kills;
mod nats;
mod page;
mod query;
mod s3;
mod stores;
mod support;
mod words;
