//! What the process tells its caller.

use std::process::ExitCode;

/// The exit status. These numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked held.
    Pass,
    /// It ran, and something asked for did not hold.
    Fail,
    /// It could not be judged: bad arguments, tape or environment; nothing was half-done.
    Unusable,
    /// The evidence has gaps, or nothing was selected.
    Inconclusive,
    /// The status of the wrapped command.
    External(u8),
}

impl Exit {
    /// Of several judgements, the one to tell: what could not be judged, then what failed,
    /// then gaps.
    pub(crate) fn worst(exits: &[Self]) -> Self {
        let order = [Self::Unusable, Self::Fail, Self::Inconclusive];
        let worst = order.into_iter().find(|exit| exits.contains(exit));
        worst.unwrap_or(Self::Pass)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Pass => 0,
            Exit::Fail => 1,
            Exit::Unusable => 2,
            Exit::Inconclusive => 3,
            Exit::External(status) => status,
        })
    }
}
