//! The cost of a queued event.

use tapewright_schemas::event::{Event, EventBody, Fields, Head, Payload};

/// The cost of an event in addition to its payload, in bytes: its own size and its share of a
/// buffer.
pub(super) const OVERHEAD: usize = 192;

/// The share of the queue that an event takes, in bytes.
pub(super) fn cost(event: &Event) -> usize {
    payload_bytes(event) + OVERHEAD
}

/// The number of payload bytes of an event.
pub(crate) fn payload_bytes(event: &Event) -> usize {
    match &event.body {
        EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } => bytes.len(),
        EventBody::Message { payload, .. } | EventBody::Body { payload } => payload.kept().len(),
        EventBody::Stderr { line, .. } => line.len(),
        EventBody::Head(head) => match head.as_ref() {
            Head::Request(head) => head.target.len() + fields_bytes(&head.fields),
            Head::Interim(head) | Head::Response(head) => fields_bytes(&head.fields),
        },
        EventBody::Trailers(fields) => fields_bytes(fields),
        EventBody::Edited(edit) => edit.before.len() + edit.after.len(),
        EventBody::Sse(note) => [&note.id, &note.event, &note.comment]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum(),
        _ => 0,
    }
}

/// Names, values, and the overhead of storing them.
fn fields_bytes(fields: &Fields) -> usize {
    fields.bytes() + fields.len() * FIELD_OVERHEAD
}

/// The overhead of a field, in bytes.
const FIELD_OVERHEAD: usize = 16;
