//! Writing the data of an HTTP exchange to a cassette.

use super::field_texts::{FieldTexts, is_passing};
use super::text::{push_millis, push_string};
use crate::event::{CloseReason, ConduitId, Edit, Fields, ResponseHead, SseNote};
use crate::http_exchange::HttpExchange;
use crate::json::push_number;

/// Appends the member `http` of an exchange, with its times or without the parts that differ
/// between recordings.
pub(super) fn push_http(
    conduit: ConduitId,
    exchange: &HttpExchange,
    times: bool,
    texts: &mut FieldTexts,
    out: &mut Vec<u8>,
) {
    let mut object = Object { out, empty: true };
    object.out.extend_from_slice(b",\n      \"http\": {");
    object.number("conduit", conduit.0.into());
    if let Some(connection) = exchange.connection.filter(|_| times) {
        object.number("connection", connection);
    }
    object.string("method", &exchange.request.method);
    object.string("path", &exchange.request.target);
    if let Some((_, response)) = &exchange.response {
        object.number("status", response.status.into());
    }
    if times {
        push_moments(exchange, &mut object);
    }
    if let Some((_, reason)) = exchange.ended {
        object.string("ended", ended(reason));
    }
    if let Some(reason) = exchange
        .request_ended
        .filter(|reason| *reason != CloseReason::EndOfInput)
    {
        object.string("request_ended", ended(reason));
    }
    object.fields("request", &exchange.request.fields, texts);
    let [request_trailers, trailers] = &exchange.trailers;
    if let Some(fields) = request_trailers {
        object.fields("request_trailers", fields, texts);
    }
    if let Some((_, response)) = &exchange.response {
        object.fields("response", &response.fields, texts);
        push_ours(response, &mut object);
    }
    if let Some(fields) = trailers {
        object.fields("trailers", fields, texts);
    }
    push_edits(&exchange.edits, times, &mut object);
    if let Some(added) = exchange.added.filter(|_| times) {
        object.name("added_us");
        object.out.extend_from_slice(b"{\"request\": ");
        push_number(added.request_us, object.out);
        object.out.extend_from_slice(b", \"response\": ");
        push_number(added.response_us, object.out);
        object.out.push(b'}');
    }
    object.out.extend_from_slice(b"\n      }");
}

/// Appends the times of its parts.
fn push_moments(exchange: &HttpExchange, object: &mut Object<'_>) {
    let moments = [
        ("at_ms", Some(exchange.at)),
        ("response_ms", exchange.response.as_ref().map(|(at, _)| *at)),
        ("ended_ms", exchange.ended.map(|(at, _)| at)),
    ];
    for (name, at) in moments {
        if let Some(at) = at {
            object.name(name);
            push_millis(at, object.out);
        }
    }
}

/// Appends why the recorder answered, if it did.
fn push_ours(response: &ResponseHead, object: &mut Object<'_>) {
    if let Some(ours) = response.ours {
        object.string("ours", ours.name());
    }
    if let Some(cause) = response.ours_cause {
        object.string("ours_cause", cause.name());
    }
    if let Some(about) = &response.ours_about {
        object.string("ours_about", about);
    }
}

/// Appends what was changed on the way: everything, or without what is specific to one connection.
fn push_edits(edits: &[Edit], all: bool, object: &mut Object<'_>) {
    let mut any = false;
    for edit in edits.iter().filter(|edit| all || !is_passing(&edit.field)) {
        if any {
            object.out.extend_from_slice(b", ");
        } else {
            object.name("edits");
            object.out.push(b'[');
        }
        any = true;
        let field = Some(edit.field.as_str()).filter(|field| !field.is_empty());
        let members = [
            ("{\"what\": ", Some(edit.what.name())),
            (", \"field\": ", field),
            (", \"before\": ", Some(edit.before.as_str())),
            (", \"after\": ", Some(edit.after.as_str())),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                object.out.extend_from_slice(name.as_bytes());
                push_string(value, object.out);
            }
        }
        object.out.push(b'}');
    }
    if any {
        object.out.push(b']');
    }
}

/// Appends the fields of a stream's event other than its data, as an object.
pub(super) fn push_note(note: &SseNote, out: &mut Vec<u8>) {
    let start = out.len();
    let texts = [
        ("id", &note.id),
        ("event", &note.event),
        ("comment", &note.comment),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            out.extend_from_slice(b", \"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\": ");
            push_string(text, out);
        }
    }
    if let Some(retry_ms) = note.retry_ms {
        out.extend_from_slice(b", \"retry_ms\": ");
        push_number(retry_ms, out);
    }
    if note.cut {
        out.extend_from_slice(b", \"cut\": true");
    }
    // The first member needs no comma.
    let comma = if out.len() > start { 2 } else { 0 };
    out.splice(start..start + comma, *b"{");
    out.push(b'}');
}

struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl Object<'_> {
    fn name(&mut self, name: &str) {
        let comma: &[u8] = if self.empty { b"" } else { b"," };
        self.empty = false;
        self.out.extend_from_slice(comma);
        self.out.extend_from_slice(b"\n        \"");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\": ");
    }

    fn number(&mut self, name: &str, number: u64) {
        self.name(name);
        push_number(number, self.out);
    }

    fn string(&mut self, name: &str, text: &str) {
        self.name(name);
        push_string(text, self.out);
    }

    /// The fields that matter when the exchange is served or judged again.
    fn fields(&mut self, name: &str, fields: &Fields, texts: &mut FieldTexts) {
        self.name(name);
        texts.push(fields, self.out);
    }
}

/// How a response ended, as a word of the cassette format.
pub(super) fn ended(reason: CloseReason) -> &'static str {
    let known = ENDED.iter().find(|(known, _)| *known == reason);
    known.map_or("failed", |(_, word)| word)
}

/// The reason that a word of the cassette format denotes.
pub(super) fn reason(word: &str) -> Option<CloseReason> {
    let known = ENDED.iter().find(|(_, known)| *known == word);
    known.map(|(reason, _)| *reason)
}

const ENDED: [(CloseReason, &str); 6] = [
    (CloseReason::EndOfInput, "complete"),
    (CloseReason::Aborted, "aborted"),
    (CloseReason::ReceiverGone, "receiver gone"),
    (CloseReason::Failed, "failed"),
    (CloseReason::Policy, "policy"),
    (CloseReason::Stopped, "stopped"),
];
