//! Many recorders, one store: ships the tapes of tapewright to a folder or a bucket, and brings them back.
//!
//! The recorder writes its tape on its own disk and knows nothing of this. See docs/fleet.md.

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

/// Program and version, as entries tell who wrote them.
pub const BY: &str = concat!("tapewright-fleet ", env!("CARGO_PKG_VERSION"));
