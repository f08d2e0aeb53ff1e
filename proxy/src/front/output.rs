//! Splits a server's output into lines for the switchboard.

use std::io;
use std::sync::Arc;
use tapewright_schemas::event::Unroutable;

use bytes::Bytes;

use super::child::Child;
use super::route::Loss;
use super::switchboard::KEEP_BYTES;
use crate::upstream::ChunkSink;

/// Splits a server's output into lines for the switchboard.
pub(crate) struct Output {
    child: Arc<Child>,
    partial: Vec<u8>,
    // The rest of the current line is dropped.
    too_long: bool,
    limit_bytes: usize,
}

impl Output {
    pub(crate) fn new(child: Arc<Child>, limit_bytes: usize) -> Self {
        Self {
            child,
            partial: Vec::new(),
            too_long: false,
            limit_bytes,
        }
    }

    fn line(&mut self) {
        let line = Bytes::from(std::mem::take(&mut self.partial));
        let loss = if std::mem::take(&mut self.too_long) {
            self.child.fail_sole();
            Loss {
                message: Some(Unroutable::TooLong),
                earlier: 0,
            }
        } else {
            self.child.board().route(&line)
        };
        self.child.tell(loss);
        self.child.wait_for_readers(KEEP_BYTES);
    }
}

impl ChunkSink for Output {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.partial.len() + piece.len() > self.limit_bytes.saturating_add(2) {
                self.too_long = true;
                self.partial = Vec::new();
            }
            if !self.too_long {
                self.partial.extend_from_slice(piece);
            }
            if piece.last() == Some(&b'\n') {
                self.line();
            }
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.partial.is_empty() || self.too_long {
            self.line();
        }
        self.child.fall_silent();
    }
}
