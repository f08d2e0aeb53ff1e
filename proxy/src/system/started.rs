//! A child process that was started, as every system gives it to us.

use std::io;

use tapewright_schemas::event::Exit;

use super::guard::Group;
use super::pipe::Pipe;

/// A child process, with pipes on all of its standard streams.
pub(crate) struct Started {
    /// Its number.
    pub(crate) pid: u32,
    /// What it reads.
    pub(crate) input: Pipe,
    /// What it writes.
    pub(crate) output: Pipe,
    /// What it says beside that.
    pub(crate) log: Pipe,
    /// Waits for its end. Blocks; runs on a thread of its own.
    pub(crate) ended: Box<dyn FnOnce() -> io::Result<Exit> + Send>,
    /// It and whatever it starts.
    pub(crate) group: Group,
}
