//! Responses that come in pieces.

mod array;
mod draft;
mod fold;
mod frame;
mod reader;

pub(crate) use draft::{Draft, MAX_BLOCKS};
pub use fold::{Ended, Fold};
pub(crate) use frame::pieces;
pub use frame::{Frame, write_array};
pub use reader::StreamReader;
