//! Model-compatibility baselines: what a model said and which tools it called, exchange by
//! exchange, and how another model, or the same one later, differs from it.
//!
//! Everything here is pure. [`Baseline`] is the file: it is read with JSON pointers in its
//! errors, keeps what it does not know, and is written canonically. [`exchanges`] makes it out
//! of the trace of an agent's run, [`merge`] out of several runs of the same model, [`compare`]
//! tells how a candidate differs from it, by the table of the format, and which of the
//! differences are noise. Differences are typed; their wording is made in the report.

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
