//! Assertions as written in a suite, and their results.

#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test may fail, and keeps its table in one place"
)]

mod expectations;
mod failures;
mod mistakes;
mod outcomes;
mod scoring;
mod support;
