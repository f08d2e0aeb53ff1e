//! Connects a client on stdio with a child process.
//!
//! Four flows run on separate threads and never wait for each other: the client's input to the
//! child, the child's output to the client, its standard error to tapewright's, and signals.
//! [`run`] waits for all of them to end.

mod child;
pub(crate) mod ending;
pub(crate) mod notes;
mod pump;
pub(crate) mod session;
mod shared_sink;
mod stderr;

pub use child::ChildProcess;
pub use session::{Outcome, SessionError, run};

/// The process's standard error, for the server's log.
pub(crate) fn standard_error() -> std::io::Result<Box<dyn crate::upstream::ChunkSink>> {
    Ok(Box::new(crate::system::pipe::Pipe::standard_error()?))
}
