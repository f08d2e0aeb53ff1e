//! Lines for the parts of HTTP other than messages, and the state that they need.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::Encoder;
use super::facts::Content;
use super::head::{push_request, push_response};
use super::line::{
    NOT_UTF8, SPACED, TOO_LONG, fits_a_line, push_base64, push_clipped, push_dir, push_text,
    push_value, push_word,
};
use crate::envelope::Envelope;
use crate::era::{Era, EraTracker};
use crate::event::{
    Added, ConduitId, Direction, Edit, EditTarget, Event, EventBody, Fields, Head, Payload, Peer,
    RequestHead, ResponseHead, SessionKey, SessionMark, SseNote,
};
use crate::json::{is_valid, push_number};
use crate::redact::{LineState, Redactor};

impl Encoder {
    /// Appends a line for a part of an exchange other than a message.
    pub(super) fn beside_messages(&mut self, event: &Event, out: &mut Vec<u8>) {
        if !matches!(
            event.body,
            EventBody::Added(_) | EventBody::Opened(_) | EventBody::Session(_)
        ) {
            push_dir(event.dir, out);
        }
        match &event.body {
            EventBody::Opened(Peer::Client {
                address,
                connection,
            }) => {
                // Not `opened`, which denotes a process for readers of format 1.0.
                out.extend_from_slice(b",\"client\":{\"connection\":");
                push_number(*connection, out);
                let start = out.len() + BEFORE_ADDRESS;
                let redacted = self.redactor.target(address);
                push_text("address", &redacted, out);
                let text = start..out.len() - 1;
                // Neither redacted nor escaped.
                let is_plain = matches!(redacted, Cow::Borrowed(_)) && text.len() == address.len();
                if is_plain && self.has_facts {
                    let connection = *connection;
                    self.told = Some((text, Content::Client { connection }));
                }
                out.push(b'}');
            }
            EventBody::Opened(Peer::Server { url }) => {
                push_text("server", &self.redactor.url(url), out);
            }
            EventBody::Opened(_) => out.extend_from_slice(b",\"cassette\":true"),
            EventBody::Head(head) => self.head(event, head, out),
            EventBody::Body { payload } => self.body(event, payload, out),
            EventBody::Trailers(fields) => {
                push_value("trailers", &self.redactor.fields(fields), out);
            }
            EventBody::Sse(note) => {
                self.http.announced(event, note);
                push_value("sse", &redacted_note(&mut self.redactor, note), out);
            }
            EventBody::Edited(edit) => {
                push_value("edited", &redacted_edit(&mut self.redactor, edit), out);
            }
            EventBody::Added(added) => {
                push_added(*added, out);
                self.tell(Content::Added(*added));
            }
            EventBody::Session(SessionMark::Began(how)) => {
                push_word("began", how.name(), out);
            }
            EventBody::Session(SessionMark::Ended(why)) => {
                push_word("ended", why.name(), out);
            }
            _ => {}
        }
    }

    fn head(&mut self, event: &Event, head: &Head, out: &mut Vec<u8>) {
        let start = out.len();
        let name = match head {
            Head::Request(request) => {
                self.http.asked(event, request);
                push_request(&mut self.redactor, &mut self.seen, request, out);
                "request"
            }
            Head::Interim(interim) => {
                let (redactor, seen) = (&mut self.redactor, &mut self.seen);
                return push_response(redactor, seen, "interim", interim, out);
            }
            Head::Response(response) => {
                let (redactor, seen) = (&mut self.redactor, &mut self.seen);
                push_response(redactor, seen, "response", response, out);
                "response"
            }
        };
        if self.has_facts {
            let value = start + name.len() + AROUND_NAME;
            self.told = Some((value..out.len(), Content::Head(name)));
        }
    }

    fn body(&mut self, event: &Event, payload: &Payload, out: &mut Vec<u8>) {
        let place = self.http.place(event);
        let endpoint = place.is_some_and(|place| std::mem::take(&mut place.endpoint));
        let start = out.len();
        push_body(&mut self.redactor, payload, endpoint, out);
        // The members of an object: the first one has no comma.
        out.splice(start..=start, *b",\"body\":{");
        out.push(b'}');
    }
}

/// The length of `,"address":"`.
const BEFORE_ADDRESS: usize = 12;

/// The length of `,"":`.
const AROUND_NAME: usize = 4;

fn push_added(added: Added, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"added\":{\"request_us\":");
    push_number(added.request_us, out);
    out.extend_from_slice(b",\"response_us\":");
    push_number(added.response_us, out);
    out.push(b'}');
}

/// Appends the members with the contents of a body.
fn push_body(redactor: &mut Redactor, payload: &Payload, endpoint: bool, out: &mut Vec<u8>) {
    let bytes = match payload {
        Payload::Whole(bytes) => bytes,
        Payload::Clipped { len, head } => {
            push_clipped(*len, &redactor.body_head(head), out);
            return push_text("why", TOO_LONG, out);
        }
    };
    if endpoint {
        return push_text("text", &redactor.endpoint(bytes), out);
    }
    let redacted = redactor.body(bytes);
    let Ok(text) = std::str::from_utf8(&redacted) else {
        push_base64("base64", &redacted, out);
        return push_text("why", NOT_UTF8, out);
    };
    // A lone word or number is text that happens to be JSON.
    let json = matches!(
        text.as_bytes().trim_ascii_start().first(),
        Some(b'{' | b'[')
    );
    if !json || !is_valid(&redacted) {
        return push_text("text", text, out);
    }
    if fits_a_line(&redacted) {
        out.extend_from_slice(b",\"json\":");
        out.extend_from_slice(&redacted);
    } else {
        push_text("text", text, out);
        push_text("why", SPACED, out);
    }
}

