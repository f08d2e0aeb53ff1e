//! The costs of a suite's models, in one line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tapewright_models::prices::Prices;

use crate::suite::result::{Cost, Row};

/// The total, and the prices it is based on; `None` if no model was asked.
pub(crate) fn line(rows: &[Row], prices: &Prices) -> Option<String> {
    let mut total: Option<Cost> = None;
    let (mut dates, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let Some(cost) = row.cost else { continue };
        total = Some(total.map_or(cost, |total| total.and(cost)));
        for model in &row.models {
            match prices.of(model).filter(|_| cost.is_known) {
                Some(price) => dates.insert(price.date.as_str()),
                None => unknown.insert(model.as_str()),
            };
        }
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
        let _never_fails = write!(line, "; unknown price of {}", list(unknown));
    }
    Some(line)
}
