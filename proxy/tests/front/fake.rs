//! A server behind the front that does what a test specifies.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use tapewright_proxy::system::Signal;
use tapewright_proxy::upstream::{
    ChunkSink, ChunkSource, Life, Link, OpenError, ReadResult, Upstream,
};
use tapewright_schemas::event::{Exit, Peer};

/// Longer than any step of a test takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A queue on which a test waits.
#[derive(Debug)]
pub(crate) struct Seen<T>(Mutex<VecDeque<T>>, Condvar);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Mutex::default(), Condvar::new())
    }
}

impl<T> Seen<T> {
    pub(crate) fn push(&self, one: T) {
        self.0.lock().unwrap().push_back(one);
        self.1.notify_all();
    }

    /// The next one; panics if there is none in time.
    pub(crate) fn next(&self) -> T {
        let queue = self.0.lock().unwrap();
        let (mut queue, _) = self
            .1
            .wait_timeout_while(queue, LIMIT, |queue| queue.is_empty())
            .unwrap();
        queue.pop_front().expect("something comes in time")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

/// The output of a test's server.
#[derive(Clone)]
pub(crate) struct Out {
    /// The number of this server, from 1.
    pub(crate) number: u32,
    lines: SyncSender<Vec<u8>>,
}

impl Out {
    pub(crate) fn say(&self, line: &str) {
        // A front that has ended receives nothing.
        self.lines.send(format!("{line}\n").into_bytes()).ok();
    }
}

type Behaviour = dyn Fn(&Out, &str) + Send + Sync;

/// A server that answers each line as a test specifies.
#[derive(Clone)]
pub(crate) struct Fake {
    behaviour: Arc<Behaviour>,
    started: Arc<AtomicU32>,
    /// Numbers of the servers whose input has ended.
    pub(crate) ended: Arc<Seen<u32>>,
    /// Every received line, with the number of its server.
    pub(crate) heard: Arc<Seen<(u32, String)>>,
}

impl Fake {
    pub(crate) fn new(behaviour: impl Fn(&Out, &str) + Send + Sync + 'static) -> Self {
        Self {
            behaviour: Arc::new(behaviour),
            started: Arc::default(),
            ended: Arc::default(),
            heard: Arc::default(),
        }
    }

    pub(crate) fn started(&self) -> u32 {
        self.started.load(Ordering::SeqCst)
    }

    /// The next line that any server received.
    pub(crate) fn next(&self) -> (u32, String) {
        self.heard.next()
    }
}

impl Upstream for Fake {
    fn open(&self) -> Result<Link, OpenError> {
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let (to_server, lines) = sync_channel::<Vec<u8>>(1_000);
        let (say, to_client) = sync_channel(1_000);
        let (end, has_ended) = sync_channel::<()>(1);
        let out = Out { number, lines: say };
        let fake = self.clone();
        thread::spawn(move || {
            let mut text = Vec::new();
            for chunk in lines {
                text.extend_from_slice(&chunk);
                while let Some(at) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=at).collect();
                    let line = String::from_utf8(line).unwrap().trim_end().to_owned();
                    if line.contains("\"exit\"") {
                        return;
                    }
                    fake.heard.push((out.number, line.clone()));
                    (fake.behaviour)(&out, &line);
                }
            }
            fake.ended.push(out.number);
            drop(end);
        });
        Ok(Link {
            peer: Peer::Process { pid: number },
            to_server: Box::new(Sink(to_server)),
            to_client: Box::new(Source(to_client)),
            log: None,
            ended: Box::new(move || {
                has_ended.recv().ok();
                Ok(Exit::Code(0))
            }),
            life: Box::new(Immortal),
        })
    }
}

struct Sink(SyncSender<Vec<u8>>);

impl ChunkSink for Sink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        let sent = self.0.send(chunk.to_vec());
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

struct Source(Receiver<Vec<u8>>);

impl ChunkSource for Source {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        let chunk = match timeout {
            None => self.0.recv().ok(),
            Some(timeout) => match self.0.recv_timeout(timeout) {
                Ok(chunk) => Some(chunk),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => return Ok(ReadResult::TimedOut),
                Err(_) => None,
            },
        };
        let Some(chunk) = chunk else {
            return Ok(ReadResult::End);
        };
        space.extend_from_slice(&chunk);
        Ok(ReadResult::Bytes(chunk.len()))
    }
}

struct Immortal;

impl Life for Immortal {
    fn signal(&self, _: Signal) {}

    fn finish(self: Box<Self>) {}
}

/// A server's answer to `initialize`.
pub(crate) fn welcome(id: &str, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

/// The id of a line, as source text.
pub(crate) fn id_of(line: &str) -> Option<&str> {
    let rest = line.split("\"id\":").nth(1)?;
    rest.split([',', '}']).next()
}

/// A server that opens sessions of a revision and answers each request with an empty result, unless
/// `special` has handled it.
pub(crate) fn plain(
    version: &'static str,
    special: impl Fn(&Out, &str) -> bool + Send + Sync + 'static,
) -> Fake {
    Fake::new(move |out, line| {
        if special(out, line) {
            return;
        }
        let (Some(id), true) = (id_of(line), line.contains("\"method\"")) else {
            return;
        };
        if line.contains("\"initialize\"") {
            out.say(&welcome(id, version));
        } else {
            out.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    })
}
