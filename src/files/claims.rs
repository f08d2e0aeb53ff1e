//! Distributes things among processes by files in a folder that is removed with its creator.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A folder of claims, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Claims(PathBuf);

impl Claims {
    /// Creates a folder that only its owner can enter.
    pub(crate) fn create(now: SystemTime) -> io::Result<Self> {
        let nanos = now
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("tapewright-replay-{process}-{nanos:x}"));
        tapewright_proxy::system::files::create_own_folder(&folder)?;
        Ok(Self(folder))
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        // A leftover in the temporary folder does no harm.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Claims the first of `count` things with this name that is free; `None` if all are taken, or
/// claiming fails.
pub(crate) fn next(folder: &Path, name: &str, count: usize) -> Option<usize> {
    (0..count).find(|number| {
        let file = folder.join(format!("{name}.{number}"));
        let made = OpenOptions::new().write(true).create_new(true).open(file);
        made.is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once_and_the_folder_goes() {
        let claims = Claims::create(UNIX_EPOCH).unwrap();
        let folder = claims.path().to_owned();
        let take = |name: &str| next(&folder, name, 2);
        assert_eq!(
            [take("fs"), take("fs"), take("fs")],
            [Some(0), Some(1), None]
        );
        assert_eq!(take("git"), Some(0));
        drop(claims);
        assert!(!folder.exists());
        assert_eq!(take("fs"), None);
    }
}
