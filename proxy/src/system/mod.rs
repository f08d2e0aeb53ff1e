//! The operating system, and the only place that knows which one it is.
//!
//! What differs between systems is in `unix`, and in a module beside it for every other system, under the same names and with the same
//! signatures; everybody else uses the names of this module. So no `cfg` stands in the middle of a
//! function, and none outside of this module: `.ci/purity` proves it.

#[cfg(not(unix))]
compile_error!("tapewright speaks to processes over pipes and process groups: it needs a Unix");

mod started;
#[cfg(unix)]
mod unix;

#[cfg(unix)]
use self::unix as ours;

pub use self::ours::{files, guard, process, signals, sockets, standard_error, terminal};
pub(crate) use self::ours::{folder, growth, pipe, processes, unnamed};

pub use self::ours::process::Signal;
pub(crate) use self::started::Started;
