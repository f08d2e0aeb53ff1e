//! The server's standard error: forwarded byte for byte, and recorded line by line.
//!
//! Reading only waits for writing when a buffer is full. A client that does not read its log stream
//! would block a verbose server forever when the pipes are full; instead, a stream whose reader
//! takes nothing for [`PATIENCE`] is recorded, but not forwarded until it reads again.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{Direction, Effect, EventBody, LineEnd, What};

use super::notes::Notes;
use super::pump::Gauge;
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// The buffer for forwarding, in bytes.
const BUFFER: usize = 4 << 20;

/// How long to wait with a full buffer before its reader counts as absent.
const PATIENCE: Duration = Duration::from_secs(2);

/// The size of one read, in bytes.
const READ_SIZE: usize = 16 * 1024;

/// The length above which a line is recorded in pieces, in bytes.
const LINE_LIMIT: usize = 64 * 1024;

/// Chunks to forward.
#[derive(Default)]
struct Waiting {
    chunks: VecDeque<Vec<u8>>,
    bytes: usize,
    // There are no more chunks.
    done: bool,
    // The receiver is gone.
    broken: bool,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        self.changed
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the server closes its standard error and everything was forwarded.
pub(crate) fn run(
    mut source: Box<dyn ChunkSource>,
    sink: Box<dyn ChunkSink>,
    notes: &Notes,
    gauge: &Arc<Gauge>,
) {
    let shared = Arc::new(Shared::default());
    let writer = {
        let (shared, gauge) = (Arc::clone(&shared), Arc::clone(gauge));
        let name = "stderr-out".to_owned();
        thread::Builder::new()
            .name(name)
            .spawn(move || drain(&shared, sink, &gauge))
    };
    let mut lines = Lines {
        notes,
        partial: Vec::new(),
    };
    let mut absent = false;
    let mut unsent = 0;
    loop {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        match source.read(&mut chunk, None) {
            Ok(ReadResult::Bytes(_)) => {}
            Ok(ReadResult::TimedOut) => continue,
            Ok(ReadResult::End) | Err(_) => break,
        }
        gauge.moved();
        lines.observe(&chunk);
        notes.recorder.keep_pace();
        unsent += pass_on(&shared, chunk, &mut absent);
    }
    lines.finish();
    if unsent > 0 {
        lines.not_passed_on(unsent);
    }
    shared.lock().done = true;
    shared.changed.notify_all();
    if let (Ok(writer), false) = (writer, absent) {
        // A panic there does not matter here.
        drop(writer.join());
    }
}

/// Passes a chunk to the writer; returns how many bytes were dropped instead.
fn pass_on(shared: &Shared, chunk: Vec<u8>, absent: &mut bool) -> usize {
    let size = chunk.len();
    let mut waiting = shared.lock();
    if waiting.bytes < BUFFER {
        *absent = false;
    }
    while waiting.bytes >= BUFFER && !waiting.broken && !*absent {
        let before = waiting.bytes;
        let (next, timeout) = shared
            .changed
            .wait_timeout(waiting, PATIENCE)
            .unwrap_or_else(PoisonError::into_inner);
        waiting = next;
        *absent = timeout.timed_out() && waiting.bytes >= before;
    }
    if waiting.broken || *absent {
        return size;
    }
    waiting.bytes += size;
    waiting.chunks.push_back(chunk);
    drop(waiting);
    shared.changed.notify_all();
    0
}

fn drain(shared: &Shared, mut sink: Box<dyn ChunkSink>, gauge: &Gauge) {
    loop {
        let mut waiting = shared.lock();
        while waiting.chunks.is_empty() && !waiting.done {
            waiting = shared.wait(waiting);
        }
        let Some(chunk) = waiting.chunks.pop_front() else {
            return;
        };
        drop(waiting);
        let written = sink.write(&chunk);
        gauge.moved();
        let mut waiting = shared.lock();
        waiting.bytes -= chunk.len();
        if written.is_err() {
            waiting.broken = true;
            waiting.chunks.clear();
        }
        drop(waiting);
        shared.changed.notify_all();
        if written.is_err() {
            return;
        }
    }
}

/// Splits the server's log into lines for the tape: a secret must not escape redaction because it
/// was written in two pieces.
struct Lines<'a> {
    notes: &'a Notes,
    partial: Vec<u8>,
}

impl Lines<'_> {
    fn observe(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            let whole = self.partial.last() == Some(&b'\n');
            if whole || self.partial.len() >= LINE_LIMIT {
                self.line(whole);
            }
        }
    }

    fn line(&mut self, whole: bool) {
        let mut line = std::mem::take(&mut self.partial);
        let mut end = LineEnd::None;
        if whole {
            line.pop();
            end = LineEnd::Lf;
            if line.last() == Some(&b'\r') {
                line.pop();
                end = LineEnd::CrLf;
            }
        }
        let line = Bytes::from(line);
        self.record(EventBody::Stderr { line, end });
    }

    fn finish(&mut self) {
        if !self.partial.is_empty() {
            self.line(false);
        }
    }

    /// Records that bytes were recorded but not forwarded.
    fn not_passed_on(&self, bytes: usize) {
        let bytes = bytes as u64;
        let effect = Effect::plain(What::Unread { bytes });
        self.record(EventBody::Faulted(effect.about(None)));
    }

    fn record(&self, body: EventBody) {
        self.notes.note(Direction::ToClient, body);
    }
}
