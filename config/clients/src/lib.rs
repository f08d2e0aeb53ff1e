//! The configuration files of MCP clients: where they are, which servers stand in them, and
//! how an entry is wrapped with the recorder and put back.
//!
//! [`CLIENTS`] is one table of clients. [`Document::read`] reads a file of one of them,
//! [`Document::wrap`] and [`Document::unwrap`] say which byte ranges change, and nothing else
//! of a file ever does: nothing is serialized again. What cannot be changed in this way is
//! refused with the change to make by hand.
//!
//! The package is pure: texts, folders and environment are arguments.

mod client;
mod diff;
mod document;
mod edit;
mod entry;
mod format;
mod join;
mod node;
mod places;
mod refusal;
mod shape;
mod table;
mod unwrap;
mod wrap;

pub use client::{Base, Client, KnownFile, Note, Scope, System};
pub use diff::unified;
pub use document::{Document, Server, Transport};
pub use edit::{Edit, apply};
pub use entry::{Run, entry};
pub use format::{Format, Unreadable};
pub use places::{Candidate, PathEnvironment, candidates};
pub use refusal::{Refusal, RefusalReason};
pub use shape::{Command, Kind, Shape};
pub use table::{CLIENTS, client};
pub use unwrap::Restored;
pub use wrap::{Meaning, OriginalEntry, Part, RecordOptions, Slice, Wrapped};
