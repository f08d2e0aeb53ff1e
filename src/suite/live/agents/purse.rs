//! What a run of an agent costs, and the caps on that.

use std::sync::atomic::{AtomicU64, Ordering};

use tapewright_agents::{Caps, NoPrice, Spent};
use tapewright_models::conversation::Response;
use tapewright_models::prices::{Prices, Unknown};

use crate::suite::result::Cost;

/// The purse of one run. What it pays is known to all that share a cap at once; requests
/// that are under way beside each other may cross it together.
pub(super) struct Purse<'a> {
    pub(super) caps: Caps,
    pub(super) prices: &'a Prices,
    pub(super) model: &'a str,
    /// What others of the suite, and of the command, have spent.
    pub(super) suite: &'a AtomicU64,
    pub(super) command: &'a AtomicU64,
    pub(super) cost: Cost,
}

impl Purse<'_> {
    /// Whether another request may be made.
    pub(super) fn may_ask(&self) -> Result<(), String> {
        if self.caps.is_set() && self.prices.of(self.model).is_none() {
            return Err(self.no_price(Unknown::Model));
        }
        self.caps.stops(&self.spent(), true).map_or(Ok(()), Err)
    }

    /// A request was answered.
    pub(super) fn pay(&mut self, response: &Response) -> Result<(), String> {
        self.cost.asked += 1;
        let usage = response.usage.clone().unwrap_or_default();
        self.cost.tokens += usage.total().unwrap_or(0);
        match self.prices.cost(self.model, &usage) {
            Ok(amount) => {
                self.cost.amount = self.cost.amount.saturating_add(amount);
                self.suite.fetch_add(amount, Ordering::Relaxed);
                self.command.fetch_add(amount, Ordering::Relaxed);
            }
            Err(why) => {
                self.cost.is_known = false;
                if self.caps.is_set() {
                    return Err(self.no_price(why));
                }
            }
        }
        self.caps.stops(&self.spent(), false).map_or(Ok(()), Err)
    }

    fn spent(&self) -> Spent {
        Spent {
            test: self.cost.amount,
            suite: self.suite.load(Ordering::Relaxed),
            command: self.command.load(Ordering::Relaxed),
        }
    }

    fn no_price(&self, why: Unknown) -> String {
        let model = self.model.to_owned();
        format!("{}: tell it with `--prices FILE`", NoPrice { model, why })
    }
}
