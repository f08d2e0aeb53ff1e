//! The threads of a link: one each for reading, writing, the log, and the server's end.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{Direction, Exit};

use super::inbox::{Inbox, OutputEnd};
use super::reply::Passed;
use crate::clock::Clock;
use crate::system::Signal;
use crate::upstream::{ChunkSink, ChunkSource, Life, Link, ReadResult};

/// A link at work.
pub(super) struct Wires {
    pub(super) inbox: Inbox,
    /// How many lines were handed to the writer.
    pub(super) sent: u64,
    lines: Option<SyncSender<Bytes>>,
    life: Option<Box<dyn Life>>,
}

impl Wires {
    /// Starts the threads. They end with the link.
    pub(super) fn connect(link: Link, inbox: Inbox, clock: Clock) -> io::Result<Self> {
        let (lines, to_write) = sync_channel(1);
        // From here on the link is ended when a thread cannot be had.
        let wires = Self {
            inbox,
            sent: 0,
            lines: Some(lines),
            life: Some(link.life),
        };
        let (source, sink) = (link.to_client, link.to_server);
        let inbox = wires.inbox.clone();
        spawn("client-read", move || read(source, &inbox, clock))?;
        let inbox = wires.inbox.clone();
        spawn("client-write", move || write(&to_write, sink, &inbox))?;
        match link.log {
            None => wires.inbox.log_ended(),
            Some(log) => {
                let inbox = wires.inbox.clone();
                spawn("client-log", move || read_log(log, &inbox))?;
            }
        }
        let (ended, inbox) = (link.ended, wires.inbox.clone());
        spawn("client-wait", move || {
            inbox.exited(ended().unwrap_or(Exit::Code(1)));
        })?;
        Ok(wires)
    }

    /// Hands a line to the writer; false when it is not done with the last one.
    pub(super) fn write(&mut self, line: Bytes) -> bool {
        let Some(lines) = &self.lines else {
            return false;
        };
        let taken = lines.try_send(line).is_ok();
        self.sent += u64::from(taken);
        taken
    }

    /// Ends the server: by the end of its input, by a request, by force. Waits `grace` for
    /// the first, and half of it for each of the others.
    pub(super) fn close(&mut self, grace: Duration, clock: Clock) -> Option<Exit> {
        self.lines = None;
        self.inbox.close();
        let steps = [
            (None, grace),
            (Some(Signal::TERM), grace / 2),
            (Some(Signal::KILL), grace / 2),
        ];
        let mut exit = None;
        for (signal, time) in steps {
            if let (Some(signal), Some(life)) = (signal, &self.life) {
                life.signal(signal);
            }
            let until = clock.elapsed().saturating_add(time);
            // Its log may be held open by others, and is not waited for.
            while exit.is_none() && clock.elapsed() < until {
                exit = self.inbox.exit(STEP);
            }
            if exit.is_some() {
                break;
            }
        }
        if let Some(life) = self.life.take() {
            life.finish();
        }
        exit
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        self.lines = None;
        self.inbox.close();
        if let Some(life) = self.life.take() {
            life.signal(Signal::KILL);
            life.finish();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

/// Writes line by line. The end of the channel ends the server's input.
fn write(lines: &Receiver<Bytes>, mut sink: Box<dyn ChunkSink>, inbox: &Inbox) {
    for line in lines {
        let mut whole = Vec::with_capacity(line.len() + 1);
        whole.extend_from_slice(&line);
        whole.push(b'\n');
        let written = sink.write(&whole).is_ok();
        inbox.written(written);
        if !written {
            return;
        }
    }
}

/// Cuts what comes into lines.
fn read(mut source: Box<dyn ChunkSource>, inbox: &Inbox, clock: Clock) {
    let mut partial = Vec::new();
    loop {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        match source.read(&mut chunk, Some(LOOK)) {
            Ok(ReadResult::Bytes(_)) => {}
            Ok(ReadResult::TimedOut) if inbox.is_over() => break,
            Ok(ReadResult::TimedOut) => continue,
            Ok(ReadResult::End) | Err(_) => break,
        }
        if inbox.is_closed() {
            // Read all the same: the server may wait for that before it ends.
            partial.clear();
            continue;
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if partial.len() + piece.len() > inbox.limit_bytes.saturating_add(1) {
                inbox.end(OutputEnd::TooLong);
                return;
            }
            partial.extend_from_slice(piece);
            if piece.last() == Some(&b'\n') {
                said(std::mem::take(&mut partial), inbox, clock);
            }
        }
    }
    said(partial, inbox, clock);
    inbox.end(OutputEnd::Closed);
}

fn said(line: Vec<u8>, inbox: &Inbox, clock: Clock) {
    let line = Bytes::from(line);
    let message = line.slice_ref(line.trim_ascii());
    if message.is_empty() {
        return;
    }
    // A client that has left hears nothing.
    inbox.push(Passed {
        at: clock.now(),
        dir: Direction::ToClient,
        message,
    });
}

fn read_log(mut source: Box<dyn ChunkSource>, inbox: &Inbox) {
    loop {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        match source.read(&mut chunk, Some(LOOK)) {
            Ok(ReadResult::Bytes(_)) => inbox.logged(&chunk),
            Ok(ReadResult::TimedOut) if inbox.is_over() => break,
            Ok(ReadResult::TimedOut) => {}
            Ok(ReadResult::End) | Err(_) => break,
        }
    }
    inbox.log_ended();
}

/// How much one read takes, in bytes.
const READ_SIZE: usize = 64 << 10;

/// How long a read waits before it looks around.
const LOOK: Duration = Duration::from_millis(500);

/// How long one look for the server's end takes.
const STEP: Duration = Duration::from_millis(20);
