//! The other side of a conversation: a child process, an HTTP server, or a cassette.
//!
//! The interface between a front, which faces the client, and whatever answers it. Its unit is
//! chunks of bytes, not messages: a transport that parsed messages could not be transparent.

use std::io;
use std::time::Duration;

use tapewright_schemas::event::{Exit, Maker, Peer};

use crate::system::Signal;

/// Opens one duplex link per conversation.
///
/// For a process a link is its whole life, for HTTP it is one exchange.
pub trait Upstream: Send + Sync + 'static {
    /// Opens a link.
    fn open(&self) -> Result<Link, OpenError>;
}

/// Both directions of one conversation, and its life.
pub struct Link {
    /// The peer.
    pub peer: Peer,
    /// Takes the client's input. Dropping it closes the input.
    pub to_server: Box<dyn ChunkSink>,
    /// Yields the server's output.
    pub to_client: Box<dyn ChunkSource>,
    /// Yields the server's log, if it has one.
    pub log: Option<Box<dyn ChunkSource>>,
    /// Waits for the server to end. Blocks; runs on a separate thread.
    pub ended: Box<dyn FnOnce() -> io::Result<Exit> + Send>,
    /// Controls the server.
    pub life: Box<dyn Life>,
}

/// Takes chunks of bytes. Dropping it is the end of the stream.
pub trait ChunkSink: Send {
    /// Writes all of `chunk`, in one system call where the system allows it.
    fn write(&mut self, chunk: &[u8]) -> io::Result<()>;
}

/// Yields chunks of bytes.
pub trait ChunkSource: Send {
    /// Appends the next chunk to `space`, within its capacity, with an optional timeout.
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult>;

    /// Whether it is known, without a read, that the other side has closed the stream. There may
    /// still be unread data.
    fn is_over(&mut self) -> bool {
        false
    }

    /// The maker of the last read data; a read never mixes two makers.
    fn maker(&self) -> Maker {
        Maker::Peer
    }
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// This many bytes, at least one.
    Bytes(usize),
    /// The other side closed the stream.
    End,
    /// No data within the timeout.
    TimedOut,
}

/// Controls the server, independent of its streams.
pub trait Life: Send {
    /// Forwards a signal. Does nothing if the server is not a child process.
    fn signal(&self, signal: Signal);

    /// The number of pending requests in addition to those that a recorder counts: while there are
    /// any, the server is not terminated.
    fn owed(&self) -> usize {
        0
    }

    /// Cleans up after the server has ended, or was given up.
    fn finish(self: Box<Self>);
}

/// Why a conversation could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A thread or a runtime could not be started.
    #[error("cannot start the HTTP bridge")]
    Bridge(#[source] io::Error),
    /// The command could not be started.
    #[error("cannot start `{command}`")]
    Spawn {
        /// The program as given.
        command: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}
