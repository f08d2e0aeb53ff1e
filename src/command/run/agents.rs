//! Options of agent tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use tapewright_models::prices::Prices;

use crate::report::{self, Mistake};
use crate::suite::live::AgentOptions;

/// How agent tests are run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentArguments {
    /// Record every agent test anew, whatever cassette it has; needs the keys of its models
    #[arg(long, conflicts_with = "capture")]
    pub(super) update_cassettes: bool,
    /// Connect the servers of agent tests that have a cassette, and compare their tools with
    /// those that were recorded
    #[arg(long, conflicts_with = "capture")]
    check_tools: bool,
    /// Read what tokens cost from this file, over the table that is built in
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Ask no model any more once so many US dollars are spent, over all suites
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<u64>,
}

impl AgentArguments {
    /// The options of a suite, without the counter that all suites share.
    pub(super) fn options(
        &self,
        folder: PathBuf,
        record: bool,
        spent: &Arc<AtomicU64>,
    ) -> anyhow::Result<AgentOptions> {
        Ok(AgentOptions {
            folder,
            record,
            update: self.update_cassettes,
            capture: None,
            check_tools: self.check_tools,
            prices: Arc::new(self.prices()?),
            max_cost: self.max_cost,
            spent: Arc::clone(spent),
        })
    }

    fn prices(&self) -> anyhow::Result<Prices> {
        prices(self.prices.as_deref())
    }
}

/// The built-in prices, and over them those of a file.
pub(crate) fn prices(path: Option<&Path>) -> anyhow::Result<Prices> {
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
const HINT: &str = "it is `{\"date\": \"YYYY-MM-DD\", \"source\": \"…\", \"models\": {\"MODEL\": {\"input\": 3, \"output\": 15}}}`, in dollars for a million tokens";

/// Dollars as millionths of a cent.
pub(crate) fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || "it is an amount in US dollars, such as 0.50".to_owned();
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
