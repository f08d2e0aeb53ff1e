//! A single forward pass over JSON text that yields byte ranges.

use super::grammar::{near_end, space, value_end};
use super::nesting::Open;
use super::plain::plain_run;
use crate::slices::Part as _;

/// The maximum nesting depth of arrays and objects; a deeper text is [`Invalid::TooDeep`].
///
/// Bounds the scanner's memory against a peer that sends a megabyte of `[`.
pub const MAX_DEPTH: usize = 2_048;

/// A half-open byte range of the scanned text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes of `text` that this span names; empty when it lies outside, as spans may that
    /// were found in text that is not JSON (see [`valid_members`](super::valid_members)).
    #[must_use]
    pub fn of<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// The content of a string, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// The position of the content.
    pub span: Span,
    /// Whether it contains a backslash, so that its value differs from its source text.
    pub escaped: bool,
}

/// One piece of JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `[` or `{` at this byte.
    Open {
        /// Whether it opens an object.
        object: bool,
        /// Its byte.
        at: usize,
    },
    /// `]` or `}` at this byte.
    Close {
        /// Whether it closes an object.
        object: bool,
        /// Its byte.
        at: usize,
    },
    /// A member name.
    Key(Text),
    /// A string value.
    String(Text),
    /// A number, with its source text.
    Number(Span),
    /// `true`, `false` or `null`.
    Literal(Span),
}

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The text ends inside a value.
    #[error("the JSON text ends too early")]
    Cut,
    /// A byte that the grammar does not allow here.
    #[error("byte {at} is not JSON")]
    Syntax {
        /// Offset of the byte.
        at: usize,
    },
    /// Nested beyond [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrClose,
    KeyOrClose,
    Key,
    CommaOrClose,
    End,
}

