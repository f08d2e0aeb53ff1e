//! The `endpoint` event of HTTP with SSE (2024-11-05, basic/transports): the only place where a
//! body of the protocol contains the server's origin.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::{Edit, EditTarget};
use tapewright_schemas::slices::Part as _;

use super::Addresses;
use crate::http::origin::Scheme;

/// Changes the URL in the `endpoint` event of a stream, if it has the server's origin. It is the
/// first event; others that are not messages, such as a heartbeat, may come before it. Only the
/// data of that event is held; its line ends are unchanged.
#[derive(Debug)]
pub(crate) struct EndpointEditor {
    addresses: Addresses,
    // `None` after it has passed, or after a message.
    first: Option<First>,
}

/// The stream up to the end of that event.
#[derive(Debug, Default)]
struct First {
    // The current line, held or already forwarded.
    line: Vec<u8>,
    // The held bytes: from the first line that is, or may be, data.
    held: BytesMut,
    holding: bool,
    // The position of the address in the held bytes.
    data: Option<Range<usize>>,
    lines_of_data: usize,
    name: Name,
    // The current event has another name, and its data is not an address: it is forwarded
    // immediately.
    is_passing: bool,
    after_cr: bool,
    // The number of bytes of a byte order mark seen so far; beyond its length there can be none.
    mark: usize,
}

/// The name of the current event, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Name {
    /// A message, which is also the default name.
    #[default]
    Message,
    Endpoint,
    Other,
}

impl Name {
    fn of(text: &[u8]) -> Self {
        match text {
            b"endpoint" => Self::Endpoint,
            b"" | b"message" => Self::Message,
            _ => Self::Other,
        }
    }
}

/// The maximum length of a first event that is examined, in bytes.
const LONGEST: usize = 16 * 1024;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The result of the next byte of the first event.
enum Step {
    More,
    /// The event is over, with this address to be changed, if any.
    Over(Option<Range<usize>>),
}

impl EndpointEditor {
    pub(crate) fn new(addresses: Addresses) -> Self {
        Self {
            addresses,
            first: Some(First::default()),
        }
    }

    pub(crate) fn push(&mut self, data: Bytes) -> (Bytes, Option<Edit>) {
        let Some(first) = &mut self.first else {
            return (data, None);
        };
        let mut out = BytesMut::with_capacity(data.len());
        for (at, byte) in data.iter().enumerate() {
            let Step::Over(span) = first.step(*byte, self.addresses.theirs.scheme, &mut out) else {
                continue;
            };
            let held = self.first.take().unwrap_or_default().held;
            let edit = span.and_then(|span| self.changed(&held, span, &mut out));
            if edit.is_none() {
                out.extend_from_slice(&held);
            }
            out.extend_from_slice(data.part(at + 1..));
            return (out.freeze(), edit);
        }
        (out.freeze(), None)
    }

    pub(crate) fn finish(self) -> Bytes {
        self.first.unwrap_or_default().held.freeze()
    }

    /// Appends the held bytes with another address; does nothing if it must not change.
    fn changed(&self, held: &[u8], span: Range<usize>, out: &mut BytesMut) -> Option<Edit> {
        let before = std::str::from_utf8(held.part(span.clone())).ok()?;
        let after = self.addresses.for_client(before.trim())?;
        let (front, back) = (held.part(..span.start), held.part(span.end..));
        out.extend_from_slice(front);
        out.extend_from_slice(after.as_bytes());
        out.extend_from_slice(back);
        Some(Edit {
            what: EditTarget::Endpoint,
            before: before.to_owned(),
            after,
            ..Edit::default()
        })
    }
}

