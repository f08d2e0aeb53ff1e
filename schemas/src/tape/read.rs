//! From lines back to events.

use std::io::BufRead;

use bytes::Bytes;

use super::known::KnownHeads;
use super::old::Translator;
use super::proof::Proof;
use super::record::{Line, Record, parse};
use crate::envelope::Envelope;
use crate::event::Event;
use crate::slices::Part as _;
use crate::tape::{Footer, Header, LineFacts, VERSION};

/// Reads a tape, event by event.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    line: u64,
    // Where the next line begins, in bytes.
    offset: u64,
    last_seq: u64,
    proof: Proof,
    // A line that is not contiguous in the input's buffer.
    text: Vec<u8>,
    heads: KnownHeads,
    // For a tape of format 1.
    old: Option<Translator>,
    ending: Option<Ending>,
}

/// An event of a tape, and what was validated about it.
#[derive(Clone, Debug)]
pub struct Read {
    /// The event.
    pub event: Event,
    proof: Proof,
}

impl Read {
    /// Like [`Reader::envelope`].
    #[must_use]
    pub fn envelope(&self) -> Option<Envelope<'_>> {
        self.proof.envelope(&self.event)
    }
}

/// How a tape ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The recorder was stopped before it could write the footer.
    CutShort {
        /// The last complete event; 0 for none.
        last_seq: u64,
        /// Whether the beginning of another line follows it.
        torn: bool,
    },
    /// With its footer.
    Footer(Footer),
}

/// Why a tape cannot be read any further.
///
/// Each message completes "cannot read the tape: …".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The line is not an event. Earlier events are intact.
    #[error("line {line} is not a tape record: {why}")]
    BadRecord {
        /// The line number, from 1.
        line: u64,
        /// The problem.
        why: String,
    },
    /// Reading failed.
    #[error("reading failed at line {line}")]
    Io {
        /// The line number, from 1.
        line: u64,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The line is longer than any recorder writes.
    #[error("line {line} is longer than {LINE_LIMIT} bytes")]
    LineTooLong {
        /// The line number, from 1.
        line: u64,
    },
    /// The first line is not a header.
    #[error("the first line is not a tape header")]
    NotATape,
    /// Written by a later major format; events may mean something else.
    #[error("format {found} is newer than the {VERSION} that this build understands")]
    TooNew {
        /// The version found.
        found: String,
    },
}

