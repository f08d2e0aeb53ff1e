//! Counts pairs of verdicts on examples.

use std::cmp::Ordering;

/// How often a judge and a person came to each combination of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Both pass it.
    pub true_pass: u32,
    /// The judge passes it, the person does not.
    pub false_pass: u32,
    /// The judge does not pass it, the person does.
    pub false_fail: u32,
    /// Neither passes it.
    pub true_fail: u32,
}

impl Confusion {
    /// Counts pairs of a label and a verdict.
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (label, verdict) in pairs {
            let count = match (label, verdict) {
                (true, true) => &mut counts.true_pass,
                (false, true) => &mut counts.false_pass,
                (true, false) => &mut counts.false_fail,
                (false, false) => &mut counts.true_fail,
            };
            *count = count.saturating_add(1);
        }
        counts
    }

    /// The number of examples.
    #[must_use]
    pub fn total(&self) -> u64 {
        let counts = [
            self.true_pass,
            self.false_pass,
            self.false_fail,
            self.true_fail,
        ];
        counts.into_iter().map(u64::from).sum()
    }

    /// The share on which both agree; `None` without examples.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        let agreed = u64::from(self.true_pass) + u64::from(self.true_fail);
        ratio(agreed.into(), self.total().into())
    }

    /// Cohen's kappa: the agreement beyond chance, 1 for full and 0 for none (J. Cohen, "A
    /// coefficient of agreement for nominal scales", 1960). `None` if chance alone would agree on
    /// everything: both have the same verdict on all.
    #[must_use]
    pub fn kappa(&self) -> Option<f64> {
        let (above, below) = self.kappa_ratio();
        ratio(above, below)
    }

    /// Compares the kappa of two, without rounding; one without kappa is least.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let ((above, below), (others, their)) = (self.kappa_ratio(), other.kappa_ratio());
        match (below, their) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Less,
            (_, 0) => Ordering::Greater,
            _ => wide(above, their).cmp(&wide(others, below)),
        }
    }

    /// `(po - pe) / (1 - pe)` of a table of two by two, multiplied out: `2 (ad - bc)` over `(a +
    /// b)(b + d) + (a + c)(c + d)`. The absolute value of the numerator is at most the denominator.
    fn kappa_ratio(&self) -> (i128, i128) {
        let [a, b, c, d] = [
            self.true_pass,
            self.false_pass,
            self.false_fail,
            self.true_fail,
        ]
        .map(i128::from);
        (2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d))
    }
}

/// The product of two factors of up to 2^67 each, as parts that compare in order.
fn wide(one: i128, other: i128) -> (i128, i128) {
    let base = 1_i128 << 60;
    let (high, low) = (one.div_euclid(base), one.rem_euclid(base));
    let (upper, lower) = (high * other, low * other);
    (upper + lower.div_euclid(base), lower.rem_euclid(base))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio need not be exact")]
fn ratio(above: i128, below: i128) -> Option<f64> {
    (below != 0).then(|| above as f64 / below as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table([true_pass, false_pass, false_fail, true_fail]: [u32; 4]) -> Confusion {
        Confusion {
            true_pass,
            false_pass,
            false_fail,
            true_fail,
        }
    }

    /// Tables and their kappa as they are published: the first three in the article on
    /// Cohen's kappa of Wikipedia, the fourth in J. Sim and C. C. Wright, "The Kappa Statistic
    /// in Reliability Studies", 2005 (table 1), the last two in A. R. Feinstein and D. V.
    /// Cicchetti, "High agreement but low kappa", 1990.
    #[test]
    fn published_tables_have_their_published_kappa() {
        for (counts, accuracy, kappa) in [
            ([20, 5, 10, 15], 0.70, 0.4000),
            ([45, 15, 25, 15], 0.60, 0.1304),
            ([25, 35, 5, 35], 0.60, 0.2593),
            ([22, 2, 4, 11], 0.8462, 0.67),
            ([40, 9, 6, 45], 0.85, 0.70),
            ([80, 10, 5, 5], 0.85, 0.32),
        ] {
            let table = table(counts);
            let near = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 0.005;
            assert!(near(table.accuracy(), accuracy), "{table:?}");
            assert!(near(table.kappa(), kappa), "{table:?} {:?}", table.kappa());
        }
    }

    #[test]
    fn where_chance_agrees_on_everything_there_is_no_kappa() {
        assert_eq!(table([9, 0, 0, 0]).kappa(), None);
        assert_eq!(table([0, 0, 0, 9]).kappa(), None);
        assert_eq!(table([0; 4]).accuracy(), None);
        assert_eq!(table([0, 9, 0, 0]).kappa(), Some(0.0));
        let most = table([u32::MAX; 4]);
        assert_eq!(
            (most.kappa(), most.compare(&most)),
            (Some(0.0), Ordering::Equal)
        );
    }

    proptest! {
        #[test]
        fn it_is_what_the_definition_says(counts in prop::array::uniform4(0_u32..5_000)) {
            let table = table(counts);
            let [a, b, c, d] = counts.map(f64::from);
            let n = a + b + c + d;
            let (agreed, chance) = ((a + d) / n, ((a + b) * (a + c) + (c + d) * (b + d)) / (n * n));
            match table.kappa() {
                None => prop_assert!(n == 0.0 || (chance - 1.0).abs() < 1e-12),
                Some(kappa) => {
                    prop_assert!((-1.0..=1.0).contains(&kappa));
                    prop_assert!((kappa - (agreed - chance) / (1.0 - chance)).abs() < 1e-6);
                }
            }
        }

        #[test]
        fn neither_who_judges_nor_what_is_called_a_pass_matters(
            counts in prop::array::uniform4(any::<u32>())
        ) {
            let [a, b, c, d] = counts;
            let kappa = table(counts).kappa();
            prop_assert_eq!(table([a, c, b, d]).kappa(), kappa);
            prop_assert_eq!(table([d, c, b, a]).kappa(), kappa);
            prop_assert_eq!(table([a, b, c, d]).compare(&table([d, c, b, a])), Ordering::Equal);
            if a > 0 && d > 0 {
                prop_assert_eq!(table([a, 0, 0, d]).kappa(), Some(1.0));
            }
        }

        #[test]
        fn comparing_is_that_of_the_numbers(
            one in prop::array::uniform4(any::<u32>()), other in prop::array::uniform4(any::<u32>())
        ) {
            let (one, other) = (table(one), table(other));
            prop_assert_eq!(one.compare(&other), other.compare(&one).reverse());
            let (mine, theirs) = (one.kappa(), other.kappa());
            if let (Some(mine), Some(theirs)) = (mine, theirs)
                && (mine - theirs).abs() > 1e-9
            {
                prop_assert_eq!(Some(one.compare(&other)), mine.partial_cmp(&theirs));
            }
        }
    }
}
