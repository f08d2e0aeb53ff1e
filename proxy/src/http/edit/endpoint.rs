//! The `endpoint` event of HTTP with SSE (2024-11-05, basic/transports): the one place
//! where a body of the protocol names the server's origin.

use bytes::{Bytes, BytesMut};
use memchr::{memchr2, memmem};
use tapewright_schemas::event::Edit;

use super::Addresses;

/// Changes the URL in the first event of a stream, when that is an `endpoint` on the
/// server's origin. Holds nothing but that first event; its line ends stay.
#[derive(Debug)]
pub(crate) struct EndpointEditor {
    addresses: Addresses,
    // `None` once the first event has passed.
    held: Option<BytesMut>,
}

/// How long a first event may be to be looked at, in bytes.
const LONGEST: usize = 16 * 1024;

impl EndpointEditor {
    pub(crate) fn new(addresses: Addresses) -> Self {
        Self {
            addresses,
            held: Some(BytesMut::new()),
        }
    }

    pub(crate) fn push(&mut self, data: Bytes) -> (Bytes, Option<Edit>) {
        let Some(held) = &mut self.held else {
            return (data, None);
        };
        held.extend_from_slice(&data);
        let end = end_of_event(held);
        let hopeless = end.is_none() && (held.len() > LONGEST || !may_be_endpoint(held));
        if end.is_none() && !hopeless {
            return (Bytes::new(), None);
        }
        let held = self.held.take().unwrap_or_default().freeze();
        let event = end.and_then(|end| held.get(..end)).unwrap_or_default();
        match self.changed(event) {
            Some((first, edit)) => {
                let mut out = BytesMut::from(first.as_slice());
                out.extend_from_slice(held.get(event.len()..).unwrap_or_default());
                (out.freeze(), Some(edit))
            }
            None => (held, None),
        }
    }

    pub(crate) fn finish(self) -> Bytes {
        self.held.unwrap_or_default().freeze()
    }

    /// The event with another URL.
    fn changed(&self, event: &[u8]) -> Option<(Vec<u8>, Edit)> {
        let mut named = false;
        let mut data = None;
        let mut at = 0;
        while at < event.len() {
            let rest = event.get(at..)?;
            let length = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let line = rest.get(..length)?;
            let line_start = at;
            at += length + 1;
            if let Some(value) = line.strip_prefix(b"event:") {
                named = value.trim_ascii() == b"endpoint";
            } else if let Some(value) = line.strip_prefix(b"data:") {
                let value_start = line_start + 5 + usize::from(value.first() == Some(&b' '));
                // An address of several lines is none.
                if data.replace(value_start..line_start + length).is_some() {
                    return None;
                }
            }
        }
        let span = data.filter(|_| named)?;
        let before = std::str::from_utf8(event.get(span.clone())?).ok()?;
        let after = self.addresses.for_client(before.trim())?;
        let mut out = event.get(..span.start)?.to_vec();
        out.extend_from_slice(after.as_bytes());
        out.extend_from_slice(event.get(span.end..)?);
        let edit = Edit {
            what: "endpoint".to_owned(),
            before: before.to_owned(),
            after,
        };
        Some((out, edit))
    }
}

/// Where the first blank line ends.
fn end_of_event(text: &[u8]) -> Option<usize> {
    let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];
    ends.into_iter()
        .filter_map(|end| Some(memmem::find(text, end)? + end.len()))
        .min()
}

/// Whether a stream that begins so may begin with an `endpoint` event: comments and other
/// fields may come first, another event's name decides.
fn may_be_endpoint(text: &[u8]) -> bool {
    let Some(at) = memmem::find(text, b"event:") else {
        return memmem::find(text, b"data:").is_none();
    };
    let value = text.get(at + 6..).unwrap_or_default().trim_ascii_start();
    let length = value.len().min(b"endpoint".len());
    value.get(..length) == b"endpoint".get(..length)
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
        ] {
            for size in [1, 3, 1000] {
                assert_eq!(run(stream, size), (stream.to_owned(), None));
            }
        }
        let long = format!("event: endpoint\ndata: {}", "x".repeat(40_000));
        assert_eq!(run(&long, 999).0, long);
    }

    #[test]
    fn a_stream_that_begins_otherwise_is_not_held() {
        let mut editor = EndpointEditor::new(Addresses {
            theirs: OriginUrl::parse("http://up.example").unwrap(),
            ours: String::new(),
        });
        let chunk = Bytes::from_static(b"event: message\ndata: {");
        assert_eq!(editor.push(chunk.clone()).0, chunk);
    }
}
