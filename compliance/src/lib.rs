//! Judging sessions of MCP by invariants, each a named property of a whole session.
//!
//! A [`Checker`] folds over events and does not depend on files, clocks or sockets, so a live
//! session and one from disk are judged by the same code. All invariants are in one static
//! [`table`]; `explain`, the documentation page and the examples that the tests run are generated
//! from it.

pub mod baseline;
pub mod capture;
mod carrier;
mod checker;
pub mod code;
pub mod composition;
mod facts;
mod fields;
pub mod finding;
mod http;
mod id;
mod invariant;
pub mod live;
mod message;
mod method;
pub mod page;
mod plain;
pub mod reduce;
pub mod revision;
mod rules;
pub mod script;
mod session;
mod shapes;
pub mod table;
mod value;

pub use carrier::Carriers;
pub use checker::{Checker, Judged, Outcome, Selection, SelectionError};
pub use facts::{Facts, Keeps, Transport};
pub use invariant::{Basis, Invariant, Levels, Responsible};
pub use session::lists::LEVELS as LOG_LEVELS;
