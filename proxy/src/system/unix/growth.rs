//! File change notifications of the system.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::system::Readiness;

pub(crate) use self::told::FileWatcher;

/// How long to wait between two checks if waiting for events is not possible.
const LOOK: Duration = Duration::from_millis(250);

/// Wakes another thread from a wait.
#[derive(Debug)]
pub struct Wakeup {
    writer: PipeWriter,
    reader: PipeReader,
}

impl Wakeup {
    /// Uses two descriptors.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        // Neither end blocks the other.
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(Self { writer, reader })
    }

    /// Ends the current wait, or the next one.
    pub fn wake(&self) {
        // A full pipe has already woken it.
        drop((&self.writer).write(&[0]));
    }

    pub(crate) fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.reader).read(&mut bytes), Ok(read) if read > 0) {}
    }
}

#[cfg(target_os = "linux")]
mod told {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    /// Files watched by the system.
    #[derive(Debug)]
    pub(crate) struct FileWatcher {
        // `None` if the system supports no more watches.
        watch: Option<OwnedFd>,
    }

    impl FileWatcher {
        pub(crate) fn new() -> Self {
            let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
            Self { watch }
        }

        pub(crate) fn add(&mut self, path: &Path) {
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

        /// The descriptor that becomes readable after a change, if the system notifies.
        pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
            self.watch.as_ref().map(|watch| watch.as_fd())
        }

        /// Consumes the notifications; returns whether a file may have been created.
        pub(crate) fn came(&self) -> bool {
            let Some(watch) = &self.watch else {
                return true;
            };
            let mut room = [MaybeUninit::uninit(); 4_096];
            let mut told = Reader::new(watch, &mut room);
            // After an overflow, anything may have changed.
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
mod told {
    use std::os::fd::BorrowedFd;
    use std::path::Path;

    /// There are no notifications on this system.
    #[derive(Debug)]
    pub(crate) struct FileWatcher;

    impl FileWatcher {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn add(&mut self, _path: &Path) {}

        pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        pub(crate) fn came(&self) -> bool {
            true
        }
    }
}

impl FileWatcher {
    /// Whether the system notifies at all.
    pub(crate) fn is_told(&self) -> bool {
        self.watch().is_some()
    }
}

/// Waits for a notification of the system, a wake-up by another thread, or the timeout.
pub(crate) fn wait(
    files: &FileWatcher,
    wakeup: Option<&Wakeup>,
    most: Option<Duration>,
) -> Readiness {
    let watch = files.watch();
    let is_told = watch.is_some();
    let both: Vec<BorrowedFd<'_>> = watch
        .into_iter()
        .chain(wakeup.map(|wakeup| wakeup.reader.as_fd()))
        .collect();
    let ready = readable(&both, most);
    let has_grown = is_told && ready.first() == Some(&true);
    let woken = wakeup.filter(|_| ready.get(usize::from(is_told)) == Some(&true));
    if let Some(wakeup) = woken {
        wakeup.clear();
    }
    Readiness {
        has_grown,
        is_woken: woken.is_some(),
    }
}

/// Which of these are readable, after one is or the timeout has passed.
fn readable(all: &[BorrowedFd<'_>], most: Option<Duration>) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = all
        .iter()
        .map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN))
        .collect();
    let until = most.and_then(|most| Timespec::try_from(most).ok());
    match poll(&mut polled, until.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Vec::new(),
        // Waiting for events is not possible: check from time to time.
        Err(_) => std::thread::sleep(most.unwrap_or(LOOK)),
    }
    let ready = |one: &PollFd<'_>| !one.revents().is_empty();
    polled.iter().map(ready).collect()
}
