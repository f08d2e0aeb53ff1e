//! The rules, one family to a file.
//!
//! A rule is one static item with its examples. It looks at one message, and at the
//! session as it stands before it, and says what it found.

mod capability;
mod error;
mod initialize;
mod tool_result;

use crate::invariant::Invariant;

/// Every rule, in the order of the codes.
pub(crate) const ALL: &[&Invariant] = &[
    &initialize::FIRST,
    &initialize::INITIALIZED,
    &capability::LISTED,
    &capability::USABLE,
    &tool_result::SHAPE,
    &error::ENVELOPE,
    &error::UNKNOWN_METHOD,
];
