//! Model-compatibility baselines: a model's answers and tool calls, exchange by exchange, and how
//! another model, or the same one later, differs from them.
//!
//! Everything here is pure. [`Baseline`] is the file: errors have JSON pointers, unknown members
//! are preserved, and the output is canonical. [`exchanges`] creates it from the trace of an
//! agent's run, [`merge`] from several runs of the same model, and [`compare`] determines how a
//! candidate differs from it, by the table of the format, and which differences are noise.
//! Differences are typed; the report puts them into words.

mod capture;
mod compare;
mod config;
mod file;
mod fingerprint;
mod glob;
mod invariant;
mod runs;

pub use capture::{exchanges, model_version};
pub use compare::{
    ArgumentChange, ArgumentKind, Category, Change, Comparison, Entry, Field, IdentityChange,
    InvariantResult, Options, Outcome, Severity, Summary, TextChange, compare,
};
pub use config::config_hash;
pub use file::{
    Answer, Baseline, Ended, Exchange, FORMAT, Identity, MAX_BYTES, Members, Problem, ReadError,
    Rules, SCHEMA, ToolCall, UNKNOWN, canonical, read_invariants,
};
pub use fingerprint::{Fingerprint, digest};
pub use glob::Glob;
pub use invariant::{Condition, Invariant, Violation};
pub use runs::{MOST_RUNS, merge};
