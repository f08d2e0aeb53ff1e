//! Temporary files of killed writers to a folder. Their names are those of objects with a number at
//! the end, as in `….json#3`, and no listing shows them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Store, StoreError};
use crate::names::{Kind, MANIFESTS, PROBES};

/// A temporary file.
#[derive(Debug)]
pub struct Stray {
    path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

impl Stray {
    /// Removes it; a missing one counts as removed.
    pub fn remove(&self) -> Result<(), StoreError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::file(&self.path, &error))
            }
            _ => Ok(()),
        }
    }
}

/// How deep folders are searched for them.
const DEPTH: usize = 3;

impl Store {
    /// The temporary files of a folder for which `is_old` holds, by the time of their last change
    /// in milliseconds since 1970. A bucket has none.
    pub fn strays(&self, is_old: &dyn Fn(i64) -> bool) -> Result<Vec<Stray>, StoreError> {
        let mut strays = Vec::new();
        let Some(store) = &self.folder else {
            return Ok(strays);
        };
        let kinds = Kind::ALL.map(Kind::folder);
        for folder in kinds.into_iter().chain([MANIFESTS, PROBES]) {
            let folder = store.join(folder);
            // Nothing may have been written to this folder yet.
            if folder.is_dir() {
                walk(&mut strays, &folder, is_old, DEPTH)?;
            }
        }
        Ok(strays)
    }
}

fn walk(
    strays: &mut Vec<Stray>,
    folder: &Path,
    is_old: &dyn Fn(i64) -> bool,
    depth: usize,
) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder).map_err(|error| StoreError::file(folder, &error))?;
    for entry in entries.flatten() {
        // A file that is gone has got its name.
        let Ok(meta) = entry.metadata() else { continue };
        let path = entry.path();
        if meta.is_dir() && depth > 0 {
            walk(strays, &path, is_old, depth - 1)?;
            continue;
        }
        let modified = meta.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let ms = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        if meta.is_file() && is_stray(&path) && ms.is_some_and(is_old) {
            let bytes = meta.len();
            strays.push(Stray { path, bytes });
        }
    }
    Ok(())
}

fn is_stray(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = name.rsplit_once('#').map(|(_, number)| number);
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
