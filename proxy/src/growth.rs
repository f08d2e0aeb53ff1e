//! Waiting until files grow: the system tells, so that waiting costs nothing.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long is waited at least between two looks, so that a busy recorder is looked at some
/// twenty times a second and not for every message.
const REST: Duration = Duration::from_millis(50);
/// How often files are looked at where the system does not tell.
const LOOK: Duration = Duration::from_millis(250);

/// Why waiting is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Something may have grown.
    Grown {
        /// Whether a file may have come into a folder.
        came: bool,
    },
    /// Another thread has woken it.
    Woken,
    /// It was waited for as long as was asked.
    Time,
}

/// Ends the waiting of another thread.
#[derive(Debug)]
pub struct Wakeup {
    writer: PipeWriter,
    reader: PipeReader,
}

impl Wakeup {
    /// Takes two descriptors.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        // Neither end blocks the other.
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(Self { writer, reader })
    }

    /// Ends the waiting that is under way, or the next one.
    pub fn wake(&self) {
        // A full pipe has woken it already.
        drop((&self.writer).write(&[0]));
    }

    fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.reader).read(&mut bytes), Ok(read) if read > 0) {}
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    /// Files that the system watches for us.
    #[derive(Debug)]
    pub(super) struct FileWatcher {
        // None where the system has no more room for watchers.
        watch: Option<OwnedFd>,
    }

    impl FileWatcher {
        pub(super) fn new() -> Self {
            let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
            Self { watch }
        }

        pub(super) fn add(&mut self, path: &Path) {
            let flags = WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::CREATE
                | WatchFlags::MOVED_TO;
            let added = self
                .watch
                .as_ref()
                .map(|watch| add_watch(watch, path, flags));
            if !matches!(added, Some(Ok(_))) {
                self.watch = None;
            }
        }

        /// What can be read once something has happened, where the system tells.
        pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
            self.watch.as_ref().map(|watch| watch.as_fd())
        }

        /// Takes what has happened; whether a file may have come.
        pub(super) fn came(&self) -> bool {
            let Some(watch) = &self.watch else {
                return true;
            };
            let mut room = [MaybeUninit::uninit(); 4_096];
            let mut told = Reader::new(watch, &mut room);
            // Too much to be told may have been anything.
            let files = ReadFlags::CREATE | ReadFlags::MOVED_TO | ReadFlags::QUEUE_OVERFLOW;
            let mut came = false;
            while let Ok(event) = told.next() {
                came |= event.events().intersects(files);
            }
            came
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::os::fd::BorrowedFd;
    use std::path::Path;

    /// The system does not report changes here.
    #[derive(Debug)]
    pub(super) struct FileWatcher;

    impl FileWatcher {
        pub(super) fn new() -> Self {
            Self
        }

        pub(super) fn add(&mut self, _path: &Path) {}

        pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        pub(super) fn came(&self) -> bool {
            true
        }
    }
}

/// Files that may grow.
#[derive(Debug)]
pub struct Growth {
    told: system::FileWatcher,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            told: system::FileWatcher::new(),
        }
    }
}

impl Growth {
    /// Another file, or a folder in which files may come and grow.
    pub fn add(&mut self, path: &Path) {
        self.told.add(path);
    }

    /// Waits until something may have grown, another thread wakes it, or for so long. What happened
    /// since the last call counts.
    #[must_use]
    pub fn wait(&self, most: Option<Duration>, wakeup: Option<&Wakeup>) -> WaitEnd {
        let watch = self.told.watch();
        let is_told = watch.is_some();
        let wait = if is_told {
            most
        } else {
            Some(most.map_or(LOOK, |most| most.min(LOOK)))
        };
        let both: Vec<BorrowedFd<'_>> = watch
            .into_iter()
            .chain(wakeup.map(|wakeup| wakeup.reader.as_fd()))
            .collect();
        let ready = readable(&both, wait);
        let has_grown = is_told && ready.first() == Some(&true);
        if let Some(wakeup) = wakeup
            && ready.get(usize::from(is_told)) == Some(&true)
        {
            wakeup.clear();
            return WaitEnd::Woken;
        }
        if has_grown {
            std::thread::sleep(REST);
        } else if is_told || most.is_some_and(|most| most <= LOOK) {
            return WaitEnd::Time;
        }
        // What happened to which file does not matter: all are looked at.
        WaitEnd::Grown {
            came: self.told.came(),
        }
    }
}

/// Which of these can be read, once one can or it was waited for so long.
fn readable(all: &[BorrowedFd<'_>], most: Option<Duration>) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = all
        .iter()
        .map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN))
        .collect();
    let until = most.and_then(|most| Timespec::try_from(most).ok());
    match poll(&mut polled, until.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Vec::new(),
        // Nothing can be waited for: it is looked at from time to time.
        Err(_) => std::thread::sleep(most.unwrap_or(LOOK)),
    }
    let ready = |one: &PollFd<'_>| !one.revents().is_empty();
    polled.iter().map(ready).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::sync::Arc;

    use super::*;

    const LONG: Option<Duration> = Some(Duration::from_secs(60));

    #[test]
    fn what_grows_or_comes_ends_the_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        File::create(&path).unwrap();
        let mut growth = Growth::default();
        growth.add(folder.path());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"more").unwrap();
        assert!(matches!(growth.wait(LONG, None), WaitEnd::Grown { .. }));
        File::create(folder.path().join("b")).unwrap();
        assert_eq!(growth.wait(LONG, None), WaitEnd::Grown { came: true });
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only Linux reports growth")]
    fn where_nothing_happens_nothing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut growth = Growth::default();
        growth.add(folder.path());
        let short = Some(Duration::from_millis(1));
        assert_eq!(growth.wait(short, None), WaitEnd::Time);
    }

    #[test]
    fn a_bell_ends_the_waiting_once() {
        let wakeup = Arc::new(Wakeup::new().unwrap());
        let growth = Growth::default();
        let ringing = Arc::clone(&wakeup);
        let ringer = std::thread::spawn(move || (0..100_000).for_each(|_| ringing.wake()));
        assert_eq!(growth.wait(LONG, Some(&wakeup)), WaitEnd::Woken);
        ringer.join().unwrap();
        wakeup.clear();
        let short = Some(Duration::from_millis(1));
        assert_eq!(growth.wait(short, Some(&wakeup)), WaitEnd::Time);
    }
}
