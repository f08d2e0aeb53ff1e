//! A stdio client in front, a child process behind.
//!
//! Four flows run on threads of their own and never wait for each other: the client's
//! input to the child, the child's output to the client, its standard error to ours, and
//! signals. [`run`] watches them come to their ends.

mod child;
pub(crate) mod ending;
pub(crate) mod notes;
mod pump;
pub(crate) mod session;
mod shared_sink;
mod stderr;

pub use child::ChildProcess;
pub use session::{Outcome, SessionError, run};

/// Our standard error, for what a server says beside the protocol.
pub(crate) fn standard_error() -> std::io::Result<Box<dyn crate::upstream::ChunkSink>> {
    Ok(Box::new(crate::system::pipe::Pipe::standard_error()?))
}
