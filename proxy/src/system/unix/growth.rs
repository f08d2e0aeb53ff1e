//! What the system tells of files that grow.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub(crate) use self::told::FileWatcher;

/// How long nothing is waited for where nothing can be, between two looks.
const LOOK: Duration = Duration::from_millis(250);

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

    /// Files that the system watches for us.
    #[derive(Debug)]
    pub(crate) struct FileWatcher {
        // None where the system has no more room for watchers.
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

        /// What can be read once something has happened, where the system tells.
        pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
            self.watch.as_ref().map(|watch| watch.as_fd())
        }

        /// Takes what has happened; whether a file may have come.
        pub(crate) fn came(&self) -> bool {
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
mod told {
    use std::os::fd::BorrowedFd;
    use std::path::Path;

    /// The system does not report changes here.
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
    /// Whether the system tells at all.
    pub(crate) fn is_told(&self) -> bool {
        self.watch().is_some()
    }
}

/// What ended a wait, if anything did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Readiness {
    /// The system has told of a file.
    pub(crate) has_grown: bool,
    /// Another thread has woken us, which is taken note of.
    pub(crate) is_woken: bool,
}

/// Waits until the system tells, another thread wakes us, or for so long.
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
