//! Rows of a report, from the exchanges of a recording.

use tapewright_assertions::score::{Coverage, Scored};

use crate::suite::judged;
use crate::suite::plan::Case;
use crate::suite::result::{ExchangeNumbers, Row, Status};

/// Combines the outcomes of all exchanges of a test into one row.
pub(super) fn row(number: usize, case: &Case, scored: &Scored, coverage: &Coverage) -> Row {
    let mut row = judged::row(number, case, Status::Pass);
    row.exercised = Some(scored.exercised);
    row.took = scored.took_us.map(std::time::Duration::from_micros);
    for one in &scored.others {
        let exchange = ExchangeNumbers {
            session: one.session.0,
            request: one.request,
            response: one.response,
        };
        judged::tell(&mut row, case, &one.outcome, Some(exchange));
        for doubt in &one.outcome.doubts {
            row.reasons.push(format!("{exchange}: {doubt}"));
        }
        for deferred in &one.outcome.deferred {
            row.reasons.push(format!("{exchange}: {deferred}"));
        }
    }
    if scored.more > 0 {
        row.warnings
            .push(format!("{} more exchanges failed", scored.more));
    }
    row.status = if scored.exercised == 0 && coverage.gaps > 0 {
        row.reasons
            .push("never exercised in the recording, which has gaps".to_owned());
        Status::Inconclusive
    } else if scored.exercised == 0 {
        row.reasons
            .push("never exercised in the recording".to_owned());
        Status::NotExercised
    } else if scored.unjudged > 0 {
        Status::Error
    } else if scored.failed > 0 {
        Status::Fail
    } else if scored.doubtful > 0 {
        Status::Inconclusive
    } else if scored.deferred > 0 {
        Status::Deferred
    } else {
        Status::Pass
    };
    row
}

/// A row for a composition.
pub(super) fn composition(number: usize, case: &Case) -> Row {
    let why = "a composition calls tools in its own order; a recording cannot tell";
    judged::skipped(number, case, why)
}

/// A row for an agent test.
pub(super) fn agent(number: usize, case: &Case) -> Row {
    let why = "an agent test is judged by its own cassette or by a run";
    judged::skipped(number, case, why)
}
