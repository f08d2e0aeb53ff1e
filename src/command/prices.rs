//! Model prices, for the commands that show costs.

use std::path::PathBuf;

use clap::Args;
use tapewright_models::prices::Prices;

use crate::report::{self, Mistake};

/// The prices to use.
#[derive(Debug, Default, Args)]
pub(super) struct PriceArguments {
    /// Read model prices from this file, on top of the built-in ones
    ///
    /// JSON with `date`, `source` and `models`, in US dollars per million tokens.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

impl PriceArguments {
    /// The built-in prices, with those of the file on top.
    pub(super) fn read(&self) -> anyhow::Result<Prices> {
        let mut prices = Prices::built_in();
        let Some(file) = &self.prices else {
            return Ok(prices);
        };
        let mistake = |why: String| {
            let what = format!("no prices in `{}`: {why}", file.display());
            let hint = r#"write it like {"date": "2026-11-25", "source": "…", "models": {"NAME": {"input": 3.0, "output": 15.0}}}"#;
            Mistake::new(report::safe(&what), hint)
        };
        let text = std::fs::read(file).map_err(|error| mistake(error.to_string()))?;
        let value = serde_json::from_slice(&text).map_err(|error| mistake(error.to_string()))?;
        prices
            .add_file(value)
            .map_err(|error| mistake(error.to_string()))?;
        Ok(prices)
    }
}
