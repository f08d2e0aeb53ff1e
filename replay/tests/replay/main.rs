//! What a recording answers, as function calls: no IO, and a clock that the test moves.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail"
)]

mod disk;
mod eras;
mod files;
mod law;
mod matching;
mod misses;
mod models;
mod names;
mod order;
mod pace;
mod paths;
mod playing;
mod secrets;
mod stage;
