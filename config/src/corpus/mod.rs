//! Corpora: the rules of one revision of MCP as data, and the registry of all rules.
//!
//! A corpus file defines how a rule is tested: the request, and the conditions for the response.
//! The meaning of an expectation is not defined here; `tapewright-corpus` implements it.

mod baseline;
mod call;
mod expect;
mod load;
mod names;
mod placeholder;
mod registry;
mod rule;
mod rules;

pub use baseline::{Baseline, KnownFailure};
pub(crate) use load::read_file;
pub use load::{Read, load_baseline, load_corpus, load_registry, read_corpus, read_registry};
pub use names::{CATEGORIES, DRAFT, category_of, is_rule_id};
pub use placeholder::{PLACEHOLDERS, Placeholder};
pub use rule::{
    Applies, Call, CorpusFile, ErrorExpect, MatchMode, NotificationStream, RegisteredRule,
    Registry, Rule, RuleAssertion, RuleExpect, Section, ServerRequest, Severity,
    TransportObservation,
};
