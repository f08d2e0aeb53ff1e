//! The events of event streams.

use std::collections::HashMap;

use foldhash::quality::RandomState;
use serde::Serialize;

use crate::event::{ConduitId, Direction, Event, EventBody, Head, Offset};

/// Event streams, as responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Streams {
    /// The number of streams.
    pub count: u64,
    /// Their events.
    pub events: u64,
    /// Their comments.
    pub comments: u64,
    /// Events within which their stream ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// How many were requested with `Last-Event-ID`.
    pub resumed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Counts events: those with other fields than their data have a note, those with data have their
/// content, and most only have the latter.
#[derive(Debug, Default)]
pub(super) struct StreamEvents {
    open: HashMap<ConduitId, Option<Noted>, RandomState>,
}

/// The note of an event whose content may follow.
#[derive(Clone, Copy, Debug)]
struct Noted {
    at: Offset,
    message: bool,
}

/// The maximum number of open streams whose events are counted by their content.
const LIMIT: usize = 65_536;

impl StreamEvents {
    pub(super) fn observe(&mut self, event: &Event, streams: &mut Streams) {
        match &event.body {
            EventBody::Head(head) => self.head(event.conduit, head),
            EventBody::Sse(note) => {
                let says = note.message || note.id.is_some() || note.event.is_some();
                streams.cut += u64::from(note.cut);
                if note.comment.is_some() && !says {
                    streams.comments += 1;
                    return;
                }
                streams.events += 1;
                if let Some(noted) = self.open.get_mut(&event.conduit) {
                    let (at, message) = (event.at, note.message);
                    *noted = Some(Noted { at, message });
                }
            }
            EventBody::Message { .. } | EventBody::Body { .. }
                if event.dir == Direction::ToClient =>
            {
                if let Some(noted) = self.open.get_mut(&event.conduit) {
                    let is_message = matches!(event.body, EventBody::Message { .. });
                    let noted = noted.take().filter(|noted| {
                        noted.message == is_message && (is_message || noted.at == event.at)
                    });
                    streams.events += u64::from(noted.is_none());
                }
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                self.open.remove(&event.conduit);
            }
            _ => {}
        }
    }

    fn head(&mut self, conduit: ConduitId, head: &Head) {
        let Head::Response(head) = head else {
            return;
        };
        let is_stream = head.fields.get("content-type").is_some_and(is_stream);
        if is_stream && self.open.len() < LIMIT {
            self.open.insert(conduit, None);
        }
    }
}

/// Whether a media type is that of event streams.
pub(super) fn is_stream(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::event::{Fields, LineEnd, Payload, ResponseHead, SseNote};

    fn events(bodies: Vec<EventBody>) -> Streams {
        let mut fields = Fields::default();
        fields.push("Content-Type", "text/event-stream; charset=utf-8");
        let head = Head::Response(ResponseHead {
            fields,
            ..ResponseHead::default()
        });
        let (mut events, mut streams) = (StreamEvents::default(), Streams::default());
        let head = EventBody::Head(Box::new(head));
        for body in [head].into_iter().chain(bodies) {
            let event = Event::new(Offset(1), Direction::ToClient, body);
            events.observe(&event, &mut streams);
        }
        streams
    }

    #[test]
    fn an_event_counts_once_with_or_without_other_fields() {
        let payload = || Payload::Whole(Bytes::from_static(b"{}"));
        let message = || EventBody::message(payload(), LineEnd::None);
        let other = || EventBody::Body { payload: payload() };
        let note = |message| {
            EventBody::Sse(Box::new(SseNote {
                id: Some("1".to_owned()),
                message,
                ..SseNote::default()
            }))
        };
        let comment = EventBody::Sse(Box::new(SseNote {
            comment: Some(String::new()),
            ..SseNote::default()
        }));
        let all = vec![
            message(),
            other(),
            note(true),
            message(),
            note(false),
            other(),
            // It has no data; the next one is another event.
            note(false),
            message(),
            comment,
            message(),
        ];
        let streams = events(all);
        assert_eq!((streams.events, streams.comments), (7, 1));
    }
}
