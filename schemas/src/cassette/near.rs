//! A spool that is read in small pieces that are near one another.

use std::io::{self, Read, Seek, SeekFrom};

use crate::slices::{Part as _, PartMut as _};

/// Buffers the surroundings of the piece that was read last, so that a chain of short records does
/// not cost a system call each.
#[derive(Debug)]
pub(super) struct Near<'a, S> {
    spool: &'a mut S,
    at: u64,
    // A part of the spool, and its offset.
    start: u64,
    kept: Vec<u8>,
}

/// The size of the buffer, in bytes.
const KEPT: usize = 64 << 10;
/// How much of it precedes the piece that it was read for: chains are followed backwards.
const BEFORE: u64 = 8 << 10;

impl<'a, S: Read + Seek> Near<'a, S> {
    pub(super) fn new(spool: &'a mut S) -> Self {
        Self {
            spool,
            at: 0,
            start: 0,
            kept: Vec::new(),
        }
    }

    /// The buffered bytes of the spool from here on.
    fn here(&self) -> &[u8] {
        let offset = self.at.checked_sub(self.start);
        let offset = offset.and_then(|offset| usize::try_from(offset).ok());
        offset
            .and_then(|offset| self.kept.get(offset..))
            .unwrap_or_default()
    }

    fn load(&mut self) -> io::Result<()> {
        self.start = self.at.saturating_sub(BEFORE);
        self.spool.seek(SeekFrom::Start(self.start))?;
        // After an error nothing stays buffered.
        let mut kept = std::mem::take(&mut self.kept);
        kept.resize(KEPT, 0);
        let mut length = 0;
        while length < kept.len() {
            match self.spool.read(kept.part_mut(length..)) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        kept.truncate(length);
        self.kept = kept;
        Ok(())
    }
}

impl<S: Read + Seek> Read for Near<'_, S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.here().is_empty() && out.len() >= KEPT {
            // Buffering it would copy it twice.
            self.spool.seek(SeekFrom::Start(self.at))?;
            let count = self.spool.read(out)?;
            self.at += count as u64;
            return Ok(count);
        }
        if self.here().is_empty() {
            self.load()?;
        }
        let here = self.here();
        let count = here.len().min(out.len());
        out.part_mut(..count).copy_from_slice(here.part(..count));
        self.at += count as u64;
        Ok(count)
    }
}

impl<S: Read + Seek> Seek for Near<'_, S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self
                .at
                .checked_add_signed(by)
                .ok_or(io::ErrorKind::InvalidInput)?,
            SeekFrom::End(_) => self.spool.seek(to)?,
        };
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Counts how often it is read.
    struct Counted(Cursor<Vec<u8>>, usize);

    impl Read for Counted {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            self.0.read(out)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    fn spool(len: usize) -> Counted {
        let bytes = (0..len)
            .map(|place| (place / 7 % 251).try_into().unwrap())
            .collect();
        Counted(Cursor::new(bytes), 0)
    }

    #[test]
    fn whatever_is_read_in_whatever_order_is_what_stands_there() {
        let len = 3 * KEPT;
        let all = spool(len).0.into_inner();
        let mut spool = spool(len);
        let mut near = Near::new(&mut spool);
        let pieces = [0, 1, 40, KEPT - 1, KEPT, KEPT + 1, 2 * KEPT];
        let places = [
            0,
            9,
            KEPT - 5,
            KEPT,
            2 * KEPT + 3,
            len - 30,
            len - 1,
            len,
            17,
        ];
        for size in pieces {
            for place in places.into_iter().chain([8 << 10, 2 * KEPT - 1]) {
                let mut out = vec![0; size];
                near.seek(SeekFrom::Start(place as u64)).unwrap();
                let read = near.read_exact(&mut out).is_ok();
                assert_eq!(read, place + size <= len, "{size} at {place}");
                if read {
                    assert!(out == all[place..place + size], "{size} at {place}");
                    assert_eq!(near.stream_position().unwrap(), (place + size) as u64);
                }
            }
        }
    }

    #[test]
    fn short_pieces_one_after_the_other_are_read_as_one() {
        let mut spool = spool(KEPT);
        let mut near = Near::new(&mut spool);
        for place in (0..KEPT as u64 - 100).step_by(100) {
            // Backwards, as chains are.
            for at in [place + 60, place + 20, place] {
                near.seek(SeekFrom::Start(at)).unwrap();
                near.read_exact(&mut [0; 30]).unwrap();
            }
        }
        assert!(spool.1 <= 4, "{}", spool.1);
    }
}
