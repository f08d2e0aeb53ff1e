//! The threshold with which scores agree best with labels.

use std::cmp::Ordering;

use super::{Confusion, Labelled};

/// A threshold, and how well the judge would agree with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposal {
    /// The least score that passes.
    pub threshold: f64,
    /// The verdicts with it.
    pub confusion: Confusion,
}

/// Why no threshold is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoProposal {
    /// There is no score.
    NoScores,
    /// All labels are the same.
    OneLabel,
    /// No threshold agrees better than chance does.
    Chance,
}

/// The threshold with the greatest kappa. Thresholds between the same two scores are equivalent,
/// and their middle is used; of several equally good ones, the middle one, and of two in the
/// middle, the stricter one.
pub fn propose(examples: &[Labelled]) -> Result<Proposal, NoProposal> {
    if examples.is_empty() {
        return Err(NoProposal::NoScores);
    }
    if examples.iter().all(|one| one.label) || !examples.iter().any(|one| one.label) {
        return Err(NoProposal::OneLabel);
    }
    let mut scores: Vec<f64> = examples.iter().map(|one| one.score).collect();
    scores.sort_by(f64::total_cmp);
    scores.dedup();
    let mut best: Vec<Proposal> = Vec::new();
    for (below, least) in scores.iter().zip(scores.iter().skip(1)) {
        let found = Proposal {
            threshold: between(*below, *least),
            confusion: verdicts(examples, *least),
        };
        let order = best.first().map_or(Ordering::Greater, |known| {
            found.confusion.compare(&known.confusion)
        });
        match order {
            Ordering::Less => {}
            Ordering::Equal => best.push(found),
            Ordering::Greater => best = vec![found],
        }
    }
    let middle = best.get(best.len() / 2).copied();
    let better = middle.filter(|one| one.confusion.kappa().is_some_and(|kappa| kappa > 0.0));
    better.ok_or(NoProposal::Chance)
}

fn verdicts(examples: &[Labelled], threshold: f64) -> Confusion {
    Confusion::of(
        examples
            .iter()
            .map(|one| (one.label, one.score >= threshold)),
    )
}

/// A number above one score and not above the next: their middle, rounded to two digits if that
/// remains between them.
fn between(below: f64, least: f64) -> f64 {
    let fits = |one: &f64| below < *one && *one <= least;
    let middle = f64::midpoint(below, least);
    let short = (middle * 100.0).round() / 100.0;
    [short, middle].into_iter().find(fits).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn examples(pairs: &[(bool, f64)]) -> Vec<Labelled> {
        let one = |(label, score): &(bool, f64)| Labelled {
            label: *label,
            score: *score,
        };
        pairs.iter().map(one).collect()
    }

    fn threshold(pairs: &[(bool, f64)]) -> Result<f64, NoProposal> {
        propose(&examples(pairs)).map(|found| found.threshold)
    }

    #[test]
    fn the_threshold_is_the_middle_of_those_that_agree_best() {
        // All agree between 0.3 and 0.8.
        let apart = [(false, 0.1), (false, 0.3), (true, 0.8), (true, 0.9)];
        assert_eq!(threshold(&apart), Ok(0.55));
        // Equally good: above 0.2 and above 0.6, each with one wrong verdict.
        let tied = [(false, 0.2), (true, 0.4), (false, 0.6), (true, 0.8)];
        assert_eq!(threshold(&tied), Ok(0.7));
        // 0.9 is the score of both a pass and a fail: above 0.5 and above 0.9 are equally good.
        let both = [(false, 0.9), (true, 0.9), (true, 1.0), (false, 0.5)];
        assert_eq!(threshold(&both), Ok(0.95));
        let close = [(false, 0.701), (true, 0.702)];
        assert!((threshold(&close).unwrap() - 0.7015).abs() < 1e-9);
        let touching = [(false, 0.5), (true, 0.5_f64.next_up())];
        assert_eq!(threshold(&touching), Ok(0.5_f64.next_up()));
    }

    #[test]
    fn without_a_better_one_there_is_none() {
        assert_eq!(threshold(&[]), Err(NoProposal::NoScores));
        assert_eq!(
            threshold(&[(true, 0.2), (true, 0.9)]),
            Err(NoProposal::OneLabel)
        );
        assert_eq!(
            threshold(&[(false, 0.2), (false, 0.9)]),
            Err(NoProposal::OneLabel)
        );
        assert_eq!(
            threshold(&[(true, 0.5), (false, 0.5)]),
            Err(NoProposal::Chance)
        );
        assert_eq!(
            threshold(&[(true, 0.1), (false, 0.9)]),
            Err(NoProposal::Chance)
        );
    }

    fn labelled() -> impl Strategy<Value = Vec<Labelled>> {
        let one = (any::<bool>(), 0_u32..=20).prop_map(|(label, steps)| Labelled {
            label,
            score: f64::from(steps) / 20.0,
        });
        prop::collection::vec(one, 0..60)
    }

    proptest! {
        #[test]
        fn no_threshold_agrees_better(examples in labelled()) {
            let found = propose(&examples);
            for step in 0..=200_u32 {
                let other = verdicts(&examples, f64::from(step) / 200.0);
                match &found {
                    Ok(found) => prop_assert!(other.compare(&found.confusion) != Ordering::Greater),
                    Err(_) => prop_assert!(other.kappa().is_none_or(|kappa| kappa <= 0.0)),
                }
            }
        }

        #[test]
        fn the_verdicts_are_those_with_the_threshold(mut examples in labelled()) {
            let found = propose(&examples);
            if let Ok(found) = found {
                prop_assert_eq!(verdicts(&examples, found.threshold), found.confusion);
                prop_assert!((0.0..=1.0).contains(&found.threshold));
            }
            examples.reverse();
            prop_assert_eq!(propose(&examples), found);
        }
    }
}
