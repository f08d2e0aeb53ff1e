//! A JSON array whose elements come one by one.

use crate::read::{MAX_BYTES, Problem, ReadError};

/// Splits a JSON array into its elements. It counts brackets outside strings and leaves the rest of
/// the grammar to the reader of the elements.
#[derive(Debug, Default)]
pub(super) struct Array {
    // The current element.
    held: Vec<u8>,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_open: bool,
}

impl Array {
    /// Handles the next bytes, and returns the elements that they complete.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, ReadError> {
        let mut found = Vec::new();
        for &byte in chunk {
            if self.depth == 0 && !self.between(byte)? {
                continue;
            }
            self.held.push(byte);
            if self.held.len() > MAX_BYTES {
                return Err(ReadError::new(Problem::TooLong {
                    limit: MAX_BYTES,
                    unit: "bytes",
                }));
            }
            if self.closes(byte) {
                found.push(std::mem::take(&mut self.held));
            }
        }
        Ok(found)
    }

    /// Whether an element begins with this byte.
    fn between(&mut self, byte: u8) -> Result<bool, ReadError> {
        match byte {
            b'{' => Ok(true),
            b'[' if !self.is_open => {
                self.is_open = true;
                Ok(false)
            }
            b',' | b']' if self.is_open => Ok(false),
            b' ' | b'\t' | b'\r' | b'\n' => Ok(false),
            _ => Err(ReadError::expected("a list of objects")),
        }
    }

    fn closes(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0
    }
}
