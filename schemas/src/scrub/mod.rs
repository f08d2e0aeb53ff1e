//! Removes secrets from files that were written without, or before, a rule for them.
//!
//! All other bytes are kept: member order, white space, numbers, line ends. The same value gets the
//! same placeholder across one file, and existing placeholders keep their meaning, so that
//! scrubbing twice has no further effect.

mod cassette;
mod document;
mod http;
mod lines;
mod splice;
pub mod stream;
mod tape;

pub use document::{FoundSecret, document};
pub use lines::{LineReader, Lines};
pub use tape::TapeScrubber;
