//! Spans of a file that mostly follow one another.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// The part of a file that was read last, for the next request of a span.
#[derive(Debug, Default)]
pub(super) struct Window {
    // Its offset.
    start: u64,
    text: Vec<u8>,
    // The number of bytes that are read at once.
    size: usize,
}

/// How much is read at a new position, in bytes.
const LEAST: usize = 4 << 10;
/// How much is read when reading sequentially, in bytes.
const MOST: usize = 256 << 10;

impl Window {
    /// The bytes of a span; fails if they do not exist.
    pub(super) fn read(
        &mut self,
        input: &mut (impl Read + Seek),
        span: Range<u64>,
    ) -> io::Result<&[u8]> {
        if self.inside(&span).is_none() {
            self.load(input, &span)?;
        }
        let inside = self.inside(&span);
        let text = inside.and_then(|inside| self.text.get(inside));
        text.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// The position of a span in the window, if it contains it.
    fn inside(&self, span: &Range<u64>) -> Option<Range<usize>> {
        let place = |at: u64| usize::try_from(at.checked_sub(self.start)?).ok();
        let (start, end) = (place(span.start)?, place(span.end)?);
        (end <= self.text.len()).then_some(start..end)
    }

    fn load(&mut self, input: &mut (impl Read + Seek), span: &Range<u64>) -> io::Result<()> {
        let near = (self.size as u64).saturating_add(self.text.len() as u64);
        let reads_on = span.start.abs_diff(self.start) <= near;
        let size = if reads_on { self.size * 4 } else { 0 };
        self.size = size.clamp(LEAST, MOST);
        // Times and places differ a little.
        self.start = span.start.saturating_sub(self.size as u64 / 8);
        let wanted = (span.end - self.start).max(self.size as u64);
        self.text.clear();
        input.seek(SeekFrom::Start(self.start))?;
        input.take(wanted).read_to_end(&mut self.text)?;
        Ok(())
    }
}
