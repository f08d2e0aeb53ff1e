//! The text of a recording: in memory, or in its file.
//!
//! A long recording stays on the disk, and is read on demand. The file is kept open, so replacing
//! it under its name has no effect.

use std::fs::File;
use std::io;

use bytes::Bytes;
use tapewright_proxy::system::files;
use tapewright_schemas::json::Span;
use tapewright_schemas::slices::PartMut as _;

/// Where the text is.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Bytes),
    Disk(File),
}

/// The read-ahead of a reader, in bytes.
const AHEAD: usize = 1 << 18;

impl Source {
    /// The bytes of a span; empty if it is out of range.
    pub(crate) fn read(&self, span: Span) -> Bytes {
        match self {
            Self::Memory(text) if span.start <= span.end && span.end <= text.len() => {
                text.slice(span.start..span.end)
            }
            Self::Memory(_) => Bytes::new(),
            Self::Disk(file) => {
                let mut bytes = vec![0; span.end.saturating_sub(span.start)];
                match read_at(file, &mut bytes, span.start) {
                    Ok(read) if read == bytes.len() => bytes.into(),
                    _ => Bytes::new(),
                }
            }
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(text) => text.len(),
            Self::Disk(file) => {
                let length = file.metadata().map_or(0, |file| file.len());
                usize::try_from(length).unwrap_or_default()
            }
        }
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> Bytes {
        match self {
            Self::Memory(text) => text.clone(),
            Self::Disk(_) => self.read(Span {
                start: 0,
                end: self.len(),
            }),
        }
    }

    /// A reader for many spans, mostly in ascending order.
    pub(crate) fn reader(&self) -> SourceReader<'_> {
        SourceReader {
            source: self,
            window: Vec::new(),
            start: 0,
        }
    }
}

/// Reads spans of a source with read-ahead.
pub(crate) struct SourceReader<'s> {
    source: &'s Source,
    window: Vec<u8>,
    // Where the window begins.
    start: usize,
}

impl SourceReader<'_> {
    /// The bytes of a span; empty if it is out of range.
    pub(crate) fn read(&mut self, span: Span) -> &[u8] {
        let file = match self.source {
            Source::Memory(text) => return span.of(text),
            Source::Disk(file) => file,
        };
        let inside = self.start <= span.start && span.end <= self.start + self.window.len();
        if !inside {
            let length = span.end.saturating_sub(span.start);
            self.window.resize(length.max(AHEAD), 0);
            self.start = span.start;
            let read = read_at(file, &mut self.window, span.start).unwrap_or_default();
            self.window.truncate(read);
        }
        let here = Span {
            start: span.start.saturating_sub(self.start),
            end: span.end.saturating_sub(self.start),
        };
        here.of(&self.window)
    }
}

/// Reads until the buffer is full, or the file ends.
fn read_at(file: &File, bytes: &mut [u8], at: usize) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match files::read_at(file, bytes.part_mut(read..), (at + read) as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
