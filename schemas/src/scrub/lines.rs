//! Lines of a tape, cut into their members before anything is scrubbed, so that another thread can
//! do this.

use std::io::{self, Read};

use memchr::{memchr_iter, memrchr};

use crate::json::{self, Span, Text};
use crate::slices::Part as _;

/// Some whole lines of a tape, with their members. Only the last line of a file may lack its line
/// feed.
#[derive(Debug, Default)]
pub struct Lines {
    source: Source,
    all: Vec<Line>,
    // Of all lines, with positions in their line.
    members: Vec<(Text, Span)>,
}

/// The text of some lines.
#[derive(Debug)]
enum Source {
    Utf8(String),
    Bytes(Vec<u8>),
}

impl Source {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Utf8(text) => text.as_bytes(),
            Self::Bytes(text) => text,
        }
    }

    /// A line, if it is UTF-8.
    fn line(&self, start: usize, end: usize) -> Option<&str> {
        match self {
            Self::Utf8(text) => text.get(start..end),
            // Perhaps only another line is not.
            Self::Bytes(text) => str::from_utf8(text.part(start..end)).ok(),
        }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

/// Where a line ends, without its line feed.
#[derive(Clone, Copy, Debug)]
struct Line {
    end: usize,
    // The end of its members in the list; `None` if it is not JSON.
    members: Option<usize>,
}

/// One line without its line feed.
pub(super) struct OneLine<'l> {
    pub(super) bytes: &'l [u8],
    /// Its text and its members, if it is JSON.
    pub(super) json: Option<(&'l str, &'l [(Text, Span)])>,
    /// Where it begins.
    pub(super) start: usize,
}

impl Lines {
    /// Their text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.source.bytes()
    }

    /// The number of lines.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Makes room for other lines, and returns the empty buffer of the text.
    fn clear(&mut self) -> Vec<u8> {
        self.all.clear();
        self.members.clear();
        let mut text = match std::mem::take(&mut self.source) {
            Source::Utf8(text) => text.into_bytes(),
            Source::Bytes(text) => text,
        };
        text.clear();
        text
    }

    /// Cuts a text into lines and their members.
    fn cut(&mut self, text: Vec<u8>) {
        self.source = match String::from_utf8(text) {
            Ok(text) => Source::Utf8(text),
            Err(error) => Source::Bytes(error.into_bytes()),
        };
        let text = self.source.bytes();
        let mut start = 0;
        let ends = memchr_iter(b'\n', text);
        let rest = (text.last() != Some(&b'\n')).then_some(text.len());
        for end in ends.chain(rest) {
            let before = self.members.len();
            let line = self.source.line(start, end);
            let is_json = line.is_some_and(|line| members_of(line, &mut self.members));
            if !is_json {
                self.members.truncate(before);
            }
            let members = is_json.then_some(self.members.len());
            self.all.push(Line { end, members });
            start = end + 1;
        }
    }

    /// Calls `each` for every line, in order.
    pub(super) fn each<'l>(&'l self, mut each: impl FnMut(OneLine<'l>)) {
        let (mut start, mut first) = (0, 0);
        for line in &self.all {
            let bytes = self.text().part(start..line.end);
            let json = line.members.and_then(|last| {
                let members = self.members.part(first..last);
                first = last;
                Some((self.source.line(start, line.end)?, members))
            });
            each(OneLine { bytes, json, start });
            start = line.end + 1;
        }
    }
}

/// Validates that a line is JSON, and reads its members, which only an object has. Returns whether
/// it is.
pub(super) fn members_of(line: &str, members: &mut Vec<(Text, Span)>) -> bool {
    let line = line.as_bytes();
    let before = members.len();
    // A line by tapewright begins with its brace, and is validated while its members are read.
    if let Some(end) = json::members_end(line, 0, 0, |name, value| members.push((name, value))) {
        let mut behind = line.part(end..).iter();
        return behind.all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }
    members.truncate(before);
    let is_json = json::is_grammatical(line);
    if is_json {
        json::valid_members(line, |name, value| members.push((name, value)));
    }
    is_json
}

/// Reads the lines of a tape, many at a time.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    // The beginning of a line.
    rest: Vec<u8>,
}

impl<R: Read> LineReader<R> {
    /// Reads from the start of a line.
    pub fn new(input: R) -> Self {
        Self {
            input,
            rest: Vec::new(),
        }
    }

    /// Replaces `lines` by the next ones; returns whether there are any.
    pub fn read(&mut self, lines: &mut Lines) -> io::Result<bool> {
        let mut text = lines.clear();
        text.reserve(self.rest.len() + READ);
        text.append(&mut self.rest);
        loop {
            let from = text.len();
            let input: &mut dyn Read = &mut self.input;
            if input.take(READ as u64).read_to_end(&mut text)? == 0 {
                break;
            }
            if let Some(at) = memrchr(b'\n', text.part(from..)) {
                let end = from + at + 1;
                self.rest.extend_from_slice(text.part(end..));
                text.truncate(end);
                break;
            }
        }
        if text.is_empty() {
            return Ok(false);
        }
        lines.cut(text);
        Ok(true)
    }
}

/// The number of bytes that are read at once. Tests have many reads in short texts.
const READ: usize = if cfg!(test) { 64 } else { 1 << 18 };

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text, and whether each is JSON.
    fn lines(text: &[u8]) -> Vec<(Vec<u8>, bool)> {
        let mut reader = LineReader::new(text);
        let (mut lines, mut all, mut joined) = (Lines::default(), Vec::new(), Vec::new());
        while reader.read(&mut lines).unwrap() {
            let (before, length) = (all.len(), joined.len());
            lines.each(|line| {
                assert_eq!(line.start, joined.len() - length);
                joined.extend_from_slice(line.bytes);
                if joined.len() - length < lines.text().len() {
                    joined.push(b'\n');
                }
                all.push((line.bytes.to_vec(), line.json.is_some()));
            });
            assert_eq!(lines.count(), all.len() - before);
        }
        assert_eq!(joined, text);
        all
    }

    #[test]
    fn every_line_comes_once_and_whole() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000));
        let text = format!("{{\"tape\":\"2.0\"}}\n\n{long}\n[1]\nnot JSON\n{long}");
        let wanted = ["{\"tape\":\"2.0\"}", "", &long, "[1]", "not JSON", &long];
        let is_json = [true, false, true, true, false, true];
        let wanted = wanted.map(|line| line.as_bytes().to_vec());
        assert_eq!(
            lines(text.as_bytes()),
            wanted.into_iter().zip(is_json).collect::<Vec<_>>()
        );
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(Vec::new(), false)]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_belong_to_one_line() {
        let all = lines(b"{\"a\":\"\xc3\xa9\"}\n{\"a\":\"\xc3\"}\n{\"b\":1}\n");
        let is_json: Vec<_> = all.iter().map(|(_, is_json)| *is_json).collect();
        assert_eq!(is_json, [true, false, true]);
    }
}
