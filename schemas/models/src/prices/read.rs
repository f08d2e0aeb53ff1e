//! Prices from a file of the user.

use serde_json::Value;

use super::table::millionths;
use super::{Price, Prices, Rates};
use crate::read::{Members, Problem, ReadError};

/// More than any model costs, in dollars per million tokens.
const MOST: f64 = 1_000_000.0;

impl Prices {
    /// Adds the prices of a file, which replace those of the same models.
    ///
    /// The file is `{"date": "YYYY-MM-DD", "source": "…", "models": {MODEL: {"input": 3.0,
    /// "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}}}`, in US dollars for a million
    /// tokens; `cache_read` and `cache_write` may be omitted, and are unknown then.
    pub fn add_file(&mut self, value: Value) -> Result<(), ReadError> {
        let mut members = Members::of(value)?;
        let date = members.needed_text("date")?;
        let source = members.needed_text("source")?;
        let missing = || ReadError::new(Problem::Missing).under("models");
        let models = members.object("models")?.ok_or_else(missing)?;
        closed(members, "`date`, `source` or `models`")?;
        for (model, value) in models.rest() {
            let rates = rates(value).map_err(|error| error.under(&model).under("models"))?;
            let price = Price {
                rates,
                long: None,
                source: source.clone(),
                date: date.clone(),
            };
            self.by_model.insert(model, price);
        }
        Ok(())
    }
}

fn rates(value: Value) -> Result<Rates, ReadError> {
    let mut members = Members::of(value)?;
    let missing = |name| ReadError::new(Problem::Missing).under(name);
    let rates = Rates {
        input: rate(&mut members, "input")?.ok_or_else(|| missing("input"))?,
        output: rate(&mut members, "output")?.ok_or_else(|| missing("output"))?,
        cache_read: rate(&mut members, "cache_read")?,
        cache_write: rate(&mut members, "cache_write")?,
    };
    closed(members, "`input`, `output`, `cache_read` or `cache_write`")?;
    Ok(rates)
}

fn rate(members: &mut Members, name: &str) -> Result<Option<u64>, ReadError> {
    let Some(dollars) = members.number(name)? else {
        return Ok(None);
    };
    if !(0.0..=MOST).contains(&dollars) {
        return Err(ReadError::expected("dollars for a million tokens").under(name));
    }
    Ok(Some(millionths(dollars)))
}

/// An unknown name is an error: it would not be noticed otherwise.
fn closed(members: Members, known: &'static str) -> Result<(), ReadError> {
    match members.rest().keys().next() {
        Some(name) => Err(ReadError::expected(known).under(name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Usage;

    #[test]
    fn a_file_replaces_and_adds() {
        let mut prices = Prices::built_in();
        let file = json!({"date": "2026-11-01", "source": "our contract", "models": {
            "gpt-5": {"input": 1, "output": 2.5},
            "local": {"input": 0, "output": 0},
        }});
        prices.add_file(file).unwrap();
        let usage = Usage {
            input: Some(1_000_000),
            output: Some(1_000_000),
            ..Usage::default()
        };
        assert_eq!(prices.cost("gpt-5", &usage), Ok(350_000_000));
        assert_eq!(prices.cost("local", &usage), Ok(0));
        assert_eq!(prices.of("gpt-5").unwrap().source, "our contract");
        assert!(prices.of("gpt-5-mini").is_some());
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (file, place) in [
            (json!([]), ""),
            (json!({"source": "s", "models": {}}), "/date"),
            (json!({"date": "d", "source": "s"}), "/models"),
            (
                json!({"date": "d", "source": "s", "models": {"a/b": {"input": 1}}}),
                "/models/a~1b/output",
            ),
            (
                json!({"date": "d", "source": "s", "models": {"m": {"input": -1, "output": 1}}}),
                "/models/m/input",
            ),
            (
                json!({"date": "d", "source": "s", "models": {"m": {"input": "1", "output": 1}}}),
                "/models/m/input",
            ),
            (
                json!({"date": "d", "source": "s", "models": {"m": {"input": 1, "output": 1, "cached": 1}}}),
                "/models/m/cached",
            ),
            (
                json!({"date": "d", "source": "s", "models": {}, "x": 1}),
                "/x",
            ),
        ] {
            let error = Prices::default().add_file(file.clone()).unwrap_err();
            assert_eq!(error.pointer, place, "{file}");
        }
    }
}
