//! One message outside the exchanges, as a cassette shows it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::http::push_note;
use super::text::{push_effect, push_millis, push_string};
use crate::envelope::Malformed;
use crate::event::{ConduitId, Effect, Event, Payload, SseNote};
use crate::json::{is_valid, push_number};

/// The recorded content of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// An HTTP body that is not a message.
    Body(&'a Payload),
    /// JSON text.
    Json(&'a [u8]),
    /// Content that is not JSON, as text or base64.
    Raw(&'a [u8]),
    /// The length of the whole message, and its first bytes.
    Clipped(u64, &'a [u8]),
    /// Nothing: the entry describes an event.
    Nothing,
}

/// Why a message has its place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remark<'a> {
    pub(crate) mark: Option<&'static str>,
    pub(crate) why: Option<&'static str>,
    /// What was done to a message.
    pub(crate) effect: Option<&'a Effect>,
    /// The exchange on which it crossed, unless its place implies it.
    pub(crate) conduit: Option<ConduitId>,
    /// The other fields of its event in the stream.
    pub(crate) sse: Option<&'a SseNote>,
    pub(crate) when: When,
}

/// How the file records when an entry crossed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum When {
    /// By its time.
    #[default]
    Time,
    /// By the number of messages of the client before it, if that must be recorded, and whether it
    /// is listed before the response of its exchange but came after it.
    Seen { seen: Option<u64>, late: bool },
}

impl Remark<'_> {
    pub(crate) fn mark(mark: &'static str) -> Self {
        Self {
            mark: Some(mark),
            ..Self::default()
        }
    }
}

/// The content of a line that is not an envelope, by the reason.
pub(crate) fn noise(text: &[u8], why: Malformed) -> Content<'_> {
    match why {
        Malformed::NotAnEnvelope | Malformed::NotAnObject => Content::Json(text.trim_ascii()),
        _ => Content::Raw(text),
    }
}

/// The content of a payload that is not parsed.
pub(crate) fn clipped(payload: &Payload) -> Content<'_> {
    Content::Clipped(payload.wire_len(), payload.kept())
}

/// Appends the members of an entry, without its braces.
pub(crate) fn push_members(
    event: &Event,
    content: Content<'_>,
    remark: Remark<'_>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"\"from\": \"");
    out.extend_from_slice(event.dir.sender().as_bytes());
    out.push(b'"');
    push_when(event, remark.when, out);
    if event.session.0 != 0 {
        out.extend_from_slice(b", \"session\": ");
        push_number(event.session.0.into(), out);
    }
    if let Some(conduit) = remark.conduit {
        out.extend_from_slice(b", \"conduit\": ");
        push_number(conduit.0.into(), out);
    }
    if let Some(mark) = remark.mark {
        out.extend_from_slice(b", \"mark\": ");
        push_string(mark, out);
    }
    if let Some(why) = remark.why {
        out.extend_from_slice(b", \"why\": ");
        push_string(why, out);
    }
    if let Some(effect) = remark.effect {
        out.extend_from_slice(b", \"effect\": ");
        push_effect(effect, out);
    }
    if let Some(note) = remark.sse {
        out.extend_from_slice(b", \"sse\": ");
        push_note(note, out);
    }
    match content {
        Content::Body(payload) => push_body(payload, out),
        Content::Json(text) => {
            out.extend_from_slice(b", \"message\": ");
            out.extend_from_slice(text);
        }
        Content::Raw(bytes) => {
            out.extend_from_slice(b", ");
            push_raw(bytes, out);
        }
        Content::Clipped(length, head) => {
            out.extend_from_slice(b", ");
            push_clipped(length, head, out);
        }
        Content::Nothing => {}
    }
}

fn push_when(event: &Event, when: When, out: &mut Vec<u8>) {
    match when {
        When::Time => {
            out.extend_from_slice(b", \"at_ms\": ");
            push_millis(event.at, out);
        }
        When::Seen { seen, late } => {
            if let Some(seen) = seen {
                out.extend_from_slice(b", \"seen\": ");
                push_number(seen, out);
            }
            if late {
                out.extend_from_slice(b", \"late\": true");
            }
        }
    }
}

fn push_raw(bytes: &[u8], out: &mut Vec<u8>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        out.extend_from_slice(b"\"text\": ");
        push_string(text, out);
    } else {
        out.extend_from_slice(b"\"base64\": ");
        push_string(&STANDARD.encode(bytes), out);
    }
}

fn push_clipped(length: u64, head: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"clipped\": {\"len\": ");
    push_number(length, out);
    out.extend_from_slice(b", \"head\": ");
    push_string(&String::from_utf8_lossy(head), out);
    out.push(b'}');
}

fn push_body(payload: &Payload, out: &mut Vec<u8>) {
    out.extend_from_slice(b", \"body\": {");
    match payload {
        Payload::Clipped { len, head } => push_clipped(*len, head, out),
        Payload::Whole(bytes) => {
            // Surrounding white space would be lost, and a lone word is text.
            let json =
                matches!(bytes.first(), Some(b'{' | b'[')) && std::str::from_utf8(bytes).is_ok();
            if json && bytes.trim_ascii_end().len() == bytes.len() && is_valid(bytes) {
                out.extend_from_slice(b"\"json\": ");
                out.extend_from_slice(bytes);
            } else {
                push_raw(bytes, out);
            }
        }
    }
    out.push(b'}');
}
