//! A sink for several threads, which write whole chunks.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::upstream::ChunkSink;

/// A sink for several threads: for the server's log, and a fault's additions to it.
#[derive(Clone)]
pub(crate) struct SharedSink(Arc<Mutex<Box<dyn ChunkSink>>>);

impl SharedSink {
    pub(crate) fn new(sink: Box<dyn ChunkSink>) -> Self {
        Self(Arc::new(Mutex::new(sink)))
    }
}

impl ChunkSink for SharedSink {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write(chunk)
    }
}
