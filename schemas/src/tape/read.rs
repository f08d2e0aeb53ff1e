//! From lines back to events.

use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::era::Era;
use crate::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, Gap, LineEnd, Offset, Payload, Peer,
    SessionKey,
};
use crate::json;
use crate::tape::{Footer, Header, VERSION};

/// Reads a tape, event by event.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    line: u64,
    last_seq: u64,
    ending: Option<Ending>,
}

/// How a tape ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The recorder was stopped before it could write the footer.
    CutShort {
        /// The last event that is whole; 0 for none.
        last_seq: u64,
        /// Whether a line after it was begun.
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
    /// The line is no event. Earlier events are intact.
    #[error("line {line} is not a tape record: {why}")]
    BadRecord {
        /// Number of the line, from 1 on.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Reading failed.
    #[error("reading failed at line {line}")]
    Io {
        /// Number of the line, from 1 on.
        line: u64,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The line is longer than any recorder writes.
    #[error("line {line} is longer than {LINE_LIMIT} bytes")]
    LineTooLong {
        /// Number of the line, from 1 on.
        line: u64,
    },
    /// The first line is no header.
    #[error("the first line is not a tape header")]
    NotATape,
    /// Written by a later major format; events may mean something else.
    #[error("format {found} is newer than the {VERSION} that this build understands")]
    TooNew {
        /// The version found.
        found: String,
    },
}

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
        if major(&header.tape) != major(VERSION) {
            return Err(ReadError::TooNew { found: header.tape });
        }
        Ok(Self {
            input,
            header,
            line: 1,
            last_seq: 0,
            ending: None,
        })
    }

    /// What was recorded, and how.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the tape ends; known once [`next_event`](Self::next_event) has returned `None`.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The next event; `None` at the end.
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        while self.ending.is_none() {
            self.line += 1;
            let mut line = Vec::new();
            let whole = read_line(&mut self.input, &mut line, self.line)?;
            if line.is_empty() || !whole {
                let torn = !line.is_empty();
                self.ending = Some(Ending::CutShort {
                    last_seq: self.last_seq,
                    torn,
                });
                break;
            }
            let line = Bytes::from(line);
            match parse(&line) {
                Ok(Record::Event(event)) => {
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
}

/// Reads one line without its line feed; whether it had one.
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

enum Record {
    Event(Event),
    Footer(Footer),
    Unknown,
}

fn parse(line: &Bytes) -> Result<Record, String> {
    let mut fields = Fields::default();
    let mut problem = None;
    json::members(line, |name, value| {
        if let Err(why) = fields.member(name, value, line) {
            problem.get_or_insert(why);
        }
    })
    .ok_or("not a JSON object")?;
    if let Some(why) = problem {
        return Err(why);
    }
    if let Some(footer) = fields.footer {
        return Ok(Record::Footer(footer));
    }
    let (Some(seq), Some(at)) = (fields.seq, fields.at) else {
        return Err("`seq` or `at_us` is missing".to_owned());
    };
    let body = match fields.body {
        Some(Draft::Message(payload)) => EventBody::Message {
            payload,
            end: fields.end,
        },
        Some(Draft::Stderr(line)) => EventBody::Stderr {
            line,
            end: fields.end,
        },
        Some(Draft::Done(body)) => body,
        None => return Ok(Record::Unknown),
    };
    Ok(Record::Event(Event {
        conduit: ConduitId(fields.conduit),
        seq,
        at: Offset(at),
        session: SessionKey(fields.session),
        dir: fields.dir.unwrap_or(Direction::ToClient),
        era: fields.era,
        body,
    }))
}

#[derive(Default)]
struct Fields {
    seq: Option<u64>,
    at: Option<u64>,
    session: u32,
    conduit: u32,
    dir: Option<Direction>,
    era: Option<Era>,
    end: LineEnd,
    body: Option<Draft>,
    footer: Option<Footer>,
}

/// A body whose line end may still follow.
enum Draft {
    Message(Payload),
    Stderr(Bytes),
    Done(EventBody),
}

impl Fields {
    fn member(&mut self, name: &[u8], value: &[u8], line: &Bytes) -> Result<(), String> {
        match name {
            b"seq" => self.seq = Some(of(name, value)?),
            b"at_us" => self.at = Some(of(name, value)?),
            b"session" => self.session = of(name, value)?,
            b"conduit" => self.conduit = of(name, value)?,
            b"dir" => self.dir = Some(word(name, value, Direction::from_name)?),
            b"era" => self.era = Some(word(name, value, Era::from_name)?),
            b"eol" => self.end = word(name, value, line_end)?,
            b"message" => {
                let bytes = line.slice_ref(value.trim_ascii());
                self.body = Some(Draft::Message(Payload::Whole(bytes)));
            }
            b"text" => {
                let text: String = of(name, value)?;
                self.body = Some(Draft::Message(Payload::Whole(text.into())));
            }
            b"base64" => self.body = Some(Draft::Message(Payload::Whole(base64(name, value)?))),
            b"clipped" => {
                let Clipped { len, head } = of(name, value)?;
                self.body = Some(Draft::Message(Payload::Clipped {
                    len,
                    head: head.into(),
                }));
            }
            b"stderr" => {
                let text: String = of(name, value)?;
                self.body = Some(Draft::Stderr(text.into()));
            }
            b"stderr_base64" => self.body = Some(Draft::Stderr(base64(name, value)?)),
            b"part" => {
                let Part { bytes } = of(name, value)?;
                self.body = Some(Draft::Done(EventBody::Part { bytes }));
            }
            b"closed" => {
                let reason = word(name, value, CloseReason::from_name)?;
                self.body = Some(Draft::Done(EventBody::Closed(reason)));
            }
            b"faulted" => {
                let effect = of(name, value)?;
                self.body = Some(Draft::Done(EventBody::Faulted { effect }));
            }
            b"gap" => {
                let GapLine { events, bytes, why } = of(name, value)?;
                self.body = Some(Draft::Done(EventBody::Gap(Gap { events, bytes, why })));
            }
            b"opened" => {
                let Opened { pid } = of(name, value)?;
                self.body = Some(Draft::Done(EventBody::Opened(Peer::Process { pid })));
            }
            b"signal" => self.body = Some(Draft::Done(EventBody::Signal(of(name, value)?))),
            b"exited" => {
                let exit = match of(name, value)? {
                    Exited {
                        code: Some(code), ..
                    } => Exit::Code(code),
                    Exited {
                        signal: Some(signal),
                        ..
                    } => Exit::Signal(signal),
                    Exited { .. } => return Err("`exited` without `code` or `signal`".to_owned()),
                };
                self.body = Some(Draft::Done(EventBody::Exited(exit)));
            }
            b"end" => self.footer = Some(of(name, value)?),
            _ => {}
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Clipped {
    len: u64,
    head: String,
}

#[derive(serde::Deserialize)]
struct Part {
    bytes: u64,
}

#[derive(serde::Deserialize)]
struct GapLine {
    events: u64,
    bytes: u64,
    why: String,
}

#[derive(serde::Deserialize)]
struct Opened {
    pid: u32,
}

#[derive(serde::Deserialize)]
struct Exited {
    code: Option<i32>,
    signal: Option<i32>,
}

fn of<T: serde::de::DeserializeOwned>(name: &[u8], value: &[u8]) -> Result<T, String> {
    serde_json::from_slice(value).map_err(|_| bad(name))
}

fn word<T>(name: &[u8], value: &[u8], read: fn(&str) -> Option<T>) -> Result<T, String> {
    let word: String = of(name, value)?;
    read(&word).ok_or_else(|| bad(name))
}

fn base64(name: &[u8], value: &[u8]) -> Result<Bytes, String> {
    let text: String = of(name, value)?;
    STANDARD
        .decode(text)
        .map(Bytes::from)
        .map_err(|_| bad(name))
}

fn line_end(word: &str) -> Option<LineEnd> {
    match word {
        "crlf" => Some(LineEnd::CrLf),
        "none" => Some(LineEnd::None),
        _ => None,
    }
}

fn bad(name: &[u8]) -> String {
    format!(
        "`{}` has a value that it cannot have",
        String::from_utf8_lossy(name)
    )
}
