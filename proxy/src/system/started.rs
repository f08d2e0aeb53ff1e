//! A child process that was started, independent of the system.

use std::io;

use tapewright_schemas::event::Exit;

use super::guard::Group;
use super::pipe::Pipe;

/// A child process, with pipes on all of its standard streams.
pub(crate) struct Started {
    /// Its process id.
    pub(crate) pid: u32,
    /// Its standard input.
    pub(crate) input: Pipe,
    /// Its standard output.
    pub(crate) output: Pipe,
    /// Its standard error.
    pub(crate) log: Pipe,
    /// Waits for its exit. Blocks; runs on a separate thread.
    pub(crate) ended: Box<dyn FnOnce() -> io::Result<Exit> + Send>,
    /// The child and all its descendants.
    pub(crate) group: Group,
}
