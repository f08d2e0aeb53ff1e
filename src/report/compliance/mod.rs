//! What `compliance` says.

mod json;
mod pretty;

pub(crate) use self::json::json;
pub(crate) use self::pretty::pretty;
