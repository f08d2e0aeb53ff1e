//! The most that runs may cost.

use std::fmt;

use tapewright_models::prices::Unknown;

/// One US cent in millionths.
const CENT: u64 = 1_000_000;

/// The most that agents may cost, in US cents; `None` for any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// One test: `budget.per_test_usd_cents`.
    pub test: Option<u64>,
    /// The suite: `budget.per_suite_usd_cents`.
    pub suite: Option<u64>,
    /// The whole command, in millionths of a cent: `--max-cost`.
    pub command: Option<u64>,
}

/// The money spent, in millionths of a US cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// In this test.
    pub test: u64,
    /// In the suite.
    pub suite: u64,
    /// In the command.
    pub command: u64,
}

/// A cap on money cannot be enforced, since the price of the model is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot enforce a cost limit: the price of `{model}` is unknown ({why})")]
pub struct NoPrice {
    /// The model.
    pub model: String,
    /// What is unknown.
    pub why: Unknown,
}

/// A cap on money that stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    cap: &'static str,
    whose: &'static str,
    limit: u64,
    spent: u64,
}

impl Caps {
    /// Whether any cap is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.test.is_some() || self.suite.is_some() || self.command.is_some()
    }

    /// The cap that stops a run that has spent this much, as an error message; `before` another
    /// request, reaching the cap is enough.
    #[must_use]
    pub fn stops(&self, spent: &Spent, before: bool) -> Option<String> {
        let cents = |cap: Option<u64>| cap.map(|cap| cap.saturating_mul(CENT));
        let caps = [
            (
                "`budget.per_test_usd_cents`",
                "this test",
                cents(self.test),
                spent.test,
            ),
            (
                "`budget.per_suite_usd_cents`",
                "the suite",
                cents(self.suite),
                spent.suite,
            ),
            ("`--max-cost`", "the command", self.command, spent.command),
        ];
        let over = |(cap, whose, limit, spent): (&'static str, &'static str, Option<u64>, u64)| {
            let limit = limit?;
            let stops = spent > limit || before && spent >= limit;
            stops.then_some(Over {
                cap,
                whose,
                limit,
                spent,
            })
        };
        caps.into_iter().find_map(over).map(|over| over.to_string())
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cap,
            whose,
            limit,
            spent,
        } = self;
        let (spent, limit) = (dollars(*spent), dollars(*limit));
        write!(f, "{cap}: {whose} cost {spent}; at most {limit} is allowed")
    }
}

/// Millionths of a cent as dollars.
fn dollars(amount: u64) -> String {
    let text = format!("{}.{:08}", amount / (100 * CENT), amount % (100 * CENT));
    let short = text.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(0, |at| at + 1);
    format!("${short}{}", "0".repeat(2_usize.saturating_sub(decimals)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cap_that_is_crossed_stops() {
        let caps = Caps {
            test: Some(1),
            suite: Some(3),
            command: Some(CENT / 2),
        };
        let spent = |test, suite, command| Spent {
            test,
            suite,
            command,
        };
        assert_eq!(caps.stops(&spent(CENT, CENT, 0), false), None);
        assert!(caps.stops(&spent(CENT, CENT, 0), true).is_some());
        assert_eq!(
            caps.stops(&spent(CENT + 1, 0, 0), false).unwrap(),
            "`budget.per_test_usd_cents`: this test cost $0.01000001; at most $0.01 is allowed"
        );
        let suite = caps.stops(&spent(0, 4 * CENT, 0), false).unwrap();
        assert!(suite.starts_with("`budget.per_suite_usd_cents`: the suite cost $0.04;"));
        let command = caps.stops(&spent(0, 0, CENT), false).unwrap();
        assert_eq!(
            command,
            "`--max-cost`: the command cost $0.01; at most $0.005 is allowed"
        );
        assert_eq!(Caps::default().stops(&spent(9, 9, 9), true), None);
    }

    #[test]
    fn a_cap_of_nothing_lets_nothing_be_asked() {
        let caps = Caps {
            test: Some(0),
            ..Caps::default()
        };
        assert!(caps.stops(&Spent::default(), true).is_some());
    }
}
