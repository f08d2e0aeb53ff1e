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
