//! Ships the tapes of many recorders to one store, a folder or a bucket, and fetches them.
//!
//! The recorder writes its tape to its own disk, independent of this program. See docs/fleet.md.

#![cfg_attr(
    test,
    expect(
        clippy::cast_possible_truncation,
        clippy::string_slice,
        reason = "a test may fail"
    )
)]

pub mod announce;
pub mod chain;
pub mod clock;
pub mod disk;
pub mod entry;
pub mod fetch;
pub mod hash;
pub mod list;
pub mod names;
pub mod rows;
pub mod scrub;
pub mod segment;
pub mod ship;
pub mod store;
pub mod summary;
pub mod sweep;
pub mod tail;
#[cfg(test)]
mod testing;

/// Program and version, for the entries that it writes.
pub const BY: &str = concat!("tapewright-fleet ", env!("CARGO_PKG_VERSION"));
