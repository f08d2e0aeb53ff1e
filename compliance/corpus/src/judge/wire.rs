//! `transport_observation` and `max_duration_ms`.

use std::time::Duration;

use super::reply::all;
use crate::observation::{Framing, Observation};
use crate::rule::{RuleExpect, TransportObservation};
use crate::verdict::{Expectation, FailureReason, ShortValue, Untested, Verdict};

/// Whether it is about lines, which only stdio has.
pub(super) fn is_of_stdio(observation: TransportObservation) -> bool {
    !matches!(observation, TransportObservation::Cancellable)
}

/// Checks how messages are framed, and that a pending request can be cancelled.
pub(super) fn observation(expect: &RuleExpect, seen: &Observation) -> Verdict {
    match expect.transport_observation {
        None => Verdict::Pass,
        Some(TransportObservation::Cancellable) => cancellable(seen),
        Some(TransportObservation::LineDelimited) => framed(seen, lines),
        Some(TransportObservation::ContentLengthFramed) => framed(seen, lengths),
    }
}

/// Checks that the answer came in time.
pub(super) fn duration(expect: &RuleExpect, seen: &Observation) -> Verdict {
    let Some(limit_ms) = expect.max_duration_ms else {
        return Verdict::Pass;
    };
    all(seen.answers.iter().map(|answer| match answer.took {
        None => Verdict::Untested(Untested::NoTimes),
        Some(took) if took <= Duration::from_millis(limit_ms) => Verdict::Pass,
        Some(took) => {
            let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            Verdict::fail(
                Expectation::MaxDuration,
                FailureReason::Slow { limit_ms, took_ms },
            )
        }
    }))
}

fn framed(seen: &Observation, judge: fn(&Framing) -> Verdict) -> Verdict {
    match &seen.framing {
        Some(framing) if framing.messages + framing.noise > 0 => judge(framing),
        _ => Verdict::Untested(Untested::NotAsked),
    }
}

fn lines(framing: &Framing) -> Verdict {
    match &framing.first {
        None => Verdict::Pass,
        Some(first) => Verdict::fail(
            Expectation::TransportObservation,
            FailureReason::Noise {
                count: framing.noise,
                first: ShortValue::text(&format!("{first:?}")),
            },
        ),
    }
}

fn lengths(framing: &Framing) -> Verdict {
    if framing.lengths > 0 {
        Verdict::Pass
    } else {
        Verdict::fail(Expectation::TransportObservation, FailureReason::NoLength)
    }
}

/// An answer in spite of the cancellation is a race that every revision allows
/// (basic/utilities/cancellation).
fn cancellable(seen: &Observation) -> Verdict {
    match seen.cancelled.and_then(|one| one.goes_on) {
        None => Verdict::Untested(Untested::NotAsked),
        Some(true) => Verdict::Pass,
        Some(false) => Verdict::fail(Expectation::TransportObservation, FailureReason::Stuck),
    }
}
