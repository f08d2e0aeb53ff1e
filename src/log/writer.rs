//! The destination of log lines.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use tapewright_proxy::system::{files, standard_error};
use tapewright_schemas::slices::Part as _;

use crate::files::output::{self, Overwrite};
use crate::report::{Mistake, safe};

/// The destination of log lines.
#[derive(Debug)]
pub(super) struct Destination {
    file: File,
    is_shared: bool,
    // Whether the last line was cut off.
    is_torn: bool,
}

impl Destination {
    /// Opens `name`: `stderr`, or a file, to which lines are appended, so that several recorders
    /// may share it and no earlier line is lost. `of` is the option or variable with the name.
    pub(super) fn open(name: &OsStr, of: &str) -> anyhow::Result<Self> {
        if name == "stderr" {
            return Ok(Self::of(standard_error::shared()?, true));
        }
        let path = Path::new(name);
        output::check_ahead(path, Overwrite::Log)?;
        let mut options = OpenOptions::new();
        let file = files::open_own(options.append(true).create(true), path);
        let file = file.map_err(|error| {
            let shown = safe(&path.display().to_string());
            let what = format!("cannot write the log `{shown}` of `{of}`: {error}");
            Mistake::new(what, "choose a writable file, or `stderr`")
        })?;
        Ok(Self::of(file, false))
    }

    fn of(file: File, is_shared: bool) -> Self {
        Self {
            file,
            is_shared,
            is_torn: false,
        }
    }

    /// Writes a line; false if it could not be written whole.
    pub(super) fn write(&mut self, line: &[u8]) -> bool {
        if self.is_torn && self.file.write_all(b"\n").is_err() {
            return false;
        }
        self.is_torn = false;
        let mut rest = line;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return false,
                Ok(count) => {
                    rest = rest.part(count..);
                    self.is_torn = !rest.is_empty();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    standard_error::wait(&self.file);
                }
                Err(_) => return false,
            }
        }
        true
    }

    /// The same destination, to check whether it is full, if it is one that may be left unread.
    pub(super) fn watched(&self) -> Option<Self> {
        let file = self.file.try_clone().ok().filter(|_| self.is_shared);
        file.map(|file| Self::of(file, true))
    }

    /// Whether writing a line would block.
    pub(super) fn is_full(&self) -> bool {
        standard_error::is_full(&self.file)
    }
}
