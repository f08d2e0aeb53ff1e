//! Compliance corpora: the rules of each revision of MCP as data, carried out against live servers and over recordings.
//!
//! The package is pure. What a rule says is read by `tapewright-config` ([`rule`]); who asks a server and who reads a
//! recording give observations, which are judged here by the same code.

mod embedded;
pub mod migrate;
pub mod migration;
pub mod missing_resource;
pub mod official;
pub mod registry;
pub mod version;

pub use tapewright_config::corpus as rule;
pub use version::VersionCorpus;
