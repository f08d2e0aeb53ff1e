//! Parsing one line of a tape.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::bodies::{added, client};
use super::known::KnownHeads;
use super::prefix::{Prefix, prefix};
use super::proof::Proof;
use super::{Footer, old};
use crate::envelope::Outline;
use crate::era::Era;
use crate::event::{
    Carrier, CloseReason, ConduitId, Direction, Event, EventBody, Exit, Exited, Gap, Head, LineEnd,
    Maker, MessageNumber, Offset, Origin, Payload, Peer, SessionKey, SessionMark,
};
use crate::json;

/// The type of a line.
pub(super) enum Record {
    Event(Event),
    Footer(Footer),
    Unknown,
}

/// A line, and how parts of it are kept.
#[derive(Clone, Copy)]
pub(super) enum Line<'l> {
    /// Parts are copied, and the line gives its room to the next one.
    Lent(&'l [u8]),
    /// Parts share the line: it is long.
    Given(&'l Bytes),
}

impl Line<'_> {
    fn text(&self) -> &[u8] {
        match self {
            Self::Lent(line) => line,
            Self::Given(line) => line,
        }
    }

    /// Keeps a part of the line.
    fn keep(self, part: &[u8]) -> Bytes {
        match self {
            Self::Lent(_) => Bytes::copy_from_slice(part),
            Self::Given(line) => line.slice_ref(part),
        }
    }
}

/// Parses one line, whose head may already be known; records what was validated about its event.
pub(super) fn parse(
    line: Line<'_>,
    heads: &mut KnownHeads,
    proof: &mut Proof,
) -> Result<Record, String> {
    *proof = Proof::default();
    let text = line.text();
    let begin = prefix(text);
    let mut parsing = Parsing {
        line,
        heads,
        fields: Fields::beginning(&begin),
        proof,
        is_outlined: false,
        problem: None,
    };
    let visited = match begin.end {
        0 => json::visit_members(text, &mut parsing),
        end => json::visit_behind(text, end, &mut parsing),
    };
    visited.ok_or("not a JSON object")?;
    let Parsing {
        fields, problem, ..
    } = parsing;
    if let Some(why) = problem {
        return Err(why);
    }
    if let Some(footer) = fields.footer {
        return Ok(Record::Footer(footer));
    }
    let (Some(seq), Some(at)) = (fields.seq, fields.at) else {
        return Err("missing `seq` or `at_us`".to_owned());
    };
    let body = match fields.body {
        Some(Draft::Message(payload)) => EventBody::Message {
            payload,
            end: fields.end,
            origin: fields.origin,
        },
        Some(Draft::Stderr(line)) => EventBody::Stderr {
            line,
            end: fields.end,
        },
        Some(Draft::Done(EventBody::Closed(reason))) => {
            EventBody::Closed(precisely(reason, fields.aborted, fields.stopped))
        }
        Some(Draft::Done(body)) => body,
        None => return Ok(Record::Unknown),
    };
    let event = Event {
        conduit: ConduitId(fields.conduit),
        seq,
        at: Offset(at),
        session: SessionKey(fields.session),
        dir: fields.dir.unwrap_or(Direction::ToClient),
        era: fields.era,
        body,
    };
    Ok(Record::Event(event))
}

/// Why something ended: a failure, as older readers read it, unless the line says more.
fn precisely(reason: CloseReason, aborted: bool, stopped: bool) -> CloseReason {
    match reason {
        CloseReason::Failed if aborted => CloseReason::Aborted,
        CloseReason::Failed if stopped => CloseReason::Stopped,
        other => other,
    }
}

/// A line whose members are being read.
struct Parsing<'l, 'k> {
    line: Line<'l>,
    heads: &'k mut KnownHeads,
    fields: Fields,
    proof: &'k mut Proof,
    // The outline is that of the current value.
    is_outlined: bool,
    // The first error.
    problem: Option<String>,
}

impl<'l> json::Members<'l> for Parsing<'l, '_> {
    fn length(&mut self, name: &[u8], rest: &[u8]) -> Option<usize> {
        if name == b"message" {
            // Inside the object that is the line.
            self.is_outlined = true;
            self.proof.outline = Outline::prove(rest, 1);
            return self.proof.outline.as_ref().map(Outline::length);
        }
        self.heads.length(name, rest)
    }

