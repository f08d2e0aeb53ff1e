//! Adapts a queue of lines to the chunks of a lane.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::Maker;

use super::line_queue::{LineQueue, Taken};
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// Splits chunks into lines.
pub struct LineSink {
    line_queue: LineQueue,
    partial: Vec<u8>,
    limit_bytes: usize,
}

impl ChunkSink for LineSink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.partial.len() + piece.len() > self.limit_bytes.saturating_add(2) {
                return Err(io::Error::other("a message is too long"));
            }
            self.partial.extend_from_slice(piece);
            if self.partial.last() == Some(&b'\n') {
                self.push()?;
            }
        }
        Ok(())
    }
}

impl LineSink {
    /// A sink that takes lines of at most `limit_bytes`.
    #[must_use]
    pub fn new(line_queue: LineQueue, limit_bytes: usize) -> Self {
        Self {
            line_queue,
            partial: Vec::new(),
            limit_bytes,
        }
    }

    fn push(&mut self) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.partial);
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let pushed = self.line_queue.push_blocking(Bytes::from(line));
        pushed.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Drop for LineSink {
    fn drop(&mut self) {
        if !self.partial.is_empty() {
            // An error means that there is no receiver.
            drop(self.push());
        }
        self.line_queue.finish();
    }
}

/// Yields lines as chunks.
pub struct LineSource {
    line_queue: LineQueue,
    rest: Bytes,
    // The maker of the current line.
    maker: Maker,
    // The line feed is still to be sent.
    ends_line: bool,
}

impl LineSource {
    /// A source of the lines of a queue.
    #[must_use]
    pub fn new(line_queue: LineQueue) -> Self {
        Self {
            line_queue,
            rest: Bytes::new(),
            maker: Maker::Peer,
            ends_line: false,
        }
    }
}

impl ChunkSource for LineSource {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        if self.rest.is_empty() && !self.ends_line {
            match self.line_queue.take_blocking(timeout) {
                Taken::Line(line) => {
                    self.rest = line.bytes;
                    self.maker = line.maker;
                    self.ends_line = true;
                }
                Taken::End => return Ok(ReadResult::End),
                Taken::TimedOut => return Ok(ReadResult::TimedOut),
            }
        }
        let before = space.len();
        let room = space.capacity() - before;
        let part = self.rest.split_to(room.min(self.rest.len()));
        space.extend_from_slice(&part);
        if self.rest.is_empty() && space.len() < space.capacity() {
            space.push(b'\n');
            self.ends_line = false;
        }
        Ok(ReadResult::Bytes(space.len() - before))
    }

    fn maker(&self) -> Maker {
        self.maker
    }
}

impl Drop for LineSource {
    fn drop(&mut self) {
        self.line_queue.close();
    }
}
