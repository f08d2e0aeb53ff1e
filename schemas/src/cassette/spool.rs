//! A file that texts are appended to.

use std::io::{self, BufWriter, Write};

use super::record::Tag;

/// A buffered writer that counts its position.
#[derive(Debug)]
pub(super) struct Spool<S: Write> {
    out: BufWriter<S>,
    /// The number of bytes written.
    pub(super) at: u64,
}

impl<S: Write> Spool<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            out: BufWriter::with_capacity(64 << 10, inner),
            at: 0,
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes a record; returns its offset.
    pub(super) fn record(&mut self, tag: Tag, link: u64, parts: &[&[u8]]) -> io::Result<u64> {
        let start = self.at;
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.put(&[tag as u8])?;
        self.put(&link.to_le_bytes())?;
        self.put(&(length as u64).to_le_bytes())?;
        for part in parts {
            self.put(part)?;
        }
        Ok(start)
    }

    pub(super) fn into_inner(self) -> io::Result<S> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}
