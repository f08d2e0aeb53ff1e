//! JSON as text: parsed, never rewritten.
//!
//! A recorder may not change what it records, so nothing here builds a tree. A [`Scanner`] walks
//! the bytes once, validates the grammar of RFC 8259 and yields byte ranges; [`find`] follows a
//! path of member names; [`unescape`] and [`escape`] convert between a string's source text and its
//! value.

mod grammar;
mod nesting;
pub mod number;
mod path;
mod plain;
mod same;
mod scanner;
mod skip;
mod string;

pub(crate) use grammar::members_end;
pub(crate) use path::{Members, visit_behind, visit_members};
pub use path::{find, members};
pub use same::is_same;
pub(crate) use scanner::is_grammatical;
pub use scanner::{Invalid, MAX_DEPTH, Scanner, Span, Text, Token, is_valid};
pub use skip::{valid_elements, valid_member, valid_members};
pub use string::{Unescaped, escape, push_number, raw_offset, unescape};
