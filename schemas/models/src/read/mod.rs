//! Parsing JSON with the position of errors.

mod data_url;
mod error;
mod members;

pub(crate) use data_url::{data_url, of_data_url};
pub use error::{Problem, ReadError};
pub(crate) use members::{Members, each, kind};
use serde_json::Value;

/// The maximum length of a body, or of everything that is kept of a stream.
pub const MAX_BYTES: usize = 64 << 20;

/// A body as JSON; serde reads at most 128 levels.
pub(crate) fn json(body: &[u8]) -> Result<Value, ReadError> {
    if body.len() > MAX_BYTES {
        return Err(ReadError::new(Problem::TooLong {
            limit: MAX_BYTES,
            unit: "bytes",
        }));
    }
    serde_json::from_slice(body).map_err(|error| ReadError::not_json(&error))
}
