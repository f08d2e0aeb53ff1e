//! What the process tells its caller.

use std::process::ExitCode;

/// The exit status. These numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Every check passed, or the command succeeded.
    Pass,
    /// It ran, and something asked for did not hold.
    Fail,
    /// It could not be judged: bad arguments, tape or environment; nothing was half-done.
    Unusable,
    /// The evidence has gaps, or nothing was selected.
    Inconclusive,
    /// Models differ as they may: `model-baseline` alone.
    Drift,
    /// The status of the wrapped command.
    External(u8),
}

impl Exit {
    /// Of several judgements, the one to tell: what could not be judged, then what failed,
    /// then gaps, then drift.
    pub(crate) fn worst(exits: &[Self]) -> Self {
        let order = [Self::Unusable, Self::Fail, Self::Inconclusive, Self::Drift];
        let worst = order.into_iter().find(|exit| exits.contains(exit));
        worst.unwrap_or(Self::Pass)
    }
}

impl Exit {
    /// The number.
    pub(crate) fn status(self) -> u8 {
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
        Self::from(exit.status())
    }
}

#[cfg(test)]
impl Exit {
    /// Every status of ours, with what it means, for docs/reference/exit-status.md.
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
