//! Scrubbing a tape, line by line.

use std::borrow::Cow;
use std::collections::HashSet;

use super::http;
use super::splice::{Edits, decoded, encoded, meaning, quoted};
use crate::event::Direction;
use crate::json::{self, Invalid, Span, Text, unescape};
use crate::recording::{Element, elements};
use crate::redact::{LineState, Redactor};
use crate::slices::Part as _;

/// Scrubs the lines of one tape, in order.
#[derive(Debug)]
pub struct TapeScrubber {
    redactor: Redactor,
    // Secrets that span lines: to the server, to the client, standard error.
    streams: [LineState; 3],
    // The conduits whose next data is the URL of an endpoint.
    endpoints: HashSet<Vec<u8>>,
    // Of the current line; reused, so that no line needs an allocation.
    members: Members,
}

impl TapeScrubber {
    /// Creates a scrubber at the start of a tape. The redactor must have adopted the placeholders
    /// of the whole tape.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            streams: Default::default(),
            endpoints: HashSet::new(),
            members: Members::default(),
        }
    }

    /// How often each kind was replaced.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Scrubs one line without its line feed. A line that is not JSON, such as the last one of a
    /// tape that was cut short, is scrubbed as text.
    pub fn line<'t>(&mut self, line: &'t [u8]) -> Cow<'t, [u8]> {
        let mut members = std::mem::take(&mut self.members);
        let clean = if members.read(line) {
            // Proven by that.
            self.record(line, &members).unwrap_or(Cow::Borrowed(line))
        } else {
            self.redactor.text(line)
        };
        self.members = members;
        clean
    }

    fn record<'t>(&mut self, line: &'t [u8], of: &Members) -> Result<Cow<'t, [u8]>, Invalid> {
        let mut edits = Edits::default();
        for (name, value) in &of.all {
            let (name, value) = (meant(line, name), value.of(line));
            let member = Member { name: &name, value };
            if let Some(new) = self.member(line, of, member, &mut edits)? {
                edits.replace(line, value, new);
            }
        }
        Ok(edits.apply(line))
    }

    /// The new value of a member. Changes within it are edits of the line.
    fn member(
        &mut self,
        line: &[u8],
        of: &Members,
        Member { name, value }: Member<'_>,
        edits: &mut Edits,
    ) -> Result<Option<Vec<u8>>, Invalid> {
        if let Some(change) = http::member(&mut self.redactor, name, value) {
            if name == b"sse" {
                self.announced(of.conduit_in(line), value);
            }
            return Ok(change);
        }
        let stream = of.dir as usize;
        Ok(match name {
            b"body" => {
                let conduit = of.conduit_in(line);
                let conduit = conduit.filter(|_| of.dir == Direction::ToClient);
                let endpoint = conduit.is_some_and(|one| self.endpoints.remove(one));
                for (old, new) in http::body(&mut self.redactor, value, endpoint) {
                    edits.replace(line, old, new);
                }
                None
            }
            b"text" => self.raw(stream, meaning(value), quoted),
            b"base64" => self.raw(stream, decoded(value), encoded),
            b"stderr" => self.raw(STDERR, meaning(value), quoted),
            b"stderr_base64" => self.raw(STDERR, decoded(value), encoded),
            b"clipped" => {
                self.clipped(line, value, edits);
                None
            }
            b"command" if of.is_header => {
                self.command(line, value, edits);
                None
            }
            // Names and numbers by tapewright.
            b"seq" | b"at_us" | b"dir" | b"era" | b"eol" | b"end" | b"closed" | b"opened"
            | b"exited" | b"signal" | b"part" | b"gap" | b"env_names" => None,
            _ => match self.redactor.json(value)? {
                Cow::Borrowed(_) => None,
                Cow::Owned(new) => (new != value).then_some(new),
            },
        })
    }

    /// Notes whether the next data of a conduit is the URL of an endpoint.
    fn announced(&mut self, conduit: Option<&[u8]>, note: &[u8]) {
        let event = json::find(note, &["event"]).and_then(meaning);
        if event.as_deref() == Some(b"endpoint") && self.endpoints.len() < LIMIT {
            self.endpoints.extend(conduit.map(<[u8]>::to_vec));
        }
    }

    fn clipped(&mut self, line: &[u8], value: &[u8], edits: &mut Edits) {
        let source = json::find(value, &["head"]);
        if let Some((source, head)) = source.and_then(|source| Some((source, meaning(source)?))) {
            let redacted = self.redactor.head(&head);
            if redacted != head {
                edits.replace(line, source, quoted(&redacted));
            }
        }
    }

    fn raw(
        &mut self,
        stream: usize,
        bytes: Option<Vec<u8>>,
        write: fn(&[u8]) -> Vec<u8>,
    ) -> Option<Vec<u8>> {
        let bytes = bytes?;
        let state = self.streams.get_mut(stream)?;
        let redacted = self.redactor.line(state, &bytes);
        (redacted != bytes).then(|| write(&redacted))
    }

    fn command(&mut self, line: &[u8], value: &[u8], edits: &mut Edits) {
        let Ok(arguments) = elements(&Element::root(value)) else {
            return;
        };
        let argv: Vec<_> = arguments
            .iter()
            .filter_map(|one| meaning(one.text))
            .collect();
        if argv.len() != arguments.len() {
            return;
        }
        for ((old, new), argument) in argv.iter().zip(self.redactor.argv(&argv)).zip(&arguments) {
            if *old != new {
                edits.replace(line, argument.text, quoted(&new));
            }
        }
    }
}

