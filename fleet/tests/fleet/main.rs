//! The whole program, as its users run it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod kills;
mod page;
mod support;
mod words;
