//! Scrubbing a tape, line by line.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::http;
use super::lines::{Lines, members_of};
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
    members: Vec<(Text, Span)>,
    edits: Edits,
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
            members: Vec::new(),
            edits: Edits::default(),
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
        members.clear();
        let text = str::from_utf8(line).ok();
        let json = text.filter(|text| members_of(text, &mut members));
        self.one(line, json.map(|text| (text, &*members)));
        self.members = members;
        std::mem::take(&mut self.edits).apply(line)
    }

    /// Scrubs some lines, and appends their new text to `out` if it differs from the old one, which
    /// is returned. `replaced` is called for each line that changes, with its index and with how
    /// often each kind has been replaced.
    pub fn lines(
        &mut self,
        lines: &Lines,
        out: &mut Vec<u8>,
        replaced: &mut dyn FnMut(usize, &BTreeMap<String, u64>),
    ) -> bool {
        let text = lines.text();
        let (mut copied, mut index, mut changed) = (0, 0, false);
        lines.each(|line| {
            self.one(line.bytes, line.json);
            if !self.edits.is_empty() {
                changed = true;
                copied = self.edits.drain(text, copied, line.start, out);
                replaced(index, self.redactor.counts());
            }
            index += 1;
        });
        if changed {
            out.extend_from_slice(text.part(copied..));
        }
        changed
    }

    /// Finds the edits of a line, given its text and members if it is JSON.
    fn one(&mut self, line: &[u8], json: Option<(&str, &[(Text, Span)])>) {
        let mut edits = std::mem::take(&mut self.edits);
        match json {
            Some((text, members)) => {
                let of = Members::of(line, members);
                if self.record(text, &of, &mut edits).is_err() {
                    edits.clear();
                }
            }
            None => {
                if let Cow::Owned(clean) = self.redactor.text(line)
                    && clean != line
                {
                    edits.replace(line, line, clean);
                }
            }
        }
        self.edits = edits;
    }

    fn record(&mut self, line: &str, of: &Members<'_>, edits: &mut Edits) -> Result<(), Invalid> {
        let text = line.as_bytes();
        for (name, span) in of.all {
            let name = meant(text, name);
            // The bounds of a value are bounds of characters.
            let value = line.part(span.start..span.end);
            let member = Member { name: &name, value };
            if let Some(new) = self.member(text, of, member, edits)? {
                edits.replace(text, value.as_bytes(), new);
            }
        }
        Ok(())
    }

    /// The new value of a member. Changes within it are edits of the line.
    fn member(
        &mut self,
        line: &[u8],
        of: &Members<'_>,
        Member { name, value: json }: Member<'_>,
        edits: &mut Edits,
    ) -> Result<Option<Vec<u8>>, Invalid> {
        let value = json.as_bytes();
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
            _ => match self.redactor.json_text(json)? {
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

/// The members of a line that is JSON.
struct Members<'l> {
    all: &'l [(Text, Span)],
    is_header: bool,
    dir: Direction,
    conduit: Option<Span>,
}

/// One of them.
struct Member<'a> {
    name: &'a [u8],
    value: &'a str,
}

impl<'l> Members<'l> {
    /// Their meaning; for duplicates, that of the last one.
    fn of(line: &[u8], all: &'l [(Text, Span)]) -> Self {
        let mut members = Self {
            all,
            is_header: false,
            dir: Direction::ToClient,
            conduit: None,
        };
        for (name, value) in all {
            match &*meant(line, name) {
                b"tape" => members.is_header = true,
                b"conduit" => members.conduit = Some(*value),
                b"dir" if meaning(value.of(line)).as_deref() == Some(b"to_server") => {
                    members.dir = Direction::ToServer;
                }
                b"dir" => members.dir = Direction::ToClient,
                _ => {}
            }
        }
        members
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
