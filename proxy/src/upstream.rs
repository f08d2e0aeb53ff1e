//! Where a conversation is carried on: a child process, an HTTP server, or a cassette.
//!
//! The seam between a front, which faces the client, and whatever answers it. It is cut
//! at chunks of bytes, not at messages: a transport that understood messages could not be
//! transparent.

use std::io;
use std::time::Duration;

use tapewright_schemas::event::{Exit, Maker, Peer};

use crate::system::Signal;

/// Something that answers: opens one duplex link per conversation.
///
/// For a process a link is its whole life, for HTTP it is one exchange.
pub trait Upstream: Send + Sync + 'static {
    /// Opens a link.
    fn open(&self) -> Result<Link, OpenError>;
}

/// Both directions of one conversation, and its life.
pub struct Link {
    /// Who answered.
    pub peer: Peer,
    /// Takes what the client sends. Dropping it tells the server that there is no more.
    pub to_server: Box<dyn ChunkSink>,
    /// Yields what the server sends.
    pub to_client: Box<dyn ChunkSource>,
    /// Yields what the server says beside the protocol, where there is such a stream.
    pub log: Option<Box<dyn ChunkSource>>,
    /// Waits for the server to end. Blocks; runs on a thread of its own.
    pub ended: Box<dyn FnOnce() -> io::Result<Exit> + Send>,
    /// Reaches the server beside the protocol.
    pub life: Box<dyn Life>,
}

/// Takes chunks of bytes. Dropping it is the end of the stream.
pub trait ChunkSink: Send {
    /// Writes all of `chunk`, in one system call where the system allows it.
    fn write(&mut self, chunk: &[u8]) -> io::Result<()>;
}

/// Yields chunks of bytes.
pub trait ChunkSource: Send {
    /// Appends the next chunk to `space`, within its capacity. With a `timeout`, gives up
    /// after it.
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult>;

    /// Whether it is known, without a read, that the other side has closed the stream. What
    /// it sent before may still be there to be read.
    fn is_over(&self) -> bool {
        false
    }

    /// Who made what the last read brought; a read brings nothing of two makers.
    fn maker(&self) -> Maker {
        Maker::Peer
    }
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// So many bytes, at least one.
    Bytes(usize),
    /// The other side closed the stream.
    End,
    /// Nothing within the time given.
    TimedOut,
}

/// A hold on what answers, beside its streams.
pub trait Life: Send {
    /// Passes a signal on. Does nothing where the server has no process of ours.
    fn signal(&self, signal: Signal);

    /// How many answers the server owes, beyond those that a recorder counts: as long as it
    /// owes any, it is not hurried to its end.
    fn owed(&self) -> usize {
        0
    }

    /// Cleans up after the server has ended, or is given up.
    fn finish(self: Box<Self>);
}

/// Why a conversation could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A thread or a runtime could not be had.
    #[error("cannot start the HTTP bridge")]
    Bridge(#[source] io::Error),
    /// The command could not be started.
    #[error("cannot start `{command}`")]
    Spawn {
        /// The program as it was named.
        command: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
