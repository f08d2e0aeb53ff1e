//! Compliance corpora: the rules of each revision of MCP as data, applied to live servers and to
//! recordings.
//!
//! The package is pure. `tapewright-config` parses the rules ([`rule`]); observations come from
//! live servers or from recordings, and are judged here by the same code.
//!
//! ```text
//! corpus, registry ──▶ Plan ─┬─ live: a question per assertion ──▶ Observation ─┬─ judge ──▶ Tally ──▶ outcomes ──▶ score
//!                            └─ Recorded: a fold over events ─────▶ Observation ─┘
//! ```

pub mod changes;
pub mod diff;
mod embedded;
pub mod gate;
pub mod inventory;
pub mod judge;
pub mod migrate;
pub mod migration;
pub mod missing_resource;
pub mod observation;
pub mod official;
pub mod page;
pub mod placeholder;
pub mod plan;
pub mod recorded;
pub mod registry;
pub mod revision;
pub mod rounds;
mod schema;
pub mod score;
pub mod verdict;
pub mod version;

pub use diff::{VersionDiff, diff_versions};
pub use gate::{Gate, GateError, spec_version_check};
pub use tapewright_config::corpus as rule;
pub use version::VersionCorpus;
