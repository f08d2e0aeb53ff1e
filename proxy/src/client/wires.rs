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

/// An open link.
pub(super) struct Wires {
    pub(super) inbox: Inbox,
    /// The number of lines passed to the writer.
    pub(super) sent: u64,
    lines: Option<SyncSender<Bytes>>,
    life: Option<Box<dyn Life>>,
}

impl Wires {
    /// Starts the threads. They end with the link.
    pub(super) fn connect(link: Link, inbox: Inbox, clock: Clock) -> io::Result<Self> {
        let (lines, to_write) = sync_channel(1);
        // From here on an error ends the link.
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

    /// Passes a line to the writer; returns false if the previous one is not finished.
    pub(super) fn write(&mut self, line: Bytes) -> bool {
        let Some(lines) = &self.lines else {
            return false;
        };
        let taken = lines.try_send(line).is_ok();
        self.sent += u64::from(taken);
        taken
    }

    /// Ends the server: by closing its input, by terminating it, by killing it. Waits for `grace`
    /// in the first step, and for half of it in each of the others.
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
            // Another process may hold its log open, so it is not waited for.
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

/// Writes line by line. Closing the channel closes the server's input.
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

/// Splits the output into lines.
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
            // Read on anyway: the server may wait for that before it exits.
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
    // A closed client receives nothing.
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

/// The size of one read, in bytes.
const READ_SIZE: usize = 64 << 10;

/// How long a read waits before it checks the state.
const LOOK: Duration = Duration::from_millis(500);

/// How long each check for the server's exit waits.
const STEP: Duration = Duration::from_millis(20);
