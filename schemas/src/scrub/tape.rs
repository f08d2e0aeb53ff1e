//! Scrubbing a tape, line by line.

use std::borrow::Cow;
use std::collections::HashSet;

use super::http;
use super::splice::{Edits, decoded, encoded, meaning, quoted};
use crate::event::Direction;
use crate::json::{self, Invalid};
use crate::recording::{Element, elements};
use crate::redact::{LineState, Redactor};

/// Scrubs the lines of one tape, in order.
#[derive(Debug)]
pub struct TapeScrubber {
    redactor: Redactor,
    // Secrets that span lines: to the server, to the client, standard error.
    streams: [LineState; 3],
    // The conduits whose next data is the URL of an endpoint.
    endpoints: HashSet<Vec<u8>>,
}

impl TapeScrubber {
    /// A scrubber at the start of a tape. The redactor must have adopted the placeholders
    /// of the whole tape.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            streams: Default::default(),
            endpoints: HashSet::new(),
        }
    }

    /// How often each kind was replaced.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Scrubs one line without its line feed. A line that is no JSON, as the last one of a
    /// tape that was cut short, is scrubbed as text.
    pub fn line<'t>(&mut self, line: &'t [u8]) -> Cow<'t, [u8]> {
        if json::is_valid(line) {
            // Proven above.
            return self.record(line).unwrap_or(Cow::Borrowed(line));
        }
        self.redactor.text(line)
    }

    fn record<'t>(&mut self, line: &'t [u8]) -> Result<Cow<'t, [u8]>, Invalid> {
        let mut edits = Edits::default();
        let members = Members::of(line);
        for (name, value) in &members.all {
            let member = Member { name, value };
            if let Some(new) = self.member(line, &members, member, &mut edits)? {
                edits.replace(line, value, new);
            }
        }
        Ok(edits.apply(line))
    }

    /// What stands in the place of a member's value. Changes within it are edits of the line.
    fn member(
        &mut self,
        line: &[u8],
        of: &Members<'_>,
        Member { name, value }: Member<'_>,
        edits: &mut Edits,
    ) -> Result<Option<Vec<u8>>, Invalid> {
        if let Some(change) = http::member(&mut self.redactor, name, value) {
            if name == b"sse" {
                self.announced(of, value);
            }
            return Ok(change);
        }
        let stream = of.dir as usize;
        Ok(match name {
            b"body" => {
                let conduit = of.conduit.as_ref();
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
            // Names and numbers of ours.
            b"seq" | b"at_us" | b"dir" | b"era" | b"eol" | b"end" | b"closed" | b"opened"
            | b"exited" | b"signal" | b"part" | b"gap" | b"env_names" => None,
            _ => match self.redactor.json(value)? {
                Cow::Borrowed(_) => None,
                Cow::Owned(new) => (new != value).then_some(new),
            },
        })
    }

    /// Notes whether the next data of a conduit is the URL of an endpoint.
    fn announced(&mut self, of: &Members<'_>, note: &[u8]) {
        let event = json::find(note, &["event"]).and_then(meaning);
        if event.as_deref() == Some(b"endpoint") && self.endpoints.len() < LIMIT {
            self.endpoints.extend(of.conduit.clone());
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

/// The members of a line, and what they say of it.
struct Members<'t> {
    all: Vec<(Vec<u8>, &'t [u8])>,
    is_header: bool,
    dir: Direction,
    conduit: Option<Vec<u8>>,
}

/// One of them.
struct Member<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'t> Members<'t> {
    fn of(line: &'t [u8]) -> Self {
        let mut all = Vec::new();
        json::members(line, |name, value| {
            all.push((name.to_vec(), value.trim_ascii()));
        });
        let named = |wanted: &[u8]| all.iter().rfind(|(name, _)| name == wanted);
        let to_server =
            named(b"dir").is_some_and(|(_, word)| meaning(word).as_deref() == Some(b"to_server"));
        Self {
            is_header: named(b"tape").is_some(),
            dir: if to_server {
                Direction::ToServer
            } else {
                Direction::ToClient
            },
            conduit: named(b"conduit").map(|(_, number)| number.to_vec()),
            all,
        }
    }
}

const STDERR: usize = 2;
/// How many streams may await the data of their first event at once.
const LIMIT: usize = 65_536;
