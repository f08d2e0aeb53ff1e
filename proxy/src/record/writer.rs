//! The writer: takes events from the queue and puts them on the tape.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use super::Settings;
use super::queue::Queue;
use super::tape_file::TapeWriter;

/// Starts the writer. It ends, and hands its tape back, once the queue is closed and
/// empty.
pub(crate) fn spawn(
    settings: Settings,
    queue: Arc<Queue>,
    owed: Arc<AtomicUsize>,
) -> io::Result<JoinHandle<TapeWriter>> {
    thread::Builder::new()
        .name("tape".to_owned())
        .spawn(move || {
            let mut tape = TapeWriter::create(settings);
            let mut batch = Vec::new();
            while queue.take(&mut batch) {
                for event in batch.drain(..) {
                    tape.encode(&event);
                }
                tape.flush();
                owed.store(tape.owed(), Ordering::Relaxed);
            }
            tape
        })
}
