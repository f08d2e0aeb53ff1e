//! Compliance corpora: the rules of each revision of MCP as data, carried out against live servers and over recordings.
//!
//! The package is pure. What a rule says is read by `tapewright-config` ([`rule`]); who asks a server and who reads a
//! recording give observations, which are judged here by the same code.

pub mod changes;
pub mod diff;
mod embedded;
pub mod gate;
pub mod migrate;
pub mod migration;
pub mod missing_resource;
pub mod official;
pub mod page;
pub mod registry;
pub mod version;

pub use diff::{VersionDiff, diff_versions};
pub use gate::{Gate, GateError, spec_version_check};
pub use tapewright_config::corpus as rule;
pub use version::VersionCorpus;
