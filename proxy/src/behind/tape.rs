//! A tape that is read while it is written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tapewright_schemas::tape::{Ending, Header, Reader};

use super::{MakeObserver, Observer};
use crate::page::Growing;
use crate::system::files;

/// A tape that is read while it is written.
pub(super) struct Tape {
    reader: Reader<Growing>,
    file: Arc<File>,
    path: PathBuf,
    observer: Box<dyn Observer>,
    is_over: bool,
}

/// The result of opening a file.
pub(super) enum Opened {
    /// A tape that is observed.
    Tape(Box<Tape>),
    /// Not a tape, or one that is not observed.
    Nothing,
    /// Its first line is not complete yet.
    Unknown,
}

impl Tape {
    /// Opens a tape if it is wanted.
    pub(super) fn open(
        path: &Path,
        is_wanted: impl Fn(&Header) -> bool,
        make: &MakeObserver,
    ) -> io::Result<Opened> {
        let file = Arc::new(File::open(path)?);
        let mut growing = Growing::new(Arc::clone(&file), 0);
        if !growing.more()? {
            return Ok(Opened::Unknown);
        }
        let Ok(reader) = Reader::open(growing) else {
            return Ok(Opened::Nothing);
        };
        let observer = Some(reader.header())
            .filter(|header| is_wanted(header))
            .and_then(make);
        let Some(observer) = observer else {
            return Ok(Opened::Nothing);
        };
        Ok(Opened::Tape(Box::new(Self {
            reader,
            file,
            path: path.to_owned(),
            observer,
            is_over: false,
        })))
    }

    /// Whether it was read to its end.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads up to this many available events; returns their number.
    pub(super) fn read_on(&mut self, most: usize) -> usize {
        let mut read = 0;
        while read < most && !self.is_over && self.reader.input().more().unwrap_or(false) {
            read += 1;
            match self.reader.next_event() {
                Ok(Some(event)) => {
                    let message = self.reader.envelope(&event);
                    self.observer.observe(&event, message.as_ref());
                }
                Ok(None) => {
                    // Lines of a later minor version, or the footer.
                    let is_end = matches!(self.reader.ending(), Some(Ending::Footer(_)));
                    self.reader.go_on();
                    if is_end {
                        self.finish();
                    }
                }
                // The rest of a damaged tape cannot be read.
                Err(_) => self.finish(),
            }
        }
        read
    }

    /// Reports that everything up to this time was read; without a writer, that is the end of the
    /// tape.
    pub(super) fn rest(&mut self, now: SystemTime) {
        if self.is_over {
            return;
        }
        if self.is_written() || self.reader.input().more().unwrap_or(false) {
            self.observer.tick(now);
        } else {
            self.finish();
        }
    }

    /// The number of unread bytes.
    pub(super) fn unread(&mut self) -> u64 {
        if self.is_over {
            return 0;
        }
        let length = self.file.metadata().map_or(0, |file| file.len());
        length.saturating_sub(self.reader.input().place())
    }

    /// Ends the tape.
    pub(super) fn finish(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.observer.finish();
        }
    }

    /// Whether it is still being written.
    fn is_written(&self) -> bool {
        files::is_written(&self.file, &self.path)
    }
}
