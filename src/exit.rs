//! Exit statuses.

use std::process::ExitCode;

use tapewright_proxy::system::process;

/// The exit status. These numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Every check passed, or the command succeeded.
    Pass,
    /// It ran, and something did not hold.
    Fail,
    /// It could not be judged: bad arguments, tape or environment; no partial results were written.
    Unusable,
    /// The evidence has gaps, or nothing was selected.
    Inconclusive,
    /// Only allowed differences between models: for `model-baseline` only.
    Drift,
    /// The status of the wrapped command. On Windows it has 32 bits, elsewhere eight.
    External(i32),
}

impl Exit {
    /// The most important of several statuses: what could not be judged, then what failed, then
    /// gaps, then drift.
    pub(crate) fn worst(exits: &[Self]) -> Self {
        let order = [Self::Unusable, Self::Fail, Self::Inconclusive, Self::Drift];
        let worst = order.into_iter().find(|exit| exits.contains(exit));
        worst.unwrap_or(Self::Pass)
    }
}

impl Exit {
    /// The number.
    pub(crate) fn status(self) -> i32 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Unusable => 2,
            Self::Inconclusive => 3,
            Self::Drift => 6,
            Self::External(status) => status,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        process::exit_code(exit.status())
    }
}

#[cfg(test)]
impl Exit {
    /// Our statuses with their meanings, for docs/reference/exit-status.md.
    pub(crate) const MEANINGS: [(Self, &'static str); 5] = [
        (Self::Pass, "Every check passed, or the command succeeded."),
        (
            Self::Fail,
            "It ran, and a check failed: a test failed, a rule was broken, a server differs from its recording, `scrub --check` found a secret.",
        ),
        (
            Self::Unusable,
            "It could not run: wrong arguments, an unreadable file, a mistake in a suite, a server that cannot be started or reached. Nothing was left half done.",
        ),
        (
            Self::Inconclusive,
            "Evidence is missing: the recording has gaps, a test was never exercised, or nothing was selected. It is not a pass.",
        ),
        (
            Self::Drift,
            "`model-baseline` alone: models differ, and only as they may.",
        ),
    ];
}