/// The members of a line, and their values.
#[derive(Debug)]
struct Members {
    all: Vec<(Text, Span)>,
    is_header: bool,
    dir: Direction,
    conduit: Option<Span>,
}

/// One of them.
struct Member<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl Default for Members {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            is_header: false,
            dir: Direction::ToClient,
            conduit: None,
        }
    }
}

impl Members {
    /// Validates that a line is JSON, and reads its members, which only an object has. Returns
    /// whether it is.
    fn read(&mut self, line: &[u8]) -> bool {
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        let is_json = Self::spans(line, &mut all);
        *self = Self {
            all,
            ..Self::default()
        };
        if is_json {
            self.say(line);
        }
        is_json
    }

    fn spans(line: &[u8], all: &mut Vec<(Text, Span)>) -> bool {
        if std::str::from_utf8(line).is_err() {
            return false;
        }
        // A line by tapewright begins with its brace, and is validated while its members are read.
        if let Some(end) = json::members_end(line, 0, 0, |name, value| all.push((name, value))) {
            let mut behind = line.part(end..).iter();
            return behind.all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        }
        all.clear();
        let is_json = json::is_grammatical(line);
        if is_json {
            json::valid_members(line, |name, value| all.push((name, value)));
        }
        is_json
    }

    /// Records the values; for duplicates, the last one.
    fn say(&mut self, line: &[u8]) {
        for (name, value) in &self.all {
            match &*meant(line, name) {
                b"tape" => self.is_header = true,
                b"conduit" => self.conduit = Some(*value),
                b"dir" if meaning(value.of(line)).as_deref() == Some(b"to_server") => {
                    self.dir = Direction::ToServer;
                }
                b"dir" => self.dir = Direction::ToClient,
                _ => {}
            }
        }
    }

    /// The conduit that they name, by its number as written.
    fn conduit_in<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        self.conduit.map(|span| span.of(line))
    }
}

/// The decoded name of a member.
fn meant<'t>(line: &'t [u8], name: &Text) -> Cow<'t, [u8]> {
    let source = name.span.of(line);
    if !name.escaped {
        return Cow::Borrowed(source);
    }
    let mut meaning = Vec::new();
    unescape(source, &mut meaning);
    Cow::Owned(meaning)
}

const STDERR: usize = 2;
/// The maximum number of streams that await the data of their first event at once.
const LIMIT: usize = 65_536;
