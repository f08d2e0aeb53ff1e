//! Ids and texts, in the form in which they are compared.

use std::hash::{DefaultHasher, Hasher as _};

/// An id or a token, compared by value, so that `8`, `8.0` and `8e0` are equal.
pub(crate) use tapewright_schemas::conversation::IdKey as Key;

/// The hash of some bytes: the same in every run.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
