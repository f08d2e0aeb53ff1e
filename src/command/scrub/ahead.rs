//! Reads a recording ahead of its scrubber, in a thread of its own.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many parts wait to be scrubbed at most.
const AHEAD: usize = 2;

/// A part of more bytes is not read before the ones in front of it are done, so that several of them
/// are never in memory at once.
const LARGE: usize = 4 << 20;

/// A part of a recording.
pub(super) trait Part: Default + Send {
    /// Its length in bytes.
    fn length(&self) -> usize;
}

/// Calls `read` in another thread and `take` here, for each part in order: until `read` returns
/// that there is none, or `take` that it needs no more.
pub(super) fn each<P: Part, E: From<io::Error> + Send>(
    read: impl FnMut(&mut P) -> Result<bool, E> + Send,
    mut take: impl FnMut(&P) -> Result<bool, E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, filled) = sync_channel(AHEAD);
        // There is room for all that are under way, so that nothing waits to give one back.
        let (empty, emptied) = sync_channel(AHEAD + 2);
        let thread = thread::Builder::new().name("read-ahead".to_owned());
        thread.spawn_scoped(scope, move || run(read, &sender, &emptied))?;
        for part in filled {
            let part = part?;
            if take(&part)? {
                break;
            }
            empty.try_send(part).ok();
        }
        Ok(())
    })
}

/// Reads parts until there is none, or none is wanted.
fn run<P: Part, E>(
    mut read: impl FnMut(&mut P) -> Result<bool, E>,
    sender: &SyncSender<Result<P, E>>,
    emptied: &Receiver<P>,
) {
    let mut under_way = 0_usize;
    loop {
        let used = emptied.try_recv().ok();
        under_way -= usize::from(used.is_some());
        let mut part = used
            .filter(|used| used.length() <= LARGE)
            .unwrap_or_default();
        let next = match read(&mut part) {
            Ok(true) => Ok(part),
            Ok(false) => return,
            Err(error) => Err(error),
        };
        let is_last = next.is_err();
        let is_large = next.as_ref().is_ok_and(|part| part.length() > LARGE);
        if sender.send(next).is_err() || is_last {
            return;
        }
        under_way += 1;
        while is_large && under_way > 0 {
            if emptied.recv().is_err() {
                return;
            }
            under_way -= 1;
        }
    }
}

/// A file whose reader may be in another thread.
pub(super) struct Source(Mutex<File>);

impl Source {
    pub(super) fn new(file: File) -> Self {
        Self(Mutex::new(file))
    }

    pub(super) fn file(&self) -> MutexGuard<'_, File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues at this position.
    pub(super) fn seek(&self, at: u64) -> io::Result<()> {
        self.file().seek(SeekFrom::Start(at)).map(drop)
    }

    /// Copies the first `length` bytes. Its reader continues where it was.
    pub(super) fn copy_front(&self, length: u64, out: &mut impl Write) -> io::Result<()> {
        let mut file = self.file();
        let here = file.stream_position()?;
        file.rewind()?;
        io::copy(&mut Read::take(&mut *file, length), out)?;
        file.seek(SeekFrom::Start(here))?;
        Ok(())
    }
}

impl Read for &Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file().read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl Part for Vec<u8> {
        fn length(&self) -> usize {
            self.len()
        }
    }

    /// Parts of these lengths, each of the number of its place, and then an end.
    fn parts(lengths: &[usize]) -> impl FnMut(&mut Vec<u8>) -> io::Result<bool> {
        let mut place = 0;
        move |part| {
            let Some(length) = lengths.get(place) else {
                return Ok(false);
            };
            part.clear();
            part.resize(*length, u8::try_from(place).unwrap());
            place += 1;
            Ok(true)
        }
    }

    fn taken(lengths: &[usize], enough: usize) -> Vec<(u8, usize)> {
        let mut all = Vec::new();
        each(parts(lengths), |part: &Vec<u8>| {
            all.push((part[0], part.len()));
            Ok::<_, io::Error>(all.len() == enough)
        })
        .unwrap();
        all
    }

    #[test]
    fn parts_come_in_order_up_to_the_end_or_the_last_that_is_needed() {
        let lengths: Vec<_> = (1..=100).collect();
        let wanted: Vec<_> = (0..100).map(|at| (at, usize::from(at) + 1)).collect();
        assert_eq!(taken(&lengths, usize::MAX), wanted);
        for enough in [1, 2, 3, 50, 100] {
            assert_eq!(taken(&lengths, enough), wanted[..enough]);
        }
        assert_eq!(taken(&[], usize::MAX), []);
    }

    #[test]
    fn two_large_parts_are_never_read_at_once() {
        let lengths = [1, LARGE + 1, LARGE + 1, 1, LARGE + 1];
        let (large, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut read = parts(&lengths);
        let counted = |part: &mut Vec<u8>| {
            let more = read(part)?;
            if part.len() > LARGE {
                most.fetch_max(large.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            }
            Ok(more)
        };
        let mut count = 0;
        each(counted, |part: &Vec<u8>| {
            count += 1;
            if part.len() > LARGE {
                large.fetch_sub(1, Ordering::SeqCst);
            }
            Ok::<_, io::Error>(false)
        })
        .unwrap();
        assert_eq!((count, most.into_inner()), (5, 1));
    }

    #[test]
    fn an_error_of_either_side_ends_both() {
        let mut left = 5;
        let mut count = 0;
        let fails = |part: &mut Vec<u8>| {
            part.push(1);
            left -= 1;
            if left == 0 {
                return Err(io::Error::other("cannot be read"));
            }
            Ok(true)
        };
        let error = each(fails, |_: &Vec<u8>| {
            count += 1;
            Ok(false)
        });
        assert_eq!(error.unwrap_err().to_string(), "cannot be read");
        assert_eq!(count, 4);
        let endless = |part: &mut Vec<u8>| {
            part.resize(LARGE + 1, 0);
            Ok(true)
        };
        let error = each(endless, |_: &Vec<u8>| {
            Err(io::Error::other("cannot be written"))
        });
        assert_eq!(error.unwrap_err().to_string(), "cannot be written");
    }

    #[test]
    fn the_front_is_copied_and_the_reader_goes_on() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let source = Source::new(file);
        source.seek(4).unwrap();
        let mut front = Vec::new();
        source.copy_front(6, &mut front).unwrap();
        assert_eq!(front, b"012345");
        let mut rest = String::new();
        (&source).read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "456789");
    }
}
