//! The operating system, and the only place that knows which one it is.
//!
//! What differs between systems is in `unix` and `windows`, under the same names and with the same
//! signatures; everybody else uses the names of this module. So no `cfg` stands in the middle of a
//! function, and none outside of this module: `.ci/purity` proves it.

#[cfg(not(any(unix, windows)))]
compile_error!("tapewright speaks to processes over pipes, and knows those of Unix and of Windows");

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
pub(crate) use self::started::Started;