/// The earlier major version of the format, which can also be read.
const OLD_MAJOR: &str = "1";
/// The size in bytes from which data of a line is kept by reference instead of copied.
const SHORT: usize = 16 << 10;
/// The longest line that is read, in bytes.
const LINE_LIMIT: u64 = 1 << 30;

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub fn open(mut input: R) -> Result<Self, ReadError> {
        let mut line = Vec::new();
        read_line(&mut input, &mut line, 1)?;
        let header: Header = serde_json::from_slice(&line).map_err(|_| ReadError::NotATape)?;
        let major = |version: &str| version.split('.').next().unwrap_or_default().to_owned();
        if header.tape.is_empty() {
            return Err(ReadError::NotATape);
        }
        let is_old = major(&header.tape) == OLD_MAJOR;
        if !is_old && major(&header.tape) != major(VERSION) {
            return Err(ReadError::TooNew { found: header.tape });
        }
        Ok(Self {
            input,
            header,
            line: 1,
            // Lines have their line feeds.
            offset: line.len() as u64 + 1,
            last_seq: 0,
            proof: Proof::default(),
            text: Vec::new(),
            heads: KnownHeads::default(),
            old: is_old.then(Translator::default),
            ending: None,
        })
    }

    /// Continues to read a tape with this header from the line that begins at `offset`, which is
    /// the position of `input`: a line that was torn may be complete by now. The events before it
    /// are unknown, so in a tape of format 1 only messages themselves are read correctly.
    pub fn within(header: Header, input: R, offset: u64) -> Self {
        let is_old = header.tape.split('.').next() == Some(OLD_MAJOR);
        Self {
            input,
            header,
            line: 1,
            offset,
            last_seq: 0,
            proof: Proof::default(),
            text: Vec::new(),
            heads: KnownHeads::default(),
            old: is_old.then(Translator::default),
            ending: None,
        }
    }

    /// Where the line after the last event begins, in bytes; at the end of a tape that was cut
    /// short, where its torn line begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// More was written to a tape that seemed to end without a footer.
    pub fn go_on(&mut self) {
        if matches!(self.ending, Some(Ending::CutShort { torn: false, .. })) {
            self.ending = None;
        }
    }

    /// What was recorded, and how.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The input, for code that must know how far it was read: reading from it breaks the tape.
    pub fn input(&mut self) -> &mut R {
        &mut self.input
    }

    /// How the tape ends; set once [`next_event`](Self::next_event) has returned `None`.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The parsed message of the last event, if it was recorded on its line as JSON: its grammar
    /// was validated with the line, and is not validated again.
    #[must_use]
    pub fn envelope<'a>(&self, event: &'a Event) -> Option<Envelope<'a>> {
        if event.seq != self.last_seq {
            return None;
        }
        self.proof.envelope(event)
    }

    /// Like [`next_event`](Self::next_event), for the next line of the encoder that told these
    /// facts about it; a line that is long, or not whole in the input's buffer, is parsed.
    pub fn next_known(&mut self, facts: LineFacts) -> Result<Option<Event>, ReadError> {
        let length = facts.length();
        if length > SHORT || self.old.is_some() || self.ending.is_some() {
            return self.next_event();
        }
        let buffer = self.input.fill_buf().unwrap_or_default();
        let Some((event, outline)) = facts.read(buffer, &self.heads) else {
            return self.next_event();
        };
        self.input.consume(length);
        self.offset += length as u64;
        self.line += 1;
        self.last_seq = event.seq;
        self.proof = Proof {
            is_json: outline.is_some(),
            outline,
        };
        Ok(Some(event))
    }

    /// Like [`next_event`](Self::next_event), for code that examines the event later.
    pub fn next_read(&mut self) -> Result<Option<Read>, ReadError> {
        let event = self.next_event()?;
        let proof = std::mem::take(&mut self.proof);
        Ok(event.map(|event| Read { event, proof }))
    }

    /// The next event; `None` at the end.
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        while self.ending.is_none() {
            self.line += 1;
            let Some(record) = self.next_record()? else {
                break;
            };
            match record {
                Ok(Record::Event(mut event)) => {
                    if let Some(old) = &mut self.old {
                        old.event(&mut event);
                    }
                    self.last_seq = event.seq;
                    return Ok(Some(event));
                }
                Ok(Record::Footer(footer)) => self.ending = Some(Ending::Footer(footer)),
                // An event of a later minor version.
                Ok(Record::Unknown) => {}
                Err(why) => {
                    return Err(ReadError::BadRecord {
                        line: self.line,
                        why,
                    });
                }
            }
        }
        Ok(None)
    }

    /// The next line's record, or why it has none; `None` if there is no further complete line.
    fn next_record(&mut self) -> Result<Option<Result<Record, String>>, ReadError> {
        // Most lines are whole in the input's buffer, and are read there.
        let buffer = match self.input.fill_buf() {
            Ok(buffer) => buffer,
            // The following read reports the error, or tries again.
            Err(_) => &[],
        };
        if let Some(end) = memchr::memchr(b'\n', buffer).filter(|end| (1..SHORT).contains(end)) {
            let record = parse(
                Line::Lent(buffer.part(..end)),
                &mut self.heads,
                &mut self.proof,
            );
            self.input.consume(end + 1);
            self.offset += end as u64 + 1;
            return Ok(Some(record));
        }
        self.text.clear();
        let whole = read_line(&mut self.input, &mut self.text, self.line)?;
        if self.text.is_empty() || !whole {
            let torn = !self.text.is_empty();
            self.ending = Some(Ending::CutShort {
                last_seq: self.last_seq,
                torn,
            });
            return Ok(None);
        }
        self.offset += self.text.len() as u64 + 1;
        if self.text.len() < SHORT {
            return Ok(Some(parse(
                Line::Lent(&self.text),
                &mut self.heads,
                &mut self.proof,
            )));
        }
        let text = Bytes::from(std::mem::take(&mut self.text));
        Ok(Some(parse(
            Line::Given(&text),
            &mut self.heads,
            &mut self.proof,
        )))
    }
}

/// Reads one line without its line feed; returns whether it had one.
fn read_line(input: &mut impl BufRead, out: &mut Vec<u8>, line: u64) -> Result<bool, ReadError> {
    use std::io::Read as _;
    let read = input
        .by_ref()
        .take(LINE_LIMIT)
        .read_until(b'\n', out)
        .map_err(|source| ReadError::Io { line, source })?;
    if out.last() == Some(&b'\n') {
        out.pop();
        return Ok(true);
    }
    if read as u64 == LINE_LIMIT {
        return Err(ReadError::LineTooLong { line });
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const TAPE: &str = concat!(
        r#"{"tape":"2.0"}"#,
        "\n",
        r#"{"seq":1,"at_us":1,"dir":"to_server","message":{"id":1}}"#,
        "\n",
        r#"{"seq":2,"at_us":2,"dir":"to_client","message":{"id":1}}"#,
        "\n",
        r#"{"seq":3,"at_us":3,"dir":"to_"#,
    );

    #[test]
    fn it_is_read_on_where_it_was_cut_short() {
        let mut reader = Reader::open(TAPE.as_bytes()).unwrap();
        let mut places = vec![reader.offset()];
        while reader.next_event().unwrap().is_some() {
            places.push(reader.offset());
        }
        assert!(matches!(
            reader.ending(),
            Some(Ending::CutShort { torn: true, .. })
        ));
        let more = TAPE.to_owned() + r#"client","message":{}}"# + "\n";
        for (before, place) in places.iter().enumerate() {
            let mut input = Cursor::new(more.as_bytes());
            input.set_position(*place);
            let mut reader = Reader::within(reader.header().clone(), input, *place);
            let event = reader.next_event().unwrap().unwrap();
            assert_eq!(event.seq, before as u64 + 1);
        }
        assert_eq!(places.last(), Some(&(TAPE.rfind('\n').unwrap() as u64 + 1)));
    }
}
