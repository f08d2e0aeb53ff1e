//! Differences between runs of the same model.
//!
//! A difference is noise if runs of one side differ at the same place. Where a difference would
//! fail, some run must also agree with the baseline: a tool that is called with another value each
//! time, and never with the right one, is not noise.

use std::collections::BTreeSet;

use super::aspect::Aspect;
use super::differences;
use super::entry::{Change, Severity};
use crate::file::{Answer, Exchange};

/// Every difference between two exchanges, and whether it is noise.
pub(super) fn changes(before: &Exchange, after: &Exchange) -> Vec<(Change, bool)> {
    let first = differences(&before.answer, &after.answer);
    if before.variants.is_empty() && after.variants.is_empty() {
        return first.into_iter().map(|change| (change, false)).collect();
    }
    let known = ObservedDifferences::of(before, after);
    let mut told: BTreeSet<Aspect> = BTreeSet::new();
    let mut all = Vec::new();
    for change in first {
        told.extend(change.places());
        let is_noise = known.is_noise(&change);
        all.push((change, is_noise));
    }
    // Differences that only a further run of the candidate has.
    for variant in &after.variants {
        for change in differences(&before.answer, variant) {
            let places = change.places();
            if places.iter().any(|place| !told.contains(place)) {
                told.extend(places);
                all.push((change, true));
            }
        }
    }
    all
}

/// The observed differences.
struct ObservedDifferences {
    /// Differences within one side.
    itself: BTreeSet<Aspect>,
    /// Between the sides, for each pair of runs.
    pairs: Vec<BTreeSet<Aspect>>,
}

impl ObservedDifferences {
    fn of(before: &Exchange, after: &Exchange) -> Self {
        let mut itself = BTreeSet::new();
        for side in [before, after] {
            for (at, one) in side.answers().enumerate() {
                for other in side.answers().skip(at + 1) {
                    itself.extend(places(one, other));
                }
            }
        }
        let pairs = before.answers().flat_map(|one| {
            let others = after.answers();
            others.map(move |other| places(one, other))
        });
        Self {
            itself,
            pairs: pairs.collect(),
        }
    }

    fn is_noise(&self, change: &Change) -> bool {
        let places = change.places();
        let varies = !places.is_empty() && places.iter().all(|place| self.itself.contains(place));
        let (_, severity) = change.class();
        let agrees = |place: &Aspect| self.pairs.iter().any(|pair| !pair.contains(place));
        varies && (severity != Severity::Fail || places.iter().all(agrees))
    }
}

fn places(one: &Answer, other: &Answer) -> BTreeSet<Aspect> {
    let changes = differences(one, other);
    changes.iter().flat_map(Change::places).collect()
}
