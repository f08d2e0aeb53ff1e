//! The meaning of JSON text, for comparison: trees of spans, canonical forms, differences.

mod apart;
mod canon;
mod compact;
mod compare;
mod ignore;
pub(crate) mod lists;
pub(crate) mod tree;

use tapewright_schemas::json::number;
pub(crate) use tapewright_schemas::redact::hidden as placeholder;
pub(crate) use tapewright_schemas::volatile;

pub(crate) use canon::{Aliases, Canon, Detail, pattern_places, write_canon};
pub(crate) use compact::compact;
pub(crate) use compare::{Comparison, compare, shown};
pub(crate) use placeholder::is_likely as is_likely_redacted;
pub(crate) use tree::{NodeId, Tree};

pub use compare::Difference;
pub use ignore::{Ignore, IgnoreError};
