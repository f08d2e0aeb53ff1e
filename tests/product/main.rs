//! Whole-product tests: the real binary between real processes.
//!
//! One program, so that it is linked once. A new test belongs in the module of its subject.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::float_cmp,
    clippy::indexing_slicing,
    clippy::items_after_statements,
    clippy::large_stack_arrays,
    clippy::string_slice,
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "a test may fail, measures how long it waits, and keeps its table in one place"
)]

#[path = "../support/mod.rs"]
mod support;

mod cli;
mod compliance;
#[cfg(unix)]
mod docs;
#[cfg(unix)]
mod endings;
mod faults;
mod files;
mod hostile;
mod http;
mod http_rmcp;
mod kill;
mod law;
mod log;
#[cfg(unix)]
mod long;
mod manners;
mod mcp;
mod migrate;
mod models;
mod otlp;
mod page;
mod processes;
mod provider;
mod replay;
mod rmcp;
mod secrets;
#[cfg(unix)]
mod shell;
mod suite;
mod verify;
mod wrap;
