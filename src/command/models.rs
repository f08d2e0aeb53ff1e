//! Options of commands that ask models: the cost limit, and the judge.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use clap::Args;
use tapewright_agents::Caps;
use tapewright_config::Suite;
use tapewright_models::prices::Prices;

use crate::command::duration;
use crate::report::{self, Mistake};
use crate::suite::judging::JudgeOptions;
use crate::suite::models::Money;

/// The prices and the cost limit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub(crate) struct MoneyArguments {
    /// Read token prices from this file, on top of the built-in ones
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Stop asking models after this many US dollars, over all suites
    ///
    /// 0 asks none.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<u64>,
}

/// The judge.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub(crate) struct JudgeArguments {
    /// Judge to use where the suite names none: MODEL or PROVIDER/MODEL
    #[arg(long, value_name = "MODEL")]
    judge_model: Option<String>,
    /// Ask judges again, and show verdicts that changed
    ///
    /// With `--record`, the new verdicts replace the recorded ones.
    #[arg(long)]
    rejudge: bool,
    /// Ask judges again for verdicts older than this, such as `30d`
    ///
    /// 0 asks again for all. With `--record`, the new verdicts replace the recorded ones.
    #[arg(hide_short_help = true, long, value_name = "DURATION", value_parser = duration::parse)]
    verdict_cache: Option<Duration>,
}

impl JudgeArguments {
    /// How to ask judges; `record` keeps their verdicts.
    pub(crate) fn options(&self, record: bool) -> JudgeOptions {
        JudgeOptions {
            record,
            rejudge: self.rejudge,
            age: self.verdict_cache,
            model: self.judge_model.clone(),
        }
    }
}

impl MoneyArguments {
    /// The costs of a suite; `spent` is the sum over all suites.
    pub(crate) fn money(
        &self,
        suite: &Suite,
        spent: &Arc<AtomicU64>,
    ) -> anyhow::Result<Arc<Money>> {
        money(suite, self.prices.as_deref(), self.max_cost, spent)
    }
}

/// The costs of a suite: its caps and the command's, and the built-in prices with those of a file
/// on top. `spent` is the sum over all suites.
pub(crate) fn money(
    suite: &Suite,
    prices: Option<&Path>,
    max_cost: Option<u64>,
    spent: &Arc<AtomicU64>,
) -> anyhow::Result<Arc<Money>> {
    let caps = Caps {
        test: suite.budget.per_test_usd_cents,
        suite: suite.budget.per_suite_usd_cents,
        command: max_cost,
    };
    let prices = Arc::new(with_file(prices)?);
    Ok(Arc::new(Money::new(caps, prices, spent)))
}

fn with_file(path: Option<&Path>) -> anyhow::Result<Prices> {
    let mut prices = Prices::built_in();
    let Some(path) = path else {
        return Ok(prices);
    };
    let mistake = |why: String| -> anyhow::Error {
        let path = report::safe(&path.display().to_string());
        let what = format!("cannot read the prices `{path}`: {}", report::safe(&why));
        Mistake::new(what, HINT).into()
    };
    let text = read(path).map_err(|error| mistake(error.to_string()))?;
    let value = serde_json::from_slice(&text).map_err(|error| mistake(error.to_string()))?;
    let added = prices.add_file(value);
    added.map_err(|error| mistake(error.to_string()))?;
    Ok(prices)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut text = Vec::new();
    std::fs::File::open(path)?
        .take(LONGEST)
        .read_to_end(&mut text)?;
    Ok(text)
}

/// The longest file of prices, in bytes.
const LONGEST: u64 = 16 << 20;
const HINT: &str = "expected `{\"date\": \"YYYY-MM-DD\", \"source\": \"…\", \"models\": {\"MODEL\": {\"input\": 3, \"output\": 15}}}`, in dollars per million tokens";

/// Dollars as millionths of a cent.
pub(crate) fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || "expected an amount in US dollars, such as 0.50".to_owned();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = part.len() <= 8 && whole.len() <= 6 && !(whole.is_empty() && part.is_empty());
    if !is_number(whole) || !is_number(part) || !fits {
        return Err(wrong());
    }
    format!("{whole}{part:0<8}").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn an_amount_is_exact() {
        assert_eq!(dollars("0.50"), Ok(50_000_000));
        assert_eq!(dollars("2"), Ok(200_000_000));
        assert_eq!(dollars(".00000001"), Ok(1));
        for text in [
            "",
            ".",
            "-1",
            "1e3",
            "0.000000001",
            "$1",
            "1.2.3",
            "9999999",
        ] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }
}
