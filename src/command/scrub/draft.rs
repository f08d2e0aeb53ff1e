//! The new text of a file: the first reading writes it, and usually the second one would write the
//! same. This is certain once it has written the same up to the last part that taught a secret, and
//! has the same state there.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use tapewright_schemas::redact::{Redactor, Standing};

use super::ahead::Source;
use crate::files::NewFile;

/// What the first reading has learned: the length of the file up to the last part that taught a
/// secret, and the state there. Without a state it has forgotten a secret, and a second reading
/// cannot be compared.
#[derive(Debug)]
pub(super) struct Taught {
    pub(super) length: u64,
    pub(super) standing: Option<Standing>,
    learned: u64,
}

impl Taught {
    /// Before the first reading by this redactor.
    pub(super) fn new(redactor: &Redactor) -> Self {
        Self {
            length: 0,
            standing: redactor.standing(),
            learned: redactor.learned(),
        }
    }

    /// Whether a second reading that begins with this redactor is certain to give the same.
    pub(super) fn is_certain(&self, redactor: &Redactor) -> bool {
        self.length == 0 && self.standing.is_some() && redactor.standing() == self.standing
    }

    /// The redactor has read up to `length`.
    pub(super) fn read(&mut self, redactor: &Redactor, length: u64) {
        let learned = redactor.learned();
        if std::mem::replace(&mut self.learned, learned) != learned {
            self.length = length;
            self.standing = redactor.standing();
        }
    }
}

/// The text by the first reading. There is a file from the first change on.
pub(super) struct Draft<'f> {
    path: &'f Path,
    old: &'f Source,
    // The length of the unchanged beginning.
    same: u64,
    new: Option<NewFile>,
}

impl<'f> Draft<'f> {
    pub(super) fn new(path: &'f Path, old: &'f Source) -> Self {
        Self {
            path,
            old,
            same: 0,
            new: None,
        }
    }

    /// Takes the next text.
    pub(super) fn keep(&mut self, text: &[u8], is_same: bool) -> anyhow::Result<()> {
        if self.new.is_none() && is_same {
            self.same += text.len() as u64;
            return Ok(());
        }
        let new = match &mut self.new {
            Some(new) => new,
            none => {
                let new = none.insert(NewFile::create(self.path)?);
                self.old.copy_front(self.same, new.writer())?;
                new
            }
        };
        Ok(new.writer().write_all(text)?)
    }

    /// Begins a second reading by this redactor. If `is_whole`, it may confirm the text of the first
    /// one.
    pub(super) fn again<'t>(
        self,
        taught: &'t Taught,
        redactor: &Redactor,
        is_whole: bool,
    ) -> anyhow::Result<Again<'t>> {
        let may_be_same = taught.is_certain(redactor) || taught.length > 0;
        let is_comparable = is_whole && taught.standing.is_some();
        let new = self.new.filter(|_| is_comparable && may_be_same);
        let differs = new.is_none();
        let mut new = match new {
            Some(new) => new,
            None => NewFile::create(self.path)?,
        };
        new.writer().rewind()?;
        Ok(Again {
            new,
            taught,
            same: 0,
            differs,
            text: Vec::new(),
        })
    }
}

/// Compares a second reading with the file that the first one has written, and replaces what
/// differs.
pub(super) struct Again<'t> {
    new: NewFile,
    taught: &'t Taught,
    // The length that is the same.
    same: u64,
    differs: bool,
    // A part of the first reading's text.
    text: Vec<u8>,
}

impl Again<'_> {
    /// Whether it is certain that the first reading's text is right.
    pub(super) fn is_certain(&self) -> bool {
        !self.differs && self.taught.length == 0
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
                if length < self.taught.length {
                    return Ok(false);
                }
                self.differs = redactor.standing() != self.taught.standing;
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

    /// The file, for a second reading that does not compare.
    pub(super) fn writer(&mut self) -> &mut File {
        self.new.writer()
    }

    /// The file, and whether it has another text than the first reading's.
    pub(super) fn finish(self) -> (NewFile, bool) {
        (self.new, self.differs)
    }
}
