//! The cost of tokens.
//!
//! A price that is not known is unknown, never zero: [`Prices::cost`] reports that, and a budget
//! must treat it as such. Counts are kept next to the cost, so that it can be computed again.

mod read;
mod table;

use std::collections::BTreeMap;

use crate::conversation::Usage;

/// The cost of a model's tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// The prices that count up to `long`.
    pub rates: Rates,
    /// The prices for the whole request if its input has more tokens than this.
    pub long: Option<(u64, Rates)>,
    /// The source of the prices.
    pub source: String,
    /// When it was read, as `YYYY-MM-DD`.
    pub date: String,
}

/// Prices in millionths of a US dollar for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// For input tokens.
    pub input: u64,
    /// For output tokens.
    pub output: u64,
    /// For tokens from a cache; `None` if unknown.
    pub cache_read: Option<u64>,
    /// For tokens that are written to a cache with the shortest lifetime; `None` if unknown. Not
    /// needed for wires that do not count such tokens.
    pub cache_write: Option<u64>,
}

/// Why a cost is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No price is known for the model.
    #[error("the price of this model is unknown")]
    Model,
    /// The provider did not report the number of tokens.
    #[error("the provider did not count its tokens")]
    Tokens,
    /// There were tokens of a kind without a known price.
    #[error("the price of cached tokens is not known")]
    Cached,
}

/// The prices that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    by_model: BTreeMap<String, Price>,
}

impl Prices {
    /// Those that are built in.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            by_model: table::rows().collect(),
        }
    }

    /// The price of a model: by its name, or by its name without a date, `-latest` or the prefix
    /// `models/`.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&Price> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let exact = self.by_model.get(model);
        exact.or_else(|| self.by_model.get(without_date(model)?))
    }

    /// Every model with a price, in the order of their names.
    pub fn models(&self) -> impl Iterator<Item = (&str, &Price)> {
        self.by_model
            .iter()
            .map(|(name, price)| (name.as_str(), price))
    }

    /// The cost of an exchange, in millionths of a US cent, rounded up.
    pub fn cost(&self, model: &str, usage: &Usage) -> Result<u64, Unknown> {
        self.of(model).ok_or(Unknown::Model)?.cost(usage)
    }
}

impl Price {
    /// The cost of these tokens, in millionths of a US cent, rounded up.
    pub fn cost(&self, usage: &Usage) -> Result<u64, Unknown> {
        let (Some(input), Some(output)) = (usage.input, usage.output) else {
            return Err(Unknown::Tokens);
        };
        let rates = match &self.long {
            Some((limit, rates)) if input > *limit => rates,
            _ => &self.rates,
        };
        let read = usage.cache_read.unwrap_or(0);
        let written = usage.cache_write.unwrap_or(0);
        let fresh = input.saturating_sub(read).saturating_sub(written);
        let of = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
        let cached = |tokens: u64, rate: Option<u64>| match (tokens, rate) {
            (0, _) => Ok(0),
            (tokens, Some(rate)) => Ok(of(tokens, rate)),
            (_, None) => Err(Unknown::Cached),
        };
        // Each is below 2^128: two counts and two rates of 64 bits.
        let sum = of(fresh, rates.input)
            .saturating_add(of(output, rates.output))
            .saturating_add(cached(read, rates.cache_read)?)
            .saturating_add(cached(written, rates.cache_write)?);
        // A millionth of a dollar for a million tokens is 10^-4 millionths of a cent for one.
        Ok(u64::try_from(sum.div_ceil(10_000)).unwrap_or(u64::MAX))
    }
}

/// A model's name without its version.
fn without_date(model: &str) -> Option<&str> {
    if let Some(name) = model.strip_suffix("-latest") {
        return Some(name);
    }
    let is_digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (name, date) = model.rsplit_once(['-', '@'])?;
    if is_digits(date, 8) {
        return Some(name);
    }
    let (name, month) = name.rsplit_once('-')?;
    let (name, year) = name.rsplit_once('-')?;
    (is_digits(date, 2) && is_digits(month, 2) && is_digits(year, 4)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Extra;

    fn used(input: u64, output: u64, read: u64, written: u64) -> Usage {
        Usage {
            input: Some(input),
            output: Some(output),
            cache_read: Some(read),
            cache_write: Some(written),
            reasoning: None,
            more: Extra::new(),
        }
    }

    #[test]
    fn a_cost_is_exact_and_rounded_up() {
        let prices = Prices::built_in();
        // 3 and 15 dollars for a million: 300 and 1,500 millionths of a cent for one.
        let cost = |usage: &Usage| prices.cost("claude-sonnet-4-5", usage);
        assert_eq!(cost(&used(1, 0, 0, 0)), Ok(300));
        assert_eq!(cost(&used(0, 1, 0, 0)), Ok(1_500));
        assert_eq!(cost(&used(1_000_000, 0, 0, 0)), Ok(300_000_000));
        assert_eq!(
            cost(&used(100, 10, 60, 30)),
            Ok(10 * 300 + 10 * 1_500 + 60 * 30 + 30 * 375)
        );
        // Half a millionth of a cent.
        assert_eq!(prices.cost("gpt-5-nano", &used(1, 0, 1, 0)), Ok(1));
        assert_eq!(prices.cost("gpt-5-nano", &used(2, 0, 2, 0)), Ok(1));
    }

    #[test]
    fn what_is_unknown_is_never_free() {
        let prices = Prices::built_in();
        assert_eq!(
            prices.cost("my-model", &used(1, 1, 0, 0)),
            Err(Unknown::Model)
        );
        assert_eq!(
            prices.cost("gpt-5", &Usage::default()),
            Err(Unknown::Tokens)
        );
        assert_eq!(
            prices.cost("mistral-large-latest", &used(9, 1, 5, 0)),
            Err(Unknown::Cached)
        );
        for (model, price) in prices.models() {
            assert!(price.rates.input > 0 && price.rates.output > 0, "{model}");
            assert!(
                price.source.starts_with("https://") && price.date.len() == 10,
                "{model}"
            );
        }
    }

    #[test]
    fn a_dated_model_costs_what_its_model_costs() {
        let prices = Prices::built_in();
        let of = |model| prices.of(model).is_some();
        assert!(of("claude-sonnet-4-5-20250929") && of("gpt-5-2025-08-07"));
        assert!(of("models/gemini-2.5-flash") && of("claude-sonnet-4-5@20250929"));
        assert!(of("mistral-small-latest"));
        for other in [
            "gpt-5-codex",
            "gpt-5-1",
            "claude-sonnet-4-5-2025",
            "claude-",
            "gpt-5-latest-x",
        ] {
            assert!(!of(other), "{other}");
        }
    }

    #[test]
    fn a_long_request_costs_more_as_a_whole() {
        let prices = Prices::built_in();
        let cost = |input| {
            prices
                .cost("gemini-2.5-pro", &used(input, 0, 0, 0))
                .unwrap()
        };
        assert_eq!(cost(200_000), 200_000 * 125);
        assert_eq!(cost(200_001), 200_001 * 250);
    }

    #[test]
    fn the_largest_counts_overflow_nothing() {
        let most = used(u64::MAX, u64::MAX, 0, 0);
        assert_eq!(
            Prices::built_in().cost("claude-opus-4-1", &most),
            Ok(u64::MAX)
        );
    }
}
