//! What the agent tests of a suite cost, in a line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tapewright_models::prices::Prices;

use crate::suite::plan::{Plan, What};
use crate::suite::result::{Cost, Row};

impl Cost {
    /// Nothing was asked yet.
    pub(super) fn none() -> Self {
        Self {
            asked: 0,
            tokens: 0,
            amount: 0,
            is_known: true,
        }
    }
}

/// What all of them cost, and by which prices; nothing where no model was asked.
pub(super) fn line(rows: &[Row], plan: &Plan, prices: &Prices) -> Option<String> {
    let mut total: Option<Cost> = None;
    let (mut dates, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let Some(cost) = row.cost else { continue };
        total = Some(total.map_or(cost, |total| total.and(cost)));
        let What::Agent(agent) = &plan.cases.get(row.case)?.what else {
            continue;
        };
        let model = agent.model.id.as_str();
        match prices.of(model).filter(|_| cost.is_known) {
            Some(price) => dates.insert(price.date.as_str()),
            None => unknown.insert(model),
        };
    }
    let total = total?;
    let times = if total.asked == 1 { "once" } else { "times" };
    let mut line = match total.asked {
        1 => format!("models were asked {times}: {total}"),
        count => format!("models were asked {count} {times}: {total}"),
    };
    let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    if !dates.is_empty() {
        let _never_fails = write!(line, " (prices of {})", list(dates));
    }
    if !unknown.is_empty() {
        let _never_fails = write!(line, "; what {} costs is not known", list(unknown));
    }
    Some(line)
}
