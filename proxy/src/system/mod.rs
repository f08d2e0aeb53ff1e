//! The operating system, and the only place that knows which one it is.
//!
//! What differs between systems is in `unix` and `windows`, under the same names and with the same
//! signatures; everybody else uses the names of this module. So no `cfg` stands in the middle of a
//! function, and none outside of this module: `.ci/purity` proves it.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use self::unix as ours;

pub use self::ours::{guard, process, signals};
pub(crate) use self::ours::{pipe, processes};

pub use self::ours::process::Signal;