impl First {
    fn step(&mut self, byte: u8, scheme: Scheme, out: &mut BytesMut) -> Step {
        if MARK.get(self.mark) == Some(&byte) {
            self.mark += 1;
            out.extend_from_slice(&[byte]);
            return Step::More;
        }
        self.mark = MARK.len();
        if self.line.is_empty() && byte == b'd' && !self.is_passing {
            self.holding = true;
        }
        if self.holding {
            self.held.extend_from_slice(&[byte]);
        } else {
            out.extend_from_slice(&[byte]);
        }
        let second_half = std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n';
        if second_half {
            return Step::More;
        }
        if matches!(byte, b'\r' | b'\n') {
            return self.end_line(out);
        }
        if self.is_passing && self.line.len() > LONGEST {
            return Step::More;
        }
        self.line.push(byte);
        let is_data = self.line.iter().zip(b"data").all(|(a, b)| a == b);
        if self.holding && self.lines_of_data == 0 && !is_data {
            self.release(out);
        }
        let hopeless = self.holding && !self.may_be_address(scheme);
        if hopeless || self.line.len() > LONGEST || self.held.len() > LONGEST {
            if self.name != Name::Other {
                return Step::Over(None);
            }
            self.release(out);
            self.is_passing = true;
        }
        Step::More
    }

    /// Whether the current line of data may be a whole URL of the server.
    fn may_be_address(&self, scheme: Scheme) -> bool {
        let Some(value) = self.line.strip_prefix(b"data:") else {
            return true;
        };
        let begun = value.trim_ascii_start().iter();
        let wanted = scheme.name().bytes().chain(*b"://");
        begun.zip(wanted).all(|(a, b)| a.eq_ignore_ascii_case(&b))
    }

    /// Releases held bytes that are not data after all.
    fn release(&mut self, out: &mut BytesMut) {
        self.holding = false;
        out.extend_from_slice(&self.held.split());
    }

    fn end_line(&mut self, out: &mut BytesMut) -> Step {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event(out);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let name = line.part(..colon.unwrap_or(line.len()));
        let mut value = colon.map_or(line.len(), |colon| colon + 1);
        value += usize::from(line.get(value) == Some(&b' '));
        match name {
            b"event" => self.name = Name::of(line.part(value..)),
            b"data" if self.holding => {
                // Its end, a single byte so far, is held as well.
                let start = self.held.len().saturating_sub(line.len() + 1);
                self.data = Some(start + value..start + line.len());
                self.lines_of_data += 1;
            }
            _ => {}
        }
        Step::More
    }

