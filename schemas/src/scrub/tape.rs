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
        let mut members = Vec::new();
        json::members(line, |name, value| {
            members.push((name.to_vec(), value.trim_ascii()));
        });
        let header = members.iter().any(|(name, _)| name == b"tape");
        let named = |wanted: &[u8]| members.iter().rfind(|(name, _)| name == wanted);
        let to_server =
            named(b"dir").is_some_and(|(_, word)| meaning(word).as_deref() == Some(b"to_server"));
        let dir = if to_server {
            Direction::ToServer
        } else {
            Direction::ToClient
        };
        let conduit = named(b"conduit").map(|(_, number)| number.to_vec());
        for (name, value) in &members {
            if let Some(change) = http::member(&mut self.redactor, name, value) {
                if name == b"sse" {
                    let event = json::find(value, &["event"]).and_then(meaning);
                    if event.as_deref() == Some(b"endpoint") && self.endpoints.len() < LIMIT {
                        self.endpoints.extend(conduit.clone());
                    }
                }
                if let Some(new) = change {
                    edits.replace(line, value, new);
                }
                continue;
            }
            let new = match name.as_slice() {
                b"body" => {
                    let conduit = conduit.as_ref().filter(|_| dir == Direction::ToClient);
                    let endpoint = conduit.is_some_and(|one| self.endpoints.remove(one));
                    for (old, new) in http::body(&mut self.redactor, value, endpoint) {
                        edits.replace(line, old, new);
                    }
                    None
                }
                b"text" => self.raw(dir as usize, meaning(value), quoted),
                b"base64" => self.raw(dir as usize, decoded(value), encoded),
                b"stderr" => self.raw(STDERR, meaning(value), quoted),
                b"stderr_base64" => self.raw(STDERR, decoded(value), encoded),
                b"clipped" => {
                    let head = json::find(value, &["head"]);
                    if let Some((source, head)) = head.and_then(|head| Some((head, meaning(head)?)))
                    {
                        let redacted = self.redactor.head(&head);
                        if redacted != head {
                            edits.replace(line, source, quoted(&redacted));
                        }
                    }
                    None
                }
                b"command" if header => {
                    self.command(line, value, &mut edits);
                    None
                }
                // Names and numbers of ours.
                b"seq" | b"at_us" | b"dir" | b"era" | b"eol" | b"end" | b"closed" | b"opened"
                | b"exited" | b"signal" | b"part" | b"gap" | b"env_names" => None,
                _ => match self.redactor.json(value)? {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(new) => (new != *value).then_some(new),
                },
            };
            if let Some(new) = new {
                edits.replace(line, value, new);
            }
        }
        Ok(edits.apply(line))
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

const STDERR: usize = 2;
/// How many streams may await the data of their first event at once.
const LIMIT: usize = 65_536;
