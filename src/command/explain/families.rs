//! What can be explained: families of codes, each with its list and its pages.

use super::{corpus, faults, invariants};

/// One family of codes.
pub(super) struct Family {
    /// What stands above its list.
    pub(super) title: &'static str,
    /// Every name of the family, in order, with one line about it.
    pub(super) list: fn() -> Vec<(String, String)>,
    /// The page of a word, if it names one of the family.
    pub(super) page: fn(&str) -> Option<String>,
}

/// Every family. A new kind of code adds itself here.
pub(super) const FAMILIES: &[Family] = &[invariants::FAMILY, corpus::FAMILY, faults::FAMILY];
