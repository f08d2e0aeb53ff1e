//! The new text of a document: the first reading writes it, and usually the second one would write
//! the same. This is certain once it has written the same up to the last piece that taught a
//! secret, and has the same state there.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use tapewright_schemas::redact::Redactor;
use tapewright_schemas::scrub::stream::{Checked, StreamError};

use crate::files::NewFile;

/// The text by the first reading. There is a file from the first change on.
pub(super) struct Draft<'f> {
    path: &'f Path,
    old: &'f File,
    // The length of the unchanged beginning.
    same: u64,
    new: Option<NewFile>,
    // The target cannot be read again.
    is_over: bool,
    problem: Option<anyhow::Error>,
}

impl<'f> Draft<'f> {
    pub(super) fn new(path: &'f Path, old: &'f File) -> Self {
        Self {
            path,
            old,
            same: 0,
            new: None,
            is_over: false,
            problem: None,
        }
    }

    /// Takes the next text.
    pub(super) fn keep(&mut self, text: &[u8], is_same: bool) -> io::Result<()> {
        if self.new.is_none() && is_same {
            self.same += text.len() as u64;
        } else if !self.is_over {
            let new = match self.new.take() {
                Some(new) => new,
                None => self.create()?,
            };
            self.is_over = !new.is_regular();
            if !self.is_over {
                self.new.insert(new).writer().write_all(text)?;
            }
        }
        Ok(())
    }

    /// A file with the unchanged beginning.
    fn create(&mut self) -> io::Result<NewFile> {
        let mut new = NewFile::create(self.path).map_err(|problem| {
            let error = io::Error::other(problem.to_string());
            self.problem = Some(problem);
            error
        })?;
        let mut old = self.old;
        if !new.is_regular() {
            return Ok(new);
        }
        let here = old.stream_position()?;
        old.rewind()?;
        io::copy(&mut old.take(self.same), new.writer())?;
        old.seek(SeekFrom::Start(here))?;
        Ok(new)
    }

    /// The result of the first reading, unless the file could not be created.
    pub(super) fn checked(
        &mut self,
        read: Result<Checked, StreamError>,
    ) -> anyhow::Result<Checked> {
        match self.problem.take() {
            Some(problem) => Err(problem),
            None => Ok(read?),
        }
    }

    /// The new file, if a second reading can confirm it.
    pub(super) fn finish(self, checked: &Checked) -> Option<NewFile> {
        let is_whole = checked.is_plain && checked.standing.is_some();
        self.new.filter(|_| is_whole)
    }
}

/// Compares a second reading with the file that the first one has written, and replaces what
/// differs.
pub(super) struct Again<'c> {
    new: NewFile,
    checked: &'c Checked,
    // The length that is the same.
    same: u64,
    differs: bool,
    // A piece of the first reading's text.
    text: Vec<u8>,
}

impl<'c> Again<'c> {
    pub(super) fn new(mut new: NewFile, checked: &'c Checked) -> io::Result<Self> {
        new.writer().rewind()?;
        Ok(Self {
            new,
            checked,
            same: 0,
            differs: false,
            text: Vec::new(),
        })
    }

    /// Takes the next text by the second reading, which has come to `length`; returns whether what
    /// follows is the same.
    pub(super) fn take(
        &mut self,
        text: &[u8],
        redactor: &Redactor,
        length: u64,
    ) -> io::Result<bool> {
        let file = self.new.writer();
        if !self.differs {
            self.text.resize(text.len(), 0);
            if file.read_exact(&mut self.text).is_ok() && self.text == text {
                self.same += text.len() as u64;
                if length < self.checked.taught {
                    return Ok(false);
                }
                self.differs = redactor.standing() != self.checked.standing;
                if self.differs {
                    file.set_len(self.same)?;
                }
                return Ok(!self.differs);
            }
            self.differs = true;
            file.set_len(self.same)?;
            file.seek(SeekFrom::Start(self.same))?;
        }
        file.write_all(text)?;
        Ok(false)
    }

    /// The file, and whether it has another text than the first reading's.
    pub(super) fn finish(self) -> (NewFile, bool) {
        (self.new, self.differs)
    }
}
