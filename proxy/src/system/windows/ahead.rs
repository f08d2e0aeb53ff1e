//! A thread that reads a pipe ahead.
//!
//! The system supports no time limit for reading a pipe on which both sides block, and only a read
//! shows that the other side has closed it. So a thread reads, and others look at what it has read.

use std::fs::File;
use std::io;
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tapewright_schemas::slices::Front as _;

use super::pipe::{CHUNK, read_some};
use crate::upstream::ReadResult;

/// The thread reads on while it has fewer bytes than this; the rest stays in the pipe. One more
/// chunk may come on top.
const LIMIT: usize = 256 << 10;

/// The data read by a thread.
#[derive(Debug)]
pub(super) struct Ahead(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    end: End,
    // It has no reader any more.
    is_dropped: bool,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Open,
    Reached,
    Failed(io::Error),
}

impl Ahead {
    pub(super) fn start(file: &Arc<File>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (file, filled) = (Arc::clone(file), Arc::clone(&shared));
        let reader = thread::Builder::new().name("pipe".to_owned());
        reader.spawn(move || filled.fill(&file))?;
        Ok(Self(shared))
    }

    /// Appends at most `room` bytes to `space`.
    pub(super) fn read(
        &mut self,
        space: &mut Vec<u8>,
        room: usize,
        timeout: Option<Duration>,
    ) -> io::Result<ReadResult> {
        let mut state = self.0.next(timeout);
        let count = room.min(state.bytes.len());
        if count > 0 {
            space.extend(state.bytes.drain(..count));
            self.0.changed.notify_all();
            return Ok(ReadResult::Bytes(count));
        }
        match take(&mut state.end) {
            End::Open => Ok(ReadResult::TimedOut),
            End::Reached => {
                state.end = End::Reached;
                Ok(ReadResult::End)
            }
            End::Failed(error) => {
                state.end = End::Reached;
                Err(error)
            }
        }
    }

    /// Whether the end was read; what came before it may not have been taken yet.
    pub(super) fn has_ended(&self) -> bool {
        !self.0.lock().is_open()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.0.lock().is_dropped = true;
        self.0.changed.notify_all();
    }
}

impl State {
    fn is_open(&self) -> bool {
        matches!(self.end, End::Open)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until the end, or until there is no reader.
    fn fill(&self, file: &File) {
        let mut buffer = vec![0; CHUNK];
        while self.has_room() {
            let read = read_some(file, &mut buffer);
            let mut state = self.lock();
            match read {
                Ok(0) => state.end = End::Reached,
                Ok(count) => state.bytes.extend_from_slice(buffer.front(count)),
                Err(error) => state.end = End::Failed(error),
            }
            self.changed.notify_all();
            if !state.is_open() {
                return;
            }
        }
    }

    /// Waits until there is room; false if there is no reader any more.
    fn has_room(&self) -> bool {
        let is_full = |state: &mut State| state.bytes.len() >= LIMIT && !state.is_dropped;
        let waited = self.changed.wait_while(self.lock(), is_full);
        !waited.unwrap_or_else(PoisonError::into_inner).is_dropped
    }

    /// The state once there is something to read, or after `timeout`.
    fn next(&self, timeout: Option<Duration>) -> MutexGuard<'_, State> {
        let nothing = |state: &mut State| state.bytes.is_empty() && state.is_open();
        let state = self.lock();
        match timeout {
            None => self
                .changed
                .wait_while(state, nothing)
                .unwrap_or_else(PoisonError::into_inner),
            Some(timeout) => {
                let waited = self.changed.wait_timeout_while(state, timeout, nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write as _};
    use std::os::windows::io::OwnedHandle;

    use super::*;

    fn pipe() -> (Ahead, PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        let file = File::from(OwnedHandle::from(reader));
        (Ahead::start(&Arc::new(file)).unwrap(), writer)
    }

    fn all(ahead: &mut Ahead) -> Vec<u8> {
        let mut read = Vec::new();
        while let ReadResult::Bytes(_) = ahead.read(&mut read, CHUNK, None).unwrap() {}
        read
    }

    #[test]
    fn the_end_shows_before_what_came_before_it_is_taken() {
        let (mut ahead, mut writer) = pipe();
        let mut read = Vec::new();
        let none = ahead.read(&mut read, CHUNK, Some(Duration::ZERO));
        assert!(matches!(none.unwrap(), ReadResult::TimedOut));
        writer.write_all(b"last words").unwrap();
        let first = ahead.read(&mut read, 4, None);
        assert!(matches!(first.unwrap(), ReadResult::Bytes(4)), "{read:?}");
        assert!(!ahead.has_ended());
        drop(writer);
        while !ahead.has_ended() {
            thread::yield_now();
        }
        read.extend(all(&mut ahead));
        assert_eq!(read, b"last words");
        let end = ahead.read(&mut read, CHUNK, Some(Duration::ZERO));
        assert!(matches!(end.unwrap(), ReadResult::End));
    }

    #[test]
    fn what_is_not_taken_stays_in_the_pipe() {
        let (mut ahead, mut writer) = pipe();
        let sent: Vec<u8> = (0..1_u32 << 20).flat_map(u32::to_le_bytes).collect();
        let expected = sent.clone();
        let writing = thread::spawn(move || writer.write_all(&sent).unwrap());
        let mut read = Vec::new();
        while read.len() < expected.len() {
            let held = ahead.0.lock().bytes.len();
            assert!(held < LIMIT + CHUNK, "{held} bytes are held");
            ahead.read(&mut read, 1 << 16, None).unwrap();
        }
        writing.join().unwrap();
        assert!(read == expected);
        assert_eq!(all(&mut ahead), b"");
    }
}
