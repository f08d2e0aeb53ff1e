//! Suites and what they import, from the disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tapewright_config::Files;

/// The name of a suite that is read from standard input.
const STANDARD_INPUT: &str = "-";

/// The files of the disk.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // A pipe has no length beforehand.
        if path == Path::new(STANDARD_INPUT) {
            let input = io::stdin().lock();
            input.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        } else {
            let file = File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        }
        if bytes.len() as u64 > limit_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if path == Path::new(STANDARD_INPUT) {
            // What it imports is looked for here.
            return Ok(Path::new(".").canonicalize()?.join(STANDARD_INPUT));
        }
        path.canonicalize()
    }
}
