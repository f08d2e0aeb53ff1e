//! Writes files that are either complete or missing.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use tapewright_proxy::system::files;

use super::find::final_target;
use super::output;
use crate::report::{self, Mistake};

/// How a new file is opened.
type Open = fn(&mut OpenOptions, &Path) -> io::Result<File>;

/// A file that is being written: under a temporary name next to its target, and renamed when it is
/// complete. If dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    goal: PathBuf,
    // `None` once it has its name, and for a target that is not a regular file.
    temporary: Option<PathBuf>,
}

impl NewFile {
    /// Begins a file that only its owner can read. A link is followed, so that its target is
    /// replaced and not the link. Missing folders are created.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path, files::open_own)
    }

    /// Begins a file that gets other permissions when it is complete.
    pub(crate) fn shared(path: &Path) -> anyhow::Result<Self> {
        Self::begin(path, files::open_shared)
    }

    fn begin(path: &Path, open: Open) -> anyhow::Result<Self> {
        output::possible(path)?;
        let goal = final_target(path);
        let fail = |error: io::Error| unwritable(path, &error);
        if let Ok(there) = fs::metadata(&goal)
            && !there.is_file()
        {
            // A pipe or a device cannot be replaced; opening a folder fails.
            let file = OpenOptions::new().write(true).open(&goal).map_err(fail)?;
            return Ok(Self {
                file,
                goal,
                temporary: None,
            });
        }
        if let Some(folder) = goal.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let (file, temporary) = create_beside(&goal, open).map_err(fail)?;
        Ok(Self {
            file,
            goal,
            temporary: Some(temporary),
        })
    }

    /// The file, for writing it and for reading what was written.
    pub(crate) fn writer(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, and these permissions if any.
    pub(crate) fn commit(mut self, permissions: Option<Permissions>) -> anyhow::Result<()> {
        let Some(temporary) = self.temporary.clone() else {
            return Ok(());
        };
        let settle = || {
            if let Some(permissions) = permissions {
                fs::set_permissions(&temporary, permissions)?;
            }
            self.file.sync_all()?;
            files::replace(&temporary, &self.goal)
        };
        settle().map_err(|error| unwritable(&self.goal, &error))?;
        self.temporary = None;
        // So that the name survives a power failure as well. Not every system supports this.
        if let Some(folder) = self
            .goal
            .parent()
            .and_then(|folder| File::open(folder).ok())
        {
            folder.sync_all().ok();
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // What cannot be removed cannot be reported from here.
            fs::remove_file(temporary).ok();
        }
    }
}

/// A file without a name, for data that does not fit into memory.
pub(crate) fn spool() -> anyhow::Result<File> {
    let folder = std::env::temp_dir();
    let fail = |error: io::Error| unwritable(&folder, &error);
    let (file, path) =
        create_beside(&folder.join("tapewright-spool"), files::open_own).map_err(fail)?;
    // Where an open file cannot be removed, the system's clean-up does it.
    fs::remove_file(path).ok();
    Ok(file)
}

fn create_beside(goal: &Path, open: Open) -> io::Result<(File, PathBuf)> {
    let name = goal.file_name().unwrap_or_default().to_string_lossy();
    let mut attempt = 0;
    loop {
        let temporary =
            goal.with_file_name(format!(".{name}.{}-{attempt}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        match open(&mut options, &temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    let path = report::safe(&path.display().to_string());
    let what = format!("cannot write `{path}`: {error}");
    Mistake::new(what, "choose a file in a folder that you can write to").into()
}

const ATTEMPTS: u32 = 1_000;
