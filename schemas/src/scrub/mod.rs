//! Taking secrets out of files that were written without, or before, a rule for them.
//!
//! Every byte that is no secret stays: member order, white space, numbers, line ends. The
//! same value gets the same placeholder across one file, and placeholders that already
//! stand in it keep their meaning, so that scrubbing twice changes nothing more.

mod cassette;
mod document;
mod http;
mod splice;
pub mod stream;
mod tape;

pub use document::{FoundSecret, document};
pub use tape::TapeScrubber;
