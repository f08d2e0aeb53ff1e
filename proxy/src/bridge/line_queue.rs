//! A bounded queue of lines between threads that block and async tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::Maker;
use tokio::sync::Notify;

/// The capacity in bytes. A single line may be larger when the queue is empty.
const CAPACITY: usize = 4 << 20;

/// A line, without its line feed, and its maker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes.
    pub bytes: Bytes,
    /// Its maker.
    pub maker: Maker,
}

impl Line {
    /// A line made by tapewright in a peer's place.
    #[must_use]
    pub fn ours(bytes: Bytes) -> Self {
        let maker = Maker::Recorder;
        Self { bytes, maker }
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl From<Bytes> for Line {
    fn from(bytes: Bytes) -> Self {
        let maker = Maker::Peer;
        Self { bytes, maker }
    }
}

/// A bounded queue of lines. Both ends may block a thread or wait as a task.
#[derive(Clone, Debug, Default)]
pub struct LineQueue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    // Notify threads and tasks of a changed state.
    changed: Condvar,
    notify: Notify,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    bytes: usize,
    // The sender has finished.
    finished: bool,
    // The receiver is gone.
    gone: bool,
}

/// The receiver is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// The result of a wait with a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A line.
    Line(Line),
    /// There are no more lines.
    End,
    /// No line before the deadline.
    TimedOut,
}

impl LineQueue {
    /// Adds a line; blocks the thread until there is room.
    pub fn push_blocking(&self, line: impl Into<Line>) -> Result<(), Gone> {
        let line = line.into();
        let mut state = self.0.lock();
        while state.is_full(&line) {
            state = wait(&self.0.changed, state);
        }
        self.put(state, line)
    }

    /// Adds a line; waits as a task until there is room.
    pub(crate) async fn push(&self, line: impl Into<Line>) -> Result<(), Gone> {
        let line = line.into();
        loop {
            let mut changed = std::pin::pin!(self.0.notify.notified());
            changed.as_mut().enable();
            {
                let state = self.0.lock();
                if !state.is_full(&line) {
                    return self.put(state, line);
                }
            }
            changed.await;
        }
    }

    /// Adds a small line without waiting, even beyond the capacity.
    pub fn push_now(&self, line: impl Into<Line>) -> Result<(), Gone> {
        self.put(self.0.lock(), line.into())
    }

    /// Takes the next line; blocks the thread until `timeout`.
    #[must_use]
    pub fn take_blocking(&self, timeout: Option<Duration>) -> Taken {
        let mut state = self.0.lock();
        loop {
            if let Some(taken) = self.pop(&mut state) {
                return taken;
            }
            let Some(timeout) = timeout else {
                state = wait(&self.0.changed, state);
                continue;
            };
            let (next, waited) = self
                .0
                .changed
                .wait_timeout(state, timeout)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                return self.pop(&mut state).unwrap_or(Taken::TimedOut);
            }
        }
    }

    /// Takes the next line as a task; `None` at the end.
    pub(crate) async fn take(&self) -> Option<Bytes> {
        loop {
            let mut changed = std::pin::pin!(self.0.notify.notified());
            changed.as_mut().enable();
            match self.pop(&mut self.0.lock()) {
                Some(Taken::Line(line)) => return Some(line.bytes),
                Some(_) => return None,
                None => {}
            }
            changed.await;
        }
    }

    /// Ends the queue after its current lines.
    pub fn finish(&self) {
        self.0.lock().finished = true;
        self.0.wake();
    }

    /// Closes the receiving end.
    pub fn close(&self) {
        let mut state = self.0.lock();
        state.gone = true;
        state.lines.clear();
        state.bytes = 0;
        drop(state);
        self.0.wake();
    }

    /// Waits until nothing can be added.
    pub(crate) async fn closed(&self) {
        loop {
            let mut changed = std::pin::pin!(self.0.notify.notified());
            changed.as_mut().enable();
            if self.0.lock().is_over() {
                return;
            }
            changed.await;
        }
    }

    fn put(&self, mut state: MutexGuard<'_, State>, line: Line) -> Result<(), Gone> {
        if state.is_over() {
            return Err(Gone);
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        drop(state);
        self.0.wake();
        Ok(())
    }

    fn pop(&self, state: &mut State) -> Option<Taken> {
        if let Some(line) = state.lines.pop_front() {
            state.bytes -= line.len();
            self.0.wake();
            return Some(Taken::Line(line));
        }
        state.is_over().then_some(Taken::End)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.changed.notify_all();
        self.notify.notify_waiters();
    }
}

impl State {
    fn is_full(&self, line: &Line) -> bool {
        let waits = !self.lines.is_empty() && self.bytes + line.len() > CAPACITY;
        waits && !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.gone || self.finished
    }
}

fn wait<'a>(changed: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    changed.wait(state).unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_full_hose_holds_its_sender_until_there_is_room() {
        let line_queue = LineQueue::default();
        let big = Bytes::from(vec![b'x'; CAPACITY]);
        line_queue.push_blocking(big.clone()).unwrap();
        let sender = {
            let line_queue = line_queue.clone();
            thread::spawn(move || {
                let pushed = line_queue.push_blocking(Bytes::from_static(b"next"));
                line_queue.finish();
                pushed
            })
        };
        assert_eq!(line_queue.take_blocking(None), Taken::Line(big.into()));
        assert_eq!(
            line_queue.take_blocking(None),
            Taken::Line(Bytes::from_static(b"next").into())
        );
        assert_eq!(sender.join().unwrap(), Ok(()));
        assert_eq!(line_queue.take_blocking(None), Taken::End);
    }

    #[test]
    fn a_receiver_that_leaves_frees_a_waiting_sender() {
        let line_queue = LineQueue::default();
        line_queue
            .push_now(Bytes::from(vec![b'x'; CAPACITY]))
            .unwrap();
        let sender = {
            let line_queue = line_queue.clone();
            thread::spawn(move || line_queue.push_blocking(Bytes::from_static(b"next")))
        };
        line_queue.close();
        assert_eq!(sender.join().unwrap(), Err(Gone));
    }

    #[test]
    fn a_wait_with_a_deadline_ends() {
        let line_queue = LineQueue::default();
        assert_eq!(
            line_queue.take_blocking(Some(Duration::from_millis(1))),
            Taken::TimedOut
        );
    }

    #[tokio::test]
    async fn tasks_wait_as_threads_do() {
        let line_queue = LineQueue::default();
        line_queue
            .push(Bytes::from(vec![b'x'; CAPACITY]))
            .await
            .unwrap();
        let line = Bytes::from_static(b"next");
        let (pushed, taken) = tokio::join!(line_queue.push(line.clone()), line_queue.take());
        pushed.unwrap();
        assert_eq!(taken.unwrap().len(), CAPACITY);
        assert_eq!(line_queue.take().await, Some(line));
        line_queue.finish();
        assert_eq!(line_queue.take().await, None);
    }
}
