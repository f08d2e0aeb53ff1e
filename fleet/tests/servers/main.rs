//! The complete program with other servers and engines: moto, `nats-server`, s3s-fs, `ClickHouse`
//! and `DuckDB`. `.ci/fleet` and `fleet/chaos` start or install them and run this target by name.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod clickhouse;
mod duckdb;
mod killed_store;
mod moto;
mod nats;
#[path = "../support/mod.rs"]
mod support;
