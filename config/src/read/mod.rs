//! Reading a tree into typed values, and saying at the offending place what is wrong.
//!
//! A reader never stops: it notes an issue, gives back something of the right type, and
//! goes on, so that one run finds many mistakes. What was read is used only if there was
//! none.

mod cursor;
mod fields;
mod grammar;
mod values;

pub(crate) use cursor::{Context, Cursor, Phase};
pub(crate) use fields::Fields;
pub(crate) use grammar::is_header_name;
