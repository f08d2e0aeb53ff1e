//! The costs of models, and the caps.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tapewright_agents::{Caps, NoPrice, Spent};
use tapewright_models::conversation::Usage;
use tapewright_models::prices::{Prices, Unknown};

use crate::suite::result::Cost;

/// Shared by all tests of a suite: prices, caps, and costs.
#[derive(Debug)]
pub(crate) struct Money {
    pub(crate) caps: Caps,
    pub(crate) prices: Arc<Prices>,
    /// The cost of the suite, in millionths of a US cent.
    suite: AtomicU64,
    /// The cost of the whole command.
    command: Arc<AtomicU64>,
}

/// The budget of one test. Its payments count for all caps at once; concurrent requests may cross a
/// cap together.
#[derive(Debug)]
pub(crate) struct TestBudget {
    money: Arc<Money>,
    /// The part that was paid and reported already.
    told: u64,
    cost: Cost,
    /// The models that it paid for.
    models: BTreeSet<String>,
}

impl Money {
    /// Starts with no cost for the suite; `command` has the cost of other suites.
    pub(crate) fn new(caps: Caps, prices: Arc<Prices>, command: &Arc<AtomicU64>) -> Self {
        Self {
            caps,
            prices,
            suite: AtomicU64::new(0),
            command: Arc::clone(command),
        }
    }
}

impl TestBudget {
    pub(crate) fn new(money: &Arc<Money>) -> Self {
        Self {
            money: Arc::clone(money),
            told: 0,
            cost: Cost::NONE,
            models: BTreeSet::new(),
        }
    }

    /// Whether another request may be made.
    pub(crate) fn may_ask(&self, model: &str) -> Result<(), String> {
        let caps = &self.money.caps;
        if caps.is_set() && self.money.prices.of(model).is_none() {
            return Err(no_price(model, Unknown::Model));
        }
        caps.stops(&self.spent(), true).map_or(Ok(()), Err)
    }

    /// Whether anything more may be spent on any model.
    pub(crate) fn may_spend(&self) -> Result<(), String> {
        let caps = &self.money.caps;
        caps.stops(&self.spent(), true).map_or(Ok(()), Err)
    }

    /// Pays for a scorer by its own figure, in US dollars. The error says which cap is crossed.
    pub(crate) fn pay_dollars(&mut self, dollars: f64) -> Result<(), String> {
        self.cost.asked += 1;
        self.spend(units(dollars));
        let caps = &self.money.caps;
        caps.stops(&self.spent(), false).map_or(Ok(()), Err)
    }

    fn spend(&mut self, amount: u64) {
        self.cost.amount = self.cost.amount.saturating_add(amount);
        self.money.suite.fetch_add(amount, Ordering::Relaxed);
        self.money.command.fetch_add(amount, Ordering::Relaxed);
    }

    /// Pays for an answer. The error says which cap is crossed.
    pub(crate) fn pay(&mut self, model: &str, usage: Option<&Usage>) -> Result<(), String> {
        self.cost.asked += 1;
        self.models.insert(model.to_owned());
        let usage = usage.cloned().unwrap_or_default();
        self.cost.tokens += usage.total().unwrap_or(0);
        match self.money.prices.cost(model, &usage) {
            Ok(amount) => self.spend(amount),
            Err(why) => {
                self.cost.is_known = false;
                if self.money.caps.is_set() {
                    return Err(no_price(model, why));
                }
            }
        }
        self.money
            .caps
            .stops(&self.spent(), false)
            .map_or(Ok(()), Err)
    }

    /// The cost since the last call, if anything was paid, and the models.
    pub(crate) fn take(&mut self) -> (Option<Cost>, BTreeSet<String>) {
        let cost = std::mem::replace(&mut self.cost, Cost::NONE);
        self.told = self.told.saturating_add(cost.amount);
        let models = std::mem::take(&mut self.models);
        (Some(cost).filter(|cost| cost.asked > 0), models)
    }

    fn spent(&self) -> Spent {
        Spent {
            test: self.told.saturating_add(self.cost.amount),
            suite: self.money.suite.load(Ordering::Relaxed),
            command: self.money.command.load(Ordering::Relaxed),
        }
    }
}

/// US dollars as millionths of a cent, saturating.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between zero and 10^15"
)]
fn units(dollars: f64) -> u64 {
    (dollars * 1e8).clamp(0.0, 1e15).round() as u64
}

fn no_price(model: &str, why: Unknown) -> String {
    let model = model.to_owned();
    format!("{}; set it with `--prices FILE`", NoPrice { model, why })
}