    fn member(&mut self, name: &[u8], value: &'l [u8]) {
        let is_outlined = std::mem::take(&mut self.is_outlined);
        let read = match name {
            b"message" => {
                if !is_outlined {
                    self.proof.outline = None;
                }
                self.proof.is_json = true;
                let bytes = self.line.keep(value.trim_ascii());
                self.fields.body = Some(Draft::Message(Payload::Whole(bytes)));
                Ok(())
            }
            b"text" | b"base64" => {
                self.proof.is_json = false;
                self.fields.member(name, value, self.line)
            }
            b"request" | b"response" => self.head(name, value),
            _ => self.fields.member(name, value, self.line),
        };
        if let Err(why) = read {
            self.problem.get_or_insert(why);
        }
    }
}

impl Parsing<'_, '_> {
    fn head(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        let head = if let Some(known) = self.heads.get(name, value) {
            known
        } else {
            let head = if name == b"request" {
                Head::Request(of(name, value)?)
            } else {
                Head::Response(of(name, value)?)
            };
            self.heads.insert(value, &head);
            head
        };
        self.fields.body = Some(Draft::Done(EventBody::Head(Box::new(head))));
        Ok(())
    }
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
    origin: Origin,
    aborted: bool,
    stopped: bool,
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
    /// The members from the beginning of a line.
    fn beginning(begin: &Prefix) -> Self {
        let origin = Origin {
            number: begin.number.and_then(MessageNumber::new),
            carrier: begin.via.unwrap_or_default(),
            ..Origin::default()
        };
        Self {
            seq: begin.seq,
            at: begin.at_us,
            session: begin.session.unwrap_or_default(),
            conduit: begin.conduit.unwrap_or_default(),
            dir: begin.dir,
            era: begin.era,
            origin,
            ..Self::default()
        }
    }

    fn member(&mut self, name: &[u8], value: &[u8], line: Line<'_>) -> Result<(), String> {
        match name {
            b"seq" => self.seq = Some(number(name, value)?),
            b"at_us" => self.at = Some(number(name, value)?),
            b"session" => self.session = number(name, value)?,
            b"conduit" => self.conduit = number(name, value)?,
            b"dir" => self.dir = Some(word(name, value, Direction::from_name)?),
            b"era" => self.era = Some(word(name, value, Era::from_name)?),
            b"number" => self.origin.number = MessageNumber::new(number(name, value)?),
            b"via" => self.origin.carrier = word(name, value, Carrier::from_name)?,
            b"event" => self.origin.named = of::<String>(name, value)? == "message",
            b"by" => self.origin.maker = word(name, value, Maker::from_name)?,
            b"eol" => self.end = word(name, value, line_end)?,
            b"text" => {
                let text: String = of(name, value)?;
                self.body = Some(Draft::Message(Payload::Whole(text.into())));
            }
            b"base64" => {
                self.body = Some(Draft::Message(Payload::Whole(base64(name, value)?)));
            }
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
            b"aborted" => self.aborted = of(name, value)?,
            b"stopped" => self.stopped = of(name, value)?,
            b"end" => self.footer = Some(of(name, value)?),
            _ => {
                if let Some(body) = other(name, value, line)? {
                    self.body = Some(Draft::Done(body));
                }
            }
        }
        Ok(())
    }
}

/// The body that a single member of an event contains.
fn other(name: &[u8], value: &[u8], line: Line<'_>) -> Result<Option<EventBody>, String> {
    Ok(Some(match name {
        b"part" => {
            let Part { bytes } = of(name, value)?;
            EventBody::Part { bytes }
        }
        b"closed" => EventBody::Closed(word(name, value, CloseReason::from_name)?),
        b"faulted" => EventBody::Faulted(of(name, value)?),
        b"finding" => EventBody::Finding(of(name, value)?),
        b"gap" => EventBody::Gap(gap(of(name, value)?)),
        b"opened" => {
            let Opened { pid } = of(name, value)?;
            EventBody::Opened(Peer::Process { pid })
        }
        b"client" => EventBody::Opened(client(value).ok_or_else(|| bad(name))?),
        b"server" => EventBody::Opened(Peer::Server {
            url: of(name, value)?,
        }),
        b"cassette" => EventBody::Opened(Peer::Cassette),
        b"signal" => EventBody::Signal(of(name, value)?),
        b"exited" => EventBody::Exited(exited(&of(name, value)?)?),
        b"interim" => EventBody::Head(Box::new(Head::Interim(of(name, value)?))),
        b"trailers" => EventBody::Trailers(Box::new(of(name, value)?)),
        b"sse" => EventBody::Sse(Box::new(of(name, value)?)),
        b"edited" => EventBody::Edited(Box::new(of(name, value)?)),
        b"added" => EventBody::Added(added(value).ok_or_else(|| bad(name))?),
        b"began" => EventBody::Session(SessionMark::Began(old::session_start(&of::<String>(
            name, value,
        )?))),
        b"ended" => EventBody::Session(SessionMark::Ended(old::session_end(&of::<String>(
            name, value,
        )?))),
        b"body" => EventBody::Body {
            payload: body(value, line)?,
        },
        _ => return Ok(None),
    }))
}

