//! What a recording answers, as function calls: without IO, and with a clock that the test
//! controls.

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
