//! What differs between the systems on which the tests run: `unix` and `windows` have the same names and signatures.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as ours;
#[cfg(windows)]
use self::windows as ours;

#[cfg(unix)]
pub(crate) use self::ours::marked;
pub(crate) use self::ours::{
    ANSWER_LIMIT, HOME, KILLS, STATE, STOPPED, assert_mode, make_executable, mark_written, output,
    peak_memory_kib, prepare, set_mode, signal, spawn, uninherited, without_console,
};
