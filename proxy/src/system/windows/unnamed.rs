//! Files that get a name when they are complete: not supported on this system, which uses named
//! ones instead.

use std::fs::File;
use std::io;
use std::path::Path;

pub(crate) fn create(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
