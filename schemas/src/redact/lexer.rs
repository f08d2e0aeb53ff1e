//! A fast lexer for JSON text.
//!
//! The grammar is that of [`crate::json::Scanner`]; tests compare the two. It is implemented again
//! here because redaction is in the path of every message, and the walk in [`super::body`] has its
//! own stack.

use crate::json::{Invalid, Span, Text};
use crate::slices::Part as _;

#[derive(Debug)]
pub(super) struct Lexer<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
}

impl Lexer<'_> {
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is not white space; it stays unread.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// The error of the current byte.
    #[cold]
    pub(super) fn refuse(&self) -> Invalid {
        if self.at < self.text.len() {
            Invalid::Syntax { at: self.at }
        } else {
            Invalid::Cut
        }
    }

    /// A member name with its colon.
    #[inline]
    pub(super) fn key(&mut self) -> Result<Text, Invalid> {
        if self.next() != Some(b'"') {
            return Err(self.refuse());
        }
        let text = self.string()?;
        if self.next() != Some(b':') {
            return Err(self.refuse());
        }
        self.at += 1;
        Ok(text)
    }

    /// A string; the current byte is its opening quote.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text, Invalid> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => {
                    let span = Span {
                        start,
                        end: self.at,
                    };
                    self.at += 1;
                    return Ok(Text { span, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.refuse()),
            }
        }
    }

    #[inline]
    fn skip_plain(&mut self) {
        for _ in 0..4 {
            let Some(chunk) = self.text.get(self.at..).and_then(|rest| rest.first_chunk()) else {
                return self.skip_plain_bytes();
            };
            let special = special(u64::from_le_bytes(*chunk));
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        self.skip_plain_blocks();
    }

    fn skip_plain_blocks(&mut self) {
        let mut rest = self.text.part(self.at..);
        while let Some((block, tail)) = rest.split_first_chunk::<64>() {
            if block.iter().fold(false, |hit, byte| {
                let special = is_special(*byte);
                hit | special
            }) {
                break;
            }
            self.at += 64;
            rest = tail;
        }
        while let Some((chunk, tail)) = rest.split_first_chunk() {
            let special = special(u64::from_le_bytes(*chunk));
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
            rest = tail;
        }
        self.skip_plain_bytes();
    }

    fn skip_plain_bytes(&mut self) {
        while self
            .peek()
            .is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
        {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), Invalid> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                // As in the scanner: too few bytes are an early end, whatever they are.
                let Some(digits) = self.text.get(self.at..self.at + 4) else {
                    return Err(Invalid::Cut);
                };
                if let Some(bad) = digits.iter().position(|digit| !digit.is_ascii_hexdigit()) {
                    return Err(Invalid::Syntax { at: self.at + bad });
                }
                self.at += 4;
                Ok(())
            }
            _ => Err(self.refuse()),
        }
    }

    /// A number; the current byte is a digit or a minus sign.
    #[inline]
    pub(super) fn number(&mut self) -> Result<Span, Invalid> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Span {
            start,
            end: self.at,
        })
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Invalid> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start {
            Ok(())
        } else {
            Err(self.refuse())
        }
    }

    /// `true`, `false` or `null`; the current byte is its first.
    #[inline]
    pub(super) fn literal(&mut self, first: u8) -> Result<Span, Invalid> {
        let word: &[u8] = match first {
            b't' => b"true",
            b'f' => b"false",
            _ => b"null",
        };
        let start = self.at;
        let rest = self.text.part(start..);
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(Span {
                start,
                end: self.at,
            });
        }
        self.at += rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        Err(self.refuse())
    }
}

/// Whether a byte ends a run of plain string content. Branch-free, so that the compiler can test
/// many at once.
#[inline]
fn is_special(byte: u8) -> bool {
    let (control, quote, slash) = (byte < 0x20, byte == b'"', byte == b'\\');
    control | quote | slash
}

/// Marks the bytes that end a run of plain string content: quotes, backslashes and
/// control characters. The lowest mark is exact, the ones above may be spurious.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (control | zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c))) & HIGH
}
