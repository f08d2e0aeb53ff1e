//! Finds the end of a tape's next segment, always at the end of a line.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::entry::Content;

/// The next range of a tape to ship as a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Where it begins.
    pub start: u64,
    /// The end of its last line.
    pub end: u64,
    /// Facts about its contents.
    pub content: Content,
    /// Whether its last line is the footer of the tape.
    pub is_last: bool,
    /// Whether the range ends because of the limit; more whole lines may follow.
    pub is_full: bool,
}

/// How many bytes are read at once.
const CHUNK: usize = 256 << 10;
/// How many bytes of a line are examined: its numbers are at its beginning.
const FRONT: usize = 128;

impl Cut {
    /// Finds whole lines from `start` on in a tape of `len` bytes, up to `limit` bytes. A longer
    /// line is a range of its own.
    pub fn find(file: &File, start: u64, len: u64, limit: u64) -> io::Result<Self> {
        let mut lines = Lines::new(start, limit);
        let mut chunk = vec![0; CHUNK];
        let mut at = start;
        while at < len && !lines.is_done() {
            let most = usize::try_from(len - at).unwrap_or(CHUNK).min(CHUNK);
            let part = chunk.get_mut(..most).unwrap_or_default();
            let read = file.read_at(part, at)?;
            if read == 0 {
                break;
            }
            lines.take(part.get(..read).unwrap_or_default());
            at += read as u64;
        }
        Ok(lines.cut)
    }
}

/// Reassembles lines from chunks.
struct Lines {
    cut: Cut,
    limit: u64,
    // The beginning of the current line, and its length so far.
    front: Vec<u8>,
    length: u64,
}

impl Lines {
    fn new(start: u64, limit: u64) -> Self {
        let cut = Cut {
            start,
            end: start,
            ..Cut::default()
        };
        Self {
            cut,
            limit,
            front: Vec::new(),
            length: 0,
        }
    }

    /// Whether the range is complete.
    fn is_done(&self) -> bool {
        self.cut.is_last || self.cut.is_full
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_done() {
            let end = memchr::memchr(b'\n', bytes);
            let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            bytes = rest;
            let room = FRONT.saturating_sub(self.front.len()).min(line.len());
            self.front
                .extend_from_slice(line.get(..room).unwrap_or_default());
            self.length += line.len() as u64;
            let is_over = self.cut.end + self.length - self.cut.start > self.limit;
            if is_over && self.cut.end > self.cut.start {
                self.cut.is_full = true;
            } else if end.is_some() {
                self.line();
            }
        }
    }

    /// Handles the end of a line.
    fn line(&mut self) {
        let content = &mut self.cut.content;
        self.cut.end += self.length;
        content.lines += 1;
        match Front::of(&self.front) {
            Front::Event { seq, at_us } => {
                content.events += 1;
                content.first_seq = content.first_seq.or(Some(seq));
                content.first_us = content.first_us.or(Some(at_us));
                (content.last_seq, content.last_us) = (Some(seq), Some(at_us));
            }
            Front::Footer => self.cut.is_last = true,
            Front::Other => {}
        }
        self.cut.is_full = self.cut.end - self.cut.start >= self.limit;
        self.front.clear();
        self.length = 0;
    }
}

/// The kind of a line, by its beginning. Recorders always write this form.
enum Front {
    Event { seq: u64, at_us: u64 },
    Footer,
    Other,
}

impl Front {
    fn of(line: &[u8]) -> Self {
        if line.starts_with(b"{\"end\":{") {
            return Self::Footer;
        }
        let event = || {
            let (seq, rest) = number(line.strip_prefix(b"{\"seq\":")?)?;
            let (at_us, _) = number(rest.strip_prefix(b",\"at_us\":")?)?;
            Some(Self::Event { seq, at_us })
        };
        event().unwrap_or(Self::Other)
    }
}

/// A number at the start of a text, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "{\"tape\":\"2.4\"}\n";
    const FOOTER: &str = "{\"end\":{\"at_us\":9}}\n";

    fn event(seq: u64, pad: usize) -> String {
        let pad = "x".repeat(pad);
        format!(
            "{{\"seq\":{seq},\"at_us\":{},\"stderr\":\"{pad}\"}}\n",
            seq * 10
        )
    }

    fn cut(text: &str, start: u64, limit: u64) -> Cut {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        Cut::find(&file, start, text.len() as u64, limit).unwrap()
    }

    #[test]
    fn a_range_ends_at_the_end_of_a_line() {
        let text = format!("{HEADER}{}{}", event(1, 10), "{\"seq\":2,\"at_us\":2");
        let found = cut(&text, 0, 1_000);
        assert_eq!(found.end, text.rfind('\n').unwrap() as u64 + 1);
        assert!(!found.is_last && !found.is_full);
        let Content {
            lines,
            events,
            first_seq,
            last_us,
            ..
        } = found.content;
        assert_eq!(
            (lines, events, first_seq, last_us),
            (2, 1, Some(1), Some(10))
        );
        let nothing = cut(&text, found.end, 1_000);
        assert_eq!((nothing.start, nothing.end), (found.end, found.end));
        assert_eq!(nothing.content, Content::default());
    }

    #[test]
    fn the_footer_is_the_last_line() {
        let text = format!("{HEADER}{}{FOOTER}beyond\n", event(1, 0));
        let found = cut(&text, 0, 1_000);
        assert!(found.is_last);
        assert_eq!(found.end as usize, text.len() - "beyond\n".len());
    }

    /// For any limit, ranges are contiguous, have whole lines and all of them, and are not longer
    /// than the limit unless they are one line.
    #[test]
    fn ranges_are_contiguous_for_every_limit() {
        let lengths = [0, 3, 500, 1, 300_000, 2, 90, 0];
        let events: Vec<String> = (1..)
            .zip(lengths)
            .map(|(seq, pad)| event(seq, pad))
            .collect();
        let text = format!("{HEADER}{}{FOOTER}", events.concat());
        for limit in [1, 40, 100, 600, 1_000, 300_100, 1 << 20] {
            let (mut at, mut count) = (0, 0);
            loop {
                let found = cut(&text, at, limit);
                let range = &text[at as usize..found.end as usize];
                assert!(range.ends_with('\n'), "{limit}");
                let is_one = range.lines().count() == 1;
                assert!(
                    range.len() as u64 <= limit || is_one,
                    "{limit}: {}",
                    range.len()
                );
                assert_eq!(found.content.lines, range.lines().count() as u64);
                (at, count) = (found.end, count + found.content.events);
                if found.is_last {
                    break;
                }
                assert!(found.is_full);
            }
            assert_eq!((at as usize, count), (text.len(), 8), "{limit}");
        }
    }
}
