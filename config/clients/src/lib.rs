//! The configuration files of MCP clients: their locations, the servers in them, and how an entry
//! is wrapped with the recorder and restored.
//!
//! [`CLIENTS`] is one table of clients. [`Document::read`] reads a file of one of them,
//! [`Document::wrap`] and [`Document::unwrap`] return the byte ranges that change; the rest of a
//! file never does: nothing is serialized again. Entries that cannot be changed in this way are
//! refused, with the change to make by hand.
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
