//! A server that does what a test specifies, including its log and its end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tapewright_proxy::client::{Client, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::system::Signal;
use tapewright_proxy::upstream::{
    ChunkSink, ChunkSource, Life, Link, OpenError, ReadResult, Upstream,
};
use tapewright_schemas::event::{Exit, Peer};
use tapewright_schemas::redact::{self, Rules};

/// Longer than any step takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A test's handler for the lines of the client, in order; `None` at their end.
type Role = dyn Fn(&Voice, Option<&str>) + Send + Sync;

/// A server that plays a role.
#[derive(Clone)]
pub(crate) struct Server {
    role: Arc<Role>,
    /// The received lines.
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
    /// The received signals.
    pub(crate) signals: Arc<Mutex<Vec<Signal>>>,
    ends_by: Option<Signal>,
}

/// The server's output for a role. It ends with the role's thread.
pub(crate) struct Voice {
    say: SyncSender<Vec<u8>>,
    log: SyncSender<Vec<u8>>,
    exit: SyncSender<Exit>,
    gone: Arc<AtomicBool>,
}

impl Voice {
    pub(crate) fn say(&self, line: &str) {
        self.raw(format!("{line}\n").as_bytes());
    }

    pub(crate) fn raw(&self, bytes: &[u8]) {
        // A client that is gone receives nothing.
        self.say.send(bytes.to_vec()).ok();
    }

    pub(crate) fn log(&self, text: &str) {
        self.log.send(text.as_bytes().to_vec()).ok();
    }

    pub(crate) fn exit(&self, code: i32) {
        self.gone.store(true, Ordering::SeqCst);
        self.exit.try_send(Exit::Code(code)).ok();
    }

    /// An empty result for a request.
    pub(crate) fn answer(&self, line: &str) {
        if let Some(id) = id_of(line) {
            self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }
}

/// The id of a line, as source text.
pub(crate) fn id_of(line: &str) -> Option<&str> {
    let rest = line.split("\"id\":").nth(1)?;
    rest.split([',', '}']).next()
}

impl Server {
    /// A server that exits when its input ends.
    pub(crate) fn new(role: impl Fn(&Voice, &str) + Send + Sync + 'static) -> Self {
        Self::with_end(move |voice, line| match line {
            Some(line) => role(voice, line),
            None => voice.exit(0),
        })
    }

    /// A server whose role determines how it ends; an exit ends its streams too.
    pub(crate) fn with_end(role: impl Fn(&Voice, Option<&str>) + Send + Sync + 'static) -> Self {
        Self {
            role: Arc::new(role),
            heard: Arc::default(),
            signals: Arc::default(),
            ends_by: Some(Signal::KILL),
        }
    }

    /// A client of this server.
    pub(crate) fn client(&self) -> Client {
        Client::open(self, settings(), Clock::start()).unwrap()
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

pub(crate) fn settings() -> Settings {
    let rules = Rules::new(&redact::Settings::default()).unwrap();
    Settings::new(Arc::new(rules))
}

impl Upstream for Server {
    fn open(&self) -> Result<Link, OpenError> {
        let (to_server, chunks) = sync_channel::<Vec<u8>>(4);
        let (say, said) = sync_channel(4);
        let (log, logged) = sync_channel(4);
        let (exit, exited) = sync_channel(4);
        let voice = Voice {
            say,
            log,
            exit: exit.clone(),
            gone: Arc::default(),
        };
        let server = self.clone();
        thread::spawn(move || {
            let mut text = Vec::new();
            for chunk in chunks {
                text.extend_from_slice(&chunk);
                while let Some(at) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=at).collect();
                    let line = String::from_utf8(line).unwrap().trim_end().to_owned();
                    server.heard.lock().unwrap().push(line.clone());
                    (server.role)(&voice, Some(&line));
                    if voice.gone.load(Ordering::SeqCst) {
                        return;
                    }
                }
            }
            (server.role)(&voice, None);
        });
        let life = Hold {
            signals: Arc::clone(&self.signals),
            ends_by: self.ends_by,
            exit,
        };
        Ok(Link {
            peer: Peer::Process { pid: 1 },
            to_server: Box::new(Sink(to_server)),
            to_client: Box::new(Source(said)),
            log: Some(Box::new(Source(logged))),
            ended: Box::new(move || exited.recv().map_err(io::Error::other)),
            life: Box::new(life),
        })
    }
}

struct Hold {
    signals: Arc<Mutex<Vec<Signal>>>,
    ends_by: Option<Signal>,
    exit: SyncSender<Exit>,
}

impl Life for Hold {
    fn signal(&self, signal: Signal) {
        self.signals.lock().unwrap().push(signal);
        if self.ends_by == Some(signal) {
            self.exit.try_send(Exit::Signal(signal.as_raw())).ok();
        }
    }

    fn finish(self: Box<Self>) {}
}

struct Sink(SyncSender<Vec<u8>>);

impl ChunkSink for Sink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        // Small pieces, so that a large message requires a server that reads.
        for piece in chunk.chunks(4_096) {
            let sent = self.0.send(piece.to_vec());
            sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}

struct Source(Receiver<Vec<u8>>);

impl ChunkSource for Source {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        match self.0.recv_timeout(timeout.unwrap_or(LIMIT)) {
            Ok(chunk) => {
                space.extend_from_slice(&chunk);
                Ok(ReadResult::Bytes(chunk.len()))
            }
            Err(RecvTimeoutError::Timeout) => Ok(ReadResult::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Ok(ReadResult::End),
        }
    }
}
