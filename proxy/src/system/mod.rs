//! The operating system, and the only place that distinguishes them.
//!
//! The differences are in `unix` and `windows`, with the same names and signatures; all other code
//! uses the names of this module. So there is no `cfg` in the middle of a function, and none
//! outside of this module: `.ci/purity` checks it.

#[cfg(not(any(unix, windows)))]
compile_error!("tapewright speaks to processes over pipes, and knows those of Unix and of Windows");

#[cfg(any(windows, test))]
mod access;
pub mod folders;
#[cfg(any(windows, test))]
mod names;
mod shared;
mod started;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as ours;
#[cfg(windows)]
use self::windows as ours;

pub use self::ours::{files, guard, process, signals, sockets, standard_error, terminal};
pub(crate) use self::ours::{folder, growth, pipe, processes, unnamed};

pub use self::ours::process::Signal;
pub(crate) use self::shared::{FolderProblem, Rank, Readiness};
pub use self::shared::{NameProblem, TerminalSignal};
pub(crate) use self::started::Started;

/// Whether a signal ends a server that runs within this process, as it would end another process.
#[must_use]
pub fn ends_within(signal: Signal) -> bool {
    signal == Signal::KILL || signals::is_ending(signal.as_raw())
}
