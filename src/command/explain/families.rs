//! What can be explained: families of codes, each with its list and its pages.

use super::{faults, invariants};

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
pub(super) const FAMILIES: &[Family] = &[invariants::FAMILY, faults::FAMILY];

/// The names that a word may have been meant for, the likeliest first.
pub(super) fn near(word: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let wanted = word.trim().to_ascii_lowercase();
    let mut likely: Vec<(f64, String)> = names
        .map(|name| {
            let like = strsim::normalized_damerau_levenshtein(&wanted, &name.to_ascii_lowercase());
            (like, name)
        })
        .filter(|(like, _)| *like >= ALIKE)
        .collect();
    likely.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    likely.truncate(SHOWN);
    likely.into_iter().map(|(_, name)| name).collect()
}

/// From here on two words are alike: one letter in five may differ.
const ALIKE: f64 = 0.8;
/// How many names are suggested at most.
const SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let names = || ["INV-001", "INV-012", "fault:hang"].map(str::to_owned);
        assert_eq!(near("ivn-012", names().into_iter()), ["INV-012"]);
        assert_eq!(near("fault:hnag", names().into_iter()), ["fault:hang"]);
        assert!(near("something else", names().into_iter()).is_empty());
    }
}
