//! Reading a tree into typed values, and reporting errors at their positions.
//!
//! A reader never stops: it notes an issue, returns a value of the right type, and continues, so
//! that one run finds many errors. The result is only used if there were none.

mod cursor;
mod fields;
mod grammar;
mod values;

pub(crate) use cursor::{Context, Cursor, Phase};
pub(crate) use fields::Fields;
pub(crate) use grammar::is_header_name;
