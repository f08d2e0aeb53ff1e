//! Waits until files grow: the system notifies, so waiting costs nothing.

use std::path::Path;
use std::time::Duration;

use crate::system::Readiness;
pub use crate::system::growth::Wakeup;
use crate::system::growth::{FileWatcher, wait};

/// The minimum time between two checks, so that a busy recorder is checked about twenty times a
/// second instead of for every message.
const REST: Duration = Duration::from_millis(50);
/// The interval between checks of files if the system does not notify.
const LOOK: Duration = Duration::from_millis(250);

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Something may have grown.
    Grown {
        /// Whether a file may have been created in a folder.
        came: bool,
    },
    /// Another thread has woken it.
    Woken,
    /// The time has passed.
    Time,
}

/// Files that may grow.
#[derive(Debug)]
pub struct Growth {
    told: FileWatcher,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            told: FileWatcher::new(),
        }
    }
}

impl Growth {
    /// Adds a file, or a folder in which files may be created and grow.
    pub fn add(&mut self, path: &Path) {
        self.told.add(path);
    }

    /// Waits until something may have grown, another thread wakes it, or the time has passed.
    /// Events since the last call count.
    #[must_use]
    pub fn wait(&self, most: Option<Duration>, wakeup: Option<&Wakeup>) -> WaitEnd {
        let is_told = self.told.is_told();
        let until = if is_told {
            most
        } else {
            Some(most.map_or(LOOK, |most| most.min(LOOK)))
        };
        let Readiness {
            has_grown,
            is_woken,
        } = wait(&self.told, wakeup, until);
        if is_woken {
            return WaitEnd::Woken;
        }
        if has_grown {
            std::thread::sleep(REST);
        } else if is_told || most.is_some_and(|most| most <= LOOK) {
            return WaitEnd::Time;
        }
        // The changed file does not matter: all are checked.
        WaitEnd::Grown {
            came: self.told.came(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::Write as _;
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
