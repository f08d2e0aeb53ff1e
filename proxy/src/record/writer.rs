//! The writer thread: writes events from the queue to the tape.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use super::queue::Queue;
use super::stats::Stats;
use super::tapes::Tapes;

/// Starts the writer, which tells `began` once its tapes are there. It ends when the queue is closed
/// and empty, and returns its tapes.
pub(crate) fn spawn(
    make: impl FnOnce() -> Tapes + Send + 'static,
    queue: Arc<Queue>,
    stats: Arc<Stats>,
    began: SyncSender<()>,
) -> io::Result<JoinHandle<Tapes>> {
    thread::Builder::new()
        .name("tape".to_owned())
        .spawn(move || {
            // If the writer panics, nothing must wait for it.
            let _closes = CloseOnDrop(Arc::clone(&queue));
            let mut tapes = make();
            // A preview is not waited for, and neither is a disk that takes too long.
            began.try_send(()).ok();
            let mut batch = Vec::new();
            while queue.take(&mut batch) {
                for event in &mut batch {
                    tapes.encode(event);
                }
                tapes.flush();
                if let Some(now) = queue.ticked() {
                    tapes.tick(now);
                }
                stats.update(tapes.owed(), tapes.lost());
            }
            tapes
        })
}

/// Closes the queue when the thread that empties it ends.
struct CloseOnDrop(Arc<Queue>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
