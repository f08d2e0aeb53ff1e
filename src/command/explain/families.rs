//! The families of codes that can be explained, each with its list and its pages.

use super::{answers, corpus, doctor, faults, invariants, suites};

/// One family of codes.
pub(super) struct Family {
    /// The heading of its list.
    pub(super) title: &'static str,
    /// Every name of the family, in order, with one line about it.
    pub(super) list: fn() -> Vec<(String, String)>,
    /// The page of a code, if it belongs to the family.
    pub(super) page: fn(&str) -> Option<String>,
}

/// Every family. Add a new kind of code here.
pub(super) const FAMILIES: &[Family] = &[
    invariants::FAMILY,
    corpus::FAMILY,
    doctor::FAMILY,
    faults::FAMILY,
    answers::FAMILY,
    suites::FAMILY,
];
