//! Types that have the same meaning on every system.

use std::io;
use std::path::{Path, PathBuf};

/// The maximum number of processes of a server.
pub(super) const PROCESSES: usize = 8;

/// Why a folder cannot be used.
#[derive(Debug)]
#[cfg_attr(
    windows,
    expect(
        dead_code,
        reason = "owner and access list of a folder that exists are not read there"
    )
)]
pub(crate) enum FolderProblem {
    /// The system returned an error.
    Files { path: PathBuf, source: io::Error },
    /// Other users may read or write it.
    Loose { path: PathBuf, mode: u32 },
    /// It belongs to another user.
    Foreign { path: PathBuf },
    /// Another process keeps it locked.
    Locked { path: PathBuf },
}

impl FolderProblem {
    /// An error that the system returned for a path.
    pub(super) fn of(path: &Path, source: io::Error) -> Self {
        Self::Files {
            path: path.to_owned(),
            source,
        }
    }
}

/// The priority of a thread if processors are scarce.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    /// Lower than threads that others wait for.
    Behind,
    /// The lowest.
    Last,
}

/// What ended a wait, if anything did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Readiness {
    /// The system reported a change of a file.
    pub(crate) has_grown: bool,
    /// Another thread has woken this one; the state is reset.
    pub(crate) is_woken: bool,
}

/// A request to a program that uses the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSignal {
    /// End, with this signal.
    End(i32),
    /// Stop until the shell continues it; no shell on Windows asks for it.
    Suspend,
}

/// Why a path cannot name a file on Windows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Whatever its ending, such a name opens a device.
    #[error("`{0}` is the name of a device on Windows")]
    Device(String),
    /// Windows ignores them, so that the file would have another name.
    #[error("`{0}` ends with a dot or a space, which Windows ignores")]
    Ending(String),
    /// It separates the name of a file from that of a hidden stream in it.
    #[error("`{0}` has a colon, which separates the name of a stream on Windows")]
    Stream(String),
    /// A character that no name has.
    #[error("`{name}` has the character {character:?}, which no name on Windows has")]
    Character {
        /// The part of the path.
        name: String,
        /// The character.
        character: char,
    },
}