    fn end_event(&mut self, out: &mut BytesMut) -> Step {
        let name = std::mem::take(&mut self.name);
        let has_passed = std::mem::take(&mut self.is_passing);
        let lines = std::mem::take(&mut self.lines_of_data);
        let data = self.data.take();
        match name {
            // A client would not dispatch it.
            _ if lines == 0 && !has_passed => Step::More,
            // Several lines are not an address.
            Name::Endpoint => Step::Over(data.filter(|_| lines == 1 && !has_passed)),
            Name::Message => Step::Over(None),
            Name::Other => {
                self.release(out);
                Step::More
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::origin::OriginUrl;

    fn run(stream: &str, size: usize) -> (String, Option<Edit>) {
        let mut editor = EndpointEditor::new(Addresses {
            theirs: OriginUrl::parse("http://up.example:9/sse").unwrap(),
            ours: "http://127.0.0.1:4000".to_owned(),
        });
        let mut out = Vec::new();
        let mut edit = None;
        for chunk in stream.as_bytes().chunks(size) {
            let (bytes, found) = editor.push(Bytes::copy_from_slice(chunk));
            out.extend_from_slice(&bytes);
            edit = edit.or(found);
        }
        out.extend_from_slice(&editor.finish());
        (String::from_utf8(out).unwrap(), edit)
    }

    #[test]
    fn an_absolute_url_of_the_server_is_changed_and_nothing_else() {
        for end in ["\n", "\r\n", "\r"] {
            let text = |url: &str| {
                format!(": hi\nevent: endpoint\ndata: {url}\n\nevent: message\ndata: http://up.example:9/x\n\n")
                    .replace('\n', end)
            };
            for size in [1, 2, 7, 1000] {
                let (out, edit) = run(&text("http://up.example:9/message?sessionId=7"), size);
                assert_eq!(
                    out,
                    text("http://127.0.0.1:4000/message?sessionId=7"),
                    "{size}"
                );
                assert!(edit.is_some());
            }
        }
    }

    #[test]
    fn everything_else_passes_as_it_is() {
        for stream in [
            "event: endpoint\ndata: /message?sessionId=7\n\n",
            "event: endpoint\ndata: http://other.example/\n\n",
            "event: message\ndata: http://up.example:9/x\n\n",
            "data: http://up.example:9/x\n\n",
            "event: endpoint\ndata: http://up.example:9/x\ndata: y\n\n",
            "id: 1\nevent: endpoint\ndata: http://up.example:9/x",
            "",
            ": only a comment\n\n",
            "event: endpoint\n\ndata: http://up.example:9/x\n\n",
            "dat: 1\ndatum\nd\n\n",
            "event: message\ndata: {}\n\nevent: endpoint\ndata: http://up.example:9/x\n\n",
            "event: ping\ndata: 1\n\ndata: {}\n\nevent: endpoint\ndata: http://up.example:9/x\n\n",
            "event: ping\ndata: 1\nevent: endpoint\ndata: http://up.example:9/x\n\n",
            "event: ping\ndata: http://up.example:9/x",
        ] {
            for size in [1, 3, 1000] {
                assert_eq!(run(stream, size), (stream.to_owned(), None));
            }
        }
        let long = format!("event: endpoint\ndata: {}", "x".repeat(40_000));
        assert_eq!(run(&long, 999).0, long);
    }

    #[test]
    fn comments_and_other_fields_may_come_first_and_the_name_last() {
        for end in ["\n", "\r\n", "\r"] {
            let text = |url: &str| {
                format!("\u{feff}: ping\n\nretry: 5\n\ndelta: 1\nid: 1\ndata:{url}\nevent: endpoint\n\ndata: http://up.example:9/x\n\n")
                    .replace('\n', end)
            };
            for size in [1, 2, 5, 1000] {
                let (out, edit) = run(&text("http://up.example:9/m"), size);
                assert_eq!(out, text("http://127.0.0.1:4000/m"), "{size}");
                assert!(edit.is_some());
            }
        }
    }

    #[test]
    fn events_that_are_no_message_may_come_first() {
        let long = "x".repeat(3 * LONGEST);
        for end in ["\n", "\r\n", "\r"] {
            for before in [
                "event: ping\ndata: 1\n\n".to_owned(),
                "event: ping\ndata: http://up.example:9/x\n\nevent: open\ndata:\n\n".to_owned(),
                "event: a\ndata: 1\ndata: http://up.example:9/x\nid: 7\n\n".to_owned(),
                "data: http://up.example:9/x\nevent: ready\n\n".to_owned(),
                format!("event: big\ndata: {long}\ndata: {long}\n\n"),
                format!("event: big\ndata: http://{long}\nid: {long}\n\n"),
            ] {
                let text = |url: &str| {
                    format!(
                        "{before}event: endpoint\ndata: {url}\n\ndata: http://up.example:9/x\n\n"
                    )
                    .replace('\n', end)
                };
                for size in [1, 7, 100_000] {
                    let (out, edit) = run(&text("http://up.example:9/m"), size);
                    assert_eq!(out, text("http://127.0.0.1:4000/m"), "{size}");
                    assert!(edit.is_some());
                }
            }
        }
    }

    #[test]
    fn nothing_is_held_but_data_that_may_be_the_address() {
        let mut editor = EndpointEditor::new(Addresses {
            theirs: OriginUrl::parse("http://up.example").unwrap(),
            ours: String::new(),
        });
        for chunk in [": pi", "ng\n\nevent: end", "point\nid", ": 1\ndelta\n"] {
            assert_eq!(editor.push(chunk.into()).0, chunk);
        }
        assert_eq!(editor.push("data: http:/".into()).0, "");
        assert_eq!(editor.push("m\nmore".into()).0, "data: http:/m\nmore");
        assert_eq!(editor.push("data: http://up".into()).0, "data: http://up");
    }
}
