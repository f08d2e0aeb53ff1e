//! How a run handled calls that were never answered.

use std::time::Duration;

use tapewright_models::agent_cassette::{StopReason, Trace};

/// What a suite requires of a run that meets a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The longest that one call may be waited for.
    pub max_detection: Duration,
    /// The longest that recovering may take.
    pub max_recovery: Option<Duration>,
    /// The call must have been given up within the budget.
    pub require_clean_timeout: bool,
}

/// How a run recovered, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The number of calls that were never answered.
    pub hung: u64,
    /// When the first of them was given up, in milliseconds; `None` if there was none.
    pub time_to_detection_ms: Option<u64>,
    /// When the run had recovered from all of them, in milliseconds; `None` if it never did.
    pub time_to_recovery_ms: Option<u64>,
    /// How long the user saw no progress, in milliseconds.
    pub user_visible_hang_ms: u64,
    /// The run ended with a reply, or met no fault.
    pub recovered: bool,
    /// The call was given up within the budget.
    pub clean_timeout: bool,
}

impl Recovery {
    /// Scores a run with this many calls that were never answered.
    #[must_use]
    pub fn score(trace: &Trace, hung: u64, max_detection: Duration) -> Self {
        let budget = u64::try_from(max_detection.as_millis()).unwrap_or(u64::MAX);
        let stop = trace.conversation.stop_reason;
        let is_clean = stop == StopReason::Completed && !trace.final_response.is_empty();
        let detected = (is_clean && hung > 0).then_some(budget);
        let recovered = is_clean.then(|| hung.saturating_mul(budget));
        let seen = match (detected, recovered) {
            _ if hung == 0 => 0,
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other).unwrap_or(budget),
        };
        Self {
            hung,
            time_to_detection_ms: detected,
            time_to_recovery_ms: recovered,
            user_visible_hang_ms: seen,
            recovered: is_clean || hung == 0,
            clean_timeout: detected.is_some(),
        }
    }

    /// The conditions of a gate that are not met: the key of each, and why.
    #[must_use]
    pub fn misses(&self, gate: &Gate) -> Vec<(&'static str, String)> {
        let mut misses = Vec::new();
        if !self.recovered {
            let calls = calls(self.hung);
            let why = format!("the agent never replied after {calls} had no answer");
            misses.push(("recovery", why));
        }
        let limit = gate.max_recovery.map(|limit| limit.as_millis());
        if let (Some(limit), Some(took)) = (limit, self.time_to_recovery_ms)
            && u128::from(took) > limit
        {
            let calls = calls(self.hung);
            let why = format!(
                "recovering took {took} ms ({calls} without an answer); at most {limit} ms are allowed"
            );
            misses.push(("max_recovery_ms", why));
        }
        if gate.require_clean_timeout && self.hung > 0 && !self.clean_timeout {
            let limit = gate.max_detection.as_millis();
            let why = format!("no call was given up cleanly within {limit} ms");
            misses.push(("require_clean_timeout", why));
        }
        misses
    }
}

fn calls(count: u64) -> String {
    if count == 1 {
        "1 call".to_owned()
    } else {
        format!("{count} calls")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(stop: StopReason, reply: &str) -> Trace {
        let mut trace = Trace {
            final_response: reply.to_owned(),
            ..Trace::default()
        };
        trace.conversation.stop_reason = stop;
        trace
    }

    const GATE: Gate = Gate {
        max_detection: Duration::from_secs(3),
        max_recovery: Some(Duration::from_secs(5)),
        require_clean_timeout: true,
    };

    fn keys(trace: &Trace, hung: u64) -> Vec<&'static str> {
        let recovery = Recovery::score(trace, hung, GATE.max_detection);
        let misses = recovery.misses(&GATE);
        misses.into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn one_hang_and_a_reply_is_a_recovery() {
        let replied = trace(StopReason::Completed, "sorry");
        let recovery = Recovery::score(&replied, 1, GATE.max_detection);
        assert_eq!(
            recovery,
            Recovery {
                hung: 1,
                time_to_detection_ms: Some(3_000),
                time_to_recovery_ms: Some(3_000),
                user_visible_hang_ms: 3_000,
                recovered: true,
                clean_timeout: true,
            }
        );
        assert_eq!(keys(&replied, 1), [""; 0]);
        assert_eq!(keys(&replied, 2), ["max_recovery_ms"]);
    }

    #[test]
    fn a_run_that_never_replies_has_not_recovered() {
        for (stop, reply) in [(StopReason::TurnBudget, ""), (StopReason::Completed, "")] {
            let looped = trace(stop, reply);
            assert_eq!(keys(&looped, 4), ["recovery", "require_clean_timeout"]);
            let recovery = Recovery::score(&looped, 4, GATE.max_detection);
            assert_eq!(recovery.user_visible_hang_ms, 3_000);
            assert_eq!(recovery.time_to_recovery_ms, None);
        }
    }

    #[test]
    fn without_a_hang_there_is_nothing_to_recover_from() {
        assert_eq!(keys(&trace(StopReason::TurnBudget, ""), 0), [""; 0]);
        let replied = trace(StopReason::Completed, "yes");
        let recovery = Recovery::score(&replied, 0, GATE.max_detection);
        assert_eq!(recovery.time_to_recovery_ms, Some(0));
        assert_eq!(recovery.user_visible_hang_ms, 0);
    }
}