/// A request's head without its secrets.
pub(crate) fn redacted_request(redactor: &mut Redactor, head: &RequestHead) -> RequestHead {
    RequestHead {
        method: redactor.word(&head.method).into_owned().into(),
        target: redactor.target(&head.target).into_owned(),
        version: redactor.word(&head.version).into_owned().into(),
        fields: redactor.fields(&head.fields),
    }
}

/// A response's head without its secrets.
pub(crate) fn redacted_response(redactor: &mut Redactor, head: &ResponseHead) -> ResponseHead {
    ResponseHead {
        status: head.status,
        version: redactor.word(&head.version).into_owned().into(),
        fields: redactor.fields(&head.fields),
        ours: head.ours,
        ours_cause: head.ours_cause,
        ours_about: head.ours_about.as_deref().map(|about| redactor.url(about)),
    }
}

/// The fields of an event other than its data, without secrets.
pub(crate) fn redacted_note(redactor: &mut Redactor, note: &SseNote) -> SseNote {
    let mut text = |text: &Option<String>| text.as_deref().map(|text| redactor.url(text));
    SseNote {
        id: text(&note.id),
        event: text(&note.event),
        retry_ms: note.retry_ms,
        comment: text(&note.comment),
        message: note.message,
        cut: note.cut,
    }
}

/// An edit without the secrets in its values.
pub(crate) fn redacted_edit(redactor: &mut Redactor, edit: &Edit) -> Edit {
    let mut url = |text: &str| match edit.what {
        EditTarget::Endpoint => redactor.endpoint(text.as_bytes()),
        EditTarget::Target => redactor.target(text).into_owned(),
        what if what.is_field() && !text.is_empty() => {
            let mut fields = Fields::with_capacity(1, edit.field.len() + text.len());
            fields.push(&edit.field, text);
            let redacted = redactor.fields(&fields);
            redacted.get(&edit.field).unwrap_or_default().to_owned()
        }
        _ => redactor.url(text),
    };
    let (before, after) = (url(&edit.before), url(&edit.after));
    Edit {
        what: edit.what,
        field: edit.field.clone(),
        before,
        after,
    }
}

/// The encoder's state of conduits other than the first.
#[derive(Debug, Default)]
pub(super) struct Conduits {
    open: HashMap<ConduitId, OpenHttpExchange, FixedState>,
    // Secrets that span lines, of children that serve one session each.
    lines: HashMap<(SessionKey, ConduitId), [LineState; 3]>,
}

/// One HTTP exchange.
#[derive(Debug, Default)]
pub(super) struct OpenHttpExchange {
    /// The era according to the revision in its head, for messages that do not show it.
    hint: Option<Era>,
    eras: EraTracker,
    /// The next data of the stream is the URL of an endpoint.
    endpoint: bool,
    /// A head was seen: content here comes in whole bodies, not in lines.
    http: bool,
}

impl Conduits {
    /// Begins an exchange.
    fn asked(&mut self, event: &Event, head: &RequestHead) {
        if self.open.len() >= LIMIT {
            return;
        }
        let version = head.fields.get("mcp-protocol-version");
        let place = self.open.entry(event.conduit).or_default();
        place.hint = Some(Era::of_revision(version));
        place.http = true;
    }

    /// Notes whether the data that follows is the URL of an endpoint.
    fn announced(&mut self, event: &Event, note: &SseNote) {
        let endpoint = note.event.as_deref() == Some("endpoint");
        if endpoint && self.open.len() < LIMIT {
            self.open.entry(event.conduit).or_default().endpoint = true;
        } else if let Some(place) = self.place(event) {
            place.endpoint = false;
        }
    }

    /// Ends one direction of an exchange.
    pub(super) fn closed(&mut self, conduit: ConduitId, dir: Direction) {
        if dir == Direction::ToClient && !self.open.is_empty() {
            self.open.remove(&conduit);
        }
    }

    /// Forgets the lines of a process that ended.
    pub(super) fn exited(&mut self, event: &Event) {
        self.lines.remove(&(event.session, event.conduit));
    }

    fn place(&mut self, event: &Event) -> Option<&mut OpenHttpExchange> {
        self.open.get_mut(&event.conduit)
    }

    /// The era of a message.
    pub(super) fn era(&mut self, event: &Event, envelope: &Envelope<'_>) -> Option<Era> {
        if self.open.len() >= LIMIT && !self.open.contains_key(&event.conduit) {
            return None;
        }
        let place = self.open.entry(event.conduit).or_default();
        place.eras.observe(event.dir, envelope).or(place.hint)
    }

    /// The state of the lines of a process.
    pub(super) fn lines(&mut self, event: &Event) -> Option<&mut [LineState; 3]> {
        let bodies = self.open.get(&event.conduit).is_some_and(|one| one.http);
        if bodies || self.lines.len() >= LIMIT {
            return None;
        }
        Some(
            self.lines
                .entry((event.session, event.conduit))
                .or_default(),
        )
    }
}

/// The maximum number of conduits that are remembered at once.
const LIMIT: usize = 65_536;
