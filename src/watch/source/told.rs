//! The lines that sources request of a listing, and their times among several tapes.

use tapewright_schemas::filter::{Filter, LineKind};
use tapewright_schemas::listing::{Change, Wanted};

/// Every kind of line, without message contents.
pub(super) fn every_kind(timed: bool) -> Wanted {
    Wanted {
        filter: Filter::default(),
        kinds: LineKind::ALL.into_iter().collect(),
        bodies: false,
        timed,
    }
}

/// A change with its times moved later by `ms` milliseconds.
pub(super) fn later(change: Change, ms: f64) -> Change {
    if ms == 0.0 {
        return change;
    }
    match change {
        Change::Open(place, Some(mut row)) => {
            row.at_ms = row.at_ms.map(|at| at + ms);
            Change::Open(place, Some(row))
        }
        Change::Whole(place, entry) => Change::Whole(place, entry.later_by(ms)),
        other => other,
    }
}