/// Walks JSON text and yields its tokens in order.
///
/// The text must be UTF-8 for the result to be JSON; the scanner itself only examines bytes, so it
/// can also walk text whose encoding was checked elsewhere.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a [u8],
    // 0 <= at <= text.len()
    at: usize,
    open: Open,
    expect: Expect,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            open: Open::default(),
            expect: Expect::Value,
        }
    }

    /// The number of open containers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open.depth
    }

    /// The offset of the next unread byte.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Continues with a value that begins at byte `at`, in the current container. The caller must
    /// ensure that a value begins there and that the skipped text is valid.
    pub fn jump_to_value(&mut self, at: usize) {
        self.at = at.min(self.text.len());
        self.expect = Expect::Value;
    }

    /// The next token, or `None` at the end of a whole and valid value.
    pub fn next_token(&mut self) -> Result<Option<Token>, Invalid> {
        loop {
            let Some(byte) = self.skip_space() else {
                return if self.expect == Expect::End {
                    Ok(None)
                } else {
                    Err(Invalid::Cut)
                };
            };
            let at = self.at;
            match (self.expect, byte) {
                (Expect::Value | Expect::ValueOrClose, b'"') => {
                    let text = self.string()?;
                    self.after_value();
                    return Ok(Some(Token::String(text)));
                }
                (Expect::Value | Expect::ValueOrClose, b'{' | b'[') => {
                    return self.open(byte == b'{').map(Some);
                }
                (Expect::Value | Expect::ValueOrClose, b'-' | b'0'..=b'9') => {
                    let span = self.number()?;
                    self.after_value();
                    return Ok(Some(Token::Number(span)));
                }
                (Expect::Value | Expect::ValueOrClose, b't' | b'f' | b'n') => {
                    let span = self.literal(byte)?;
                    self.after_value();
                    return Ok(Some(Token::Literal(span)));
                }
                (Expect::Key | Expect::KeyOrClose, b'"') => {
                    let text = self.string()?;
                    self.colon()?;
                    self.expect = Expect::Value;
                    return Ok(Some(Token::Key(text)));
                }
                (Expect::ValueOrClose | Expect::CommaOrClose, b']')
                    if self.open.last() == Some(false) =>
                {
                    return Ok(Some(self.close(false)));
                }
                (Expect::KeyOrClose | Expect::CommaOrClose, b'}')
                    if self.open.last() == Some(true) =>
                {
                    return Ok(Some(self.close(true)));
                }
                (Expect::CommaOrClose, b',') => {
                    self.at += 1;
                    let object = self.open.last() == Some(true);
                    self.expect = if object { Expect::Key } else { Expect::Value };
                }
                _ => return Err(Invalid::Syntax { at }),
            }
        }
    }

    /// A scanner before a value that begins at or after `at`, within `depth` open containers. It
    /// can skip the value, but nothing further.
    pub(super) fn within(text: &'a [u8], at: usize, depth: usize) -> Self {
        let mut scanner = Self::new(text);
        scanner.at = at.min(text.len());
        scanner.open.depth = depth;
        scanner
    }

    /// Skips the value that comes next and returns its range.
    pub fn skip_value(&mut self) -> Result<Span, Invalid> {
        if self.expect == Expect::Value {
            let start = space(self.text, self.at);
            if let Ok(end) = near_end(self.text, start, self.open.depth) {
                self.at = end;
                self.after_value();
                return Ok(Span { start, end });
            }
        }
        // It also determines what is wrong, and where.
        self.skip_token_by_token()
    }

    pub(super) fn skip_token_by_token(&mut self) -> Result<Span, Invalid> {
        self.skip_space();
        let start = self.at;
        let depth = self.open.depth;
        loop {
            self.next_token()?.ok_or(Invalid::Cut)?;
            if self.open.depth == depth {
                return Ok(Span {
                    start,
                    end: self.at,
                });
            }
        }
    }

    fn open(&mut self, object: bool) -> Result<Token, Invalid> {
        if self.open.depth == MAX_DEPTH {
            return Err(Invalid::TooDeep);
        }
        let at = self.at;
        self.at += 1;
        self.open.push(object);
        self.expect = if object {
            Expect::KeyOrClose
        } else {
            Expect::ValueOrClose
        };
        Ok(Token::Open { object, at })
    }

    fn close(&mut self, object: bool) -> Token {
        let at = self.at;
        self.at += 1;
        self.open.pop();
        self.after_value();
        Token::Close { object, at }
    }

    fn after_value(&mut self) {
        self.expect = if self.open.depth == 0 {
            Expect::End
        } else {
            Expect::CommaOrClose
        };
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    fn colon(&mut self) -> Result<(), Invalid> {
        match self.skip_space() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Invalid::Syntax { at: self.at }),
            None => Err(Invalid::Cut),
        }
    }

    fn string(&mut self) -> Result<Text, Invalid> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.text.part(self.at..));
            match self.peek() {
                None => return Err(Invalid::Cut),
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
                Some(_) => return Err(Invalid::Syntax { at: self.at }),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Invalid> {
        match self.text.get(self.at + 1) {
            None => Err(Invalid::Cut),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => {
                let digits = self
                    .text
                    .get(self.at + 2..self.at + 6)
                    .ok_or(Invalid::Cut)?;
                if let Some(bad) = digits.iter().position(|digit| !digit.is_ascii_hexdigit()) {
                    return Err(Invalid::Syntax {
                        at: self.at + 2 + bad,
                    });
                }
                self.at += 6;
                Ok(())
            }
            Some(_) => Err(Invalid::Syntax { at: self.at + 1 }),
        }
    }

    fn digits(&mut self) -> Result<(), Invalid> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match (self.at > start, self.peek()) {
            (true, _) => Ok(()),
            (false, None) => Err(Invalid::Cut),
            (false, Some(_)) => Err(Invalid::Syntax { at: self.at }),
        }
    }

    fn number(&mut self) -> Result<Span, Invalid> {
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

    fn literal(&mut self, first: u8) -> Result<Span, Invalid> {
        let word: &[u8] = match first {
            b't' => b"true",
            b'f' => b"false",
            _ => b"null",
        };
        let start = self.at;
        let rest = self.text.part(start..);
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(Span {
                start,
                end: self.at,
            })
        } else if word.starts_with(rest) {
            Err(Invalid::Cut)
        } else {
            let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
            Err(Invalid::Syntax { at: start + same })
        }
    }
}

/// Whether `text` is UTF-8 and exactly one JSON value, with optional white space around it.
#[must_use]
pub fn is_valid(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok() && is_grammatical(text)
}

/// Whether `text`, which is UTF-8, is exactly one JSON value.
pub(crate) fn is_grammatical(text: &[u8]) -> bool {
    value_end(text, 0, 0).is_some_and(|end| space(text, end) == text.len())
}

#[cfg(test)]
mod tests;
