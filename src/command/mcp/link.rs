//! An MCP server within this process, as an upstream: what a child process would be to a front.
//!
//! Each link is a pair of sockets. A front holds one end as it holds the pipes of a child; a task
//! of the runtime serves the other.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::ServiceExt as _;
use tapewright_proxy::system::Signal;
use tapewright_proxy::system::sockets::{self, Stream};
use tapewright_proxy::upstream::{
    ChunkSink, ChunkSource, Life, Link, OpenError, ReadResult, Upstream,
};
use tapewright_schemas::event::{Exit, Peer};
use tapewright_schemas::slices::PartMut as _;
use tokio::runtime::Handle;

use super::server::Server;

/// A server whose every link is a conversation of its own.
pub(super) struct LinkServer {
    server: Server,
    runtime: Handle,
}

/// What both ends know of a link.
#[derive(Debug, Default)]
struct Shared {
    /// The signal that ended it.
    signal: AtomicI32,
    /// How many answers are being worked on.
    owed: Arc<AtomicUsize>,
}

impl LinkServer {
    /// Serves within `runtime`.
    pub(super) fn new(server: Server, runtime: Handle) -> Self {
        Self { server, runtime }
    }

    fn link(&self) -> io::Result<Link> {
        let within = self.runtime.enter();
        let (ours, theirs) = sockets::pair()?;
        drop(within);
        let (input, life) = (ours.try_clone()?, ours.try_clone()?);
        let shared = Arc::new(Shared::default());
        let server = self.server.owing(Arc::clone(&shared.owed));
        let (over, ended) = sync_channel(1);
        self.runtime.spawn(async move {
            let (input, output) = theirs.into_split();
            // A client that leaves before it has said what it is gets no answer, and wants none.
            if let Ok(running) = server.serve((input, output)).await {
                drop(running.waiting().await);
            }
            // The waiting thread may be gone.
            over.send(()).ok();
        });
        let told = Arc::clone(&shared);
        Ok(Link {
            // There is no other process than this one.
            peer: Peer::Process {
                pid: std::process::id(),
            },
            to_server: Box::new(Input(input)),
            to_client: Box::new(Output(ours)),
            log: None,
            ended: Box::new(move || Ok(told.exit(&ended))),
            life: Box::new(LinkLife {
                stream: Mutex::new(life),
                shared,
            }),
        })
    }
}

impl Upstream for LinkServer {
    fn open(&self) -> Result<Link, OpenError> {
        self.link().map_err(|source| OpenError::Spawn {
            command: "tapewright mcp".to_owned(),
            source,
        })
    }
}

impl Shared {
    /// Waits for the end of the server.
    fn exit(&self, ended: &Receiver<()>) -> Exit {
        // Whether it was told or let go of: it is over.
        ended.recv().ok();
        match self.signal.load(Ordering::Relaxed) {
            0 => Exit::Code(0),
            signal => Exit::Signal(signal),
        }
    }
}

/// What the client says. Dropping it tells the server that there is no more.
struct Input(Stream);

impl ChunkSink for Input {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.write_all(chunk)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // A server that has ended needs no telling.
        drop(self.0.shutdown(Shutdown::Write));
    }
}

/// What the server says.
struct Output(Stream);

/// How much is read at once where there is no room yet, in bytes.
const CHUNK: usize = 64 << 10;

impl ChunkSource for Output {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        // A wait of no time is none to the system.
        let timeout = timeout.map(|time| time.max(Duration::from_millis(1)));
        self.0.set_read_timeout(timeout)?;
        let room = space.capacity() - space.len();
        let room = if room == 0 { CHUNK } else { room };
        let start = space.len();
        space.resize(start + room, 0);
        let read = loop {
            let free = space.part_mut(start..);
            match self.0.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        space.truncate(start + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Ok(ReadResult::End),
            Ok(count) => Ok(ReadResult::Bytes(count)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(ReadResult::TimedOut),
                io::ErrorKind::ConnectionReset => Ok(ReadResult::End),
                _ => Err(error),
            },
        }
    }
}

/// The connection behind a link.
struct LinkLife {
    stream: Mutex<Stream>,
    shared: Arc<Shared>,
}

impl LinkLife {
    /// Both directions end.
    fn cut(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // It may be over already.
        drop(stream.shutdown(Shutdown::Both));
    }
}

impl Life for LinkLife {
    fn signal(&self, signal: Signal) {
        let ending = [
            Signal::HUP,
            Signal::INT,
            Signal::QUIT,
            Signal::TERM,
            Signal::KILL,
        ];
        if ending.contains(&signal) {
            let first = &self.shared.signal;
            let raw = signal.as_raw();
            // The first one ended it.
            first
                .compare_exchange(0, raw, Ordering::Relaxed, Ordering::Relaxed)
                .ok();
            self.cut();
        }
    }

    fn owed(&self) -> usize {
        self.shared.owed.load(Ordering::Relaxed)
    }

    fn finish(self: Box<Self>) {
        self.cut();
    }
}