/// The contents of a body.
fn body(value: &[u8], line: Line<'_>) -> Result<Payload, String> {
    let mut payload = None;
    let mut problem = None;
    json::members(value, |name, value| {
        let read = match name {
            b"json" => Ok(Payload::Whole(line.keep(value.trim_ascii()))),
            b"text" => of::<String>(name, value).map(|text| Payload::Whole(text.into())),
            b"base64" => base64(name, value).map(Payload::Whole),
            b"clipped" => of(name, value).map(|Clipped { len, head }| Payload::Clipped {
                len,
                head: head.into(),
            }),
            _ => return,
        };
        match read {
            Ok(read) => payload = Some(read),
            Err(why) => problem = Some(why),
        }
    });
    match problem {
        Some(why) => Err(why),
        None => payload.ok_or_else(|| bad(b"body")),
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

fn gap(line: GapLine) -> Gap {
    let (why, words) = old::gap_reason(line.why);
    Gap {
        events: line.events,
        bytes: line.bytes,
        why,
        detail: line.detail.or(words),
    }
}

#[derive(serde::Deserialize)]
struct GapLine {
    events: u64,
    bytes: u64,
    why: String,
    detail: Option<String>,
}

#[derive(serde::Deserialize)]
struct Opened {
    pid: u32,
}

#[derive(serde::Deserialize)]
struct ExitedLine {
    code: Option<i32>,
    signal: Option<i32>,
    #[serde(default)]
    ours_us: u64,
}

fn exited(line: &ExitedLine) -> Result<Exited, String> {
    let how = match (line.code, line.signal) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => return Err("`exited` without `code` or `signal`".to_owned()),
    };
    let ours = Offset(line.ours_us);
    Ok(Exited { how, ours })
}

fn of<T: serde::de::DeserializeOwned>(name: &[u8], value: &[u8]) -> Result<T, String> {
    serde_json::from_slice(value).map_err(|_| bad(name))
}

/// A number without a sign. There are several in each line, nearly all plain digits.
fn number<T: TryFrom<u64> + serde::de::DeserializeOwned>(
    name: &[u8],
    value: &[u8],
) -> Result<T, String> {
    let mut plain = 0_u64;
    // One more digit may not fit.
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return of(name, value);
    }
    for digit in value {
        plain = plain * 10 + u64::from(digit - b'0');
    }
    T::try_from(plain).map_err(|_| bad(name))
}

/// One of our words, which have nothing to escape.
fn word<T>(name: &[u8], value: &[u8], read: fn(&str) -> Option<T>) -> Result<T, String> {
    let plain = value
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
        .filter(|word| !word.contains(&b'\\'))
        .and_then(|word| std::str::from_utf8(word).ok());
    if let Some(plain) = plain {
        return read(plain).ok_or_else(|| bad(name));
    }
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
    format!("invalid value of `{}`", String::from_utf8_lossy(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_any_reader_of_json_reads_them() {
        let texts = [
            "0",
            "7",
            "4294967295",
            "4294967296",
            "9999999999999999999",
            "18446744073709551615",
            "18446744073709551616",
            "1.0",
            "1e3",
            "-1",
            "-0",
            "\"1\"",
            "null",
            "",
        ];
        for text in texts {
            let (name, text) = (b"seq", text.as_bytes());
            assert_eq!(number::<u64>(name, text), of(name, text), "{text:?}");
            assert_eq!(number::<u32>(name, text), of(name, text), "{text:?}");
        }
    }

    #[test]
    fn words_are_read_with_and_without_escapes() {
        for text in [r#""to_server""#, r#""to\u005fserver""#] {
            let read = word(b"dir", text.as_bytes(), Direction::from_name);
            assert_eq!(read, Ok(Direction::ToServer));
        }
        for text in [
            r#""up""#,
            r#"""#,
            r#""""#,
            "1",
            r#""to_server\""#,
            "\"\u{fc}\"",
        ] {
            assert!(
                word(b"dir", text.as_bytes(), Direction::from_name).is_err(),
                "{text}"
            );
        }
    }
}
