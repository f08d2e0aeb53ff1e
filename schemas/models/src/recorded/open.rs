//! An exchange that has not ended.

use bytes::Bytes;
use tapewright_schemas::event::{
    CloseReason, Direction, Event, EventBody, Head, Offset, Payload, RequestHead, ResponseHead,
    SseNote,
};

use super::{Answer, Piece, ProviderExchange};

/// An exchange in progress.
#[derive(Debug)]
pub(super) struct Open {
    exchange: ProviderExchange,
    body: Vec<Bytes>,
    // When the last part of the request, and then of the response, arrived.
    last: Offset,
    // The fields of an event other than its data, which follows.
    note: Option<SseNote>,
    // A part of it was recorded as a message of MCP.
    had_message: bool,
    // The request was not recorded whole.
    is_clipped: bool,
    // The response ended.
    is_over: bool,
    bytes: usize,
}

impl Open {
    pub(super) fn new(head: &RequestHead, target: &str, event: &Event) -> Self {
        Self {
            exchange: ProviderExchange {
                seq: event.seq,
                at: event.at,
                method: head.method.to_string(),
                target: target.to_owned(),
                fields: head.fields.clone(),
                body: Bytes::new(),
                answer: None,
            },
            body: Vec::new(),
            last: event.at,
            note: None,
            had_message: false,
            is_clipped: false,
            is_over: false,
            bytes: 0,
        }
    }

    /// The size of the bodies that it holds, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether its request was not recorded whole.
    pub(super) fn is_clipped(&self) -> bool {
        self.is_clipped
    }

    /// Handles the next event of the exchange; returns whether it is over. Without room the bodies
    /// are not kept.
    pub(super) fn observe(&mut self, event: &Event, has_room: bool) -> bool {
        let is_answer = event.dir == Direction::ToClient;
        match &event.body {
            EventBody::Head(head) => {
                if let Head::Response(head) = &**head {
                    self.head(head, event.at);
                }
            }
            EventBody::Sse(note) if is_answer => self.note(note, event.at),
            EventBody::Body { payload } => self.payload(payload, event, has_room),
            EventBody::Message { payload, .. } => {
                self.had_message = true;
                self.payload(payload, event, has_room);
            }
            EventBody::Gap(_) => self.lost(is_answer),
            EventBody::Closed(reason) if is_answer => {
                self.flush(event.at);
                self.is_over = *reason == CloseReason::EndOfInput;
                return true;
            }
            EventBody::Closed(_) => self.last = event.at,
            _ => {}
        }
        false
    }

    fn head(&mut self, head: &ResponseHead, at: Offset) {
        let kind = head.fields.get("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        self.exchange.answer = Some(Answer {
            status: head.status,
            fields: head.fields.clone(),
            is_events: kind.eq_ignore_ascii_case("text/event-stream"),
            waited: at.since(self.last),
            pieces: Vec::new(),
            is_whole: true,
        });
        self.last = at;
    }

    fn payload(&mut self, payload: &Payload, event: &Event, has_room: bool) {
        let is_answer = event.dir == Direction::ToClient;
        let is_kept = matches!(payload, Payload::Whole(_)) && has_room;
        let bytes = if has_room {
            payload.kept().clone()
        } else {
            Bytes::new()
        };
        self.bytes += bytes.len();
        if is_answer {
            self.answered(&bytes, event.at);
        } else {
            self.last = event.at;
            self.body.push(bytes);
        }
        if !is_kept {
            self.lost(is_answer);
        }
    }

    fn lost(&mut self, is_answer: bool) {
        match &mut self.exchange.answer {
            Some(answer) if is_answer => answer.is_whole = false,
            _ => self.is_clipped |= !is_answer,
        }
    }

    fn answered(&mut self, bytes: &Bytes, at: Offset) {
        let is_events = |answer: &Answer| answer.is_events;
        if !self.exchange.answer.as_ref().is_some_and(is_events) {
            return self.push(bytes.clone(), at);
        }
        let note = self.note.take().unwrap_or_default();
        self.push(framed(&note, Some(bytes)), at);
    }

    fn note(&mut self, note: &SseNote, at: Offset) {
        self.flush(at);
        match &note.comment {
            Some(comment) => self.push(format!(":{comment}\n\n").into(), at),
            None => self.note = Some(note.clone()),
        }
    }

    /// An event without data has come.
    fn flush(&mut self, at: Offset) {
        if let Some(note) = self.note.take() {
            self.push(framed(&note, None), at);
        }
    }

    fn push(&mut self, bytes: Bytes, at: Offset) {
        if let Some(answer) = &mut self.exchange.answer {
            let waited = at.since(self.last);
            self.last = at;
            answer.pieces.push(Piece { waited, bytes });
        }
    }

    /// The exchange, unless it was MCP.
    pub(super) fn into_exchange(mut self) -> Option<ProviderExchange> {
        if let Some(answer) = &mut self.exchange.answer {
            answer.is_whole &= self.is_over;
        }
        self.exchange.body = match self.body.as_slice() {
            [only] => only.clone(),
            many => many.concat().into(),
        };
        // Recorders of earlier versions took JSON of any kind for a message.
        let is_mcp = self.had_message && self.exchange.call().is_none();
        (!is_mcp).then_some(self.exchange)
    }
}

/// An event of a stream, as most providers write one.
fn framed(note: &SseNote, data: Option<&Bytes>) -> Bytes {
    let mut out = Vec::with_capacity(data.map_or(0, Bytes::len) + 64);
    let mut line = |name: &str, value: &[u8]| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.push(b'\n');
    };
    if let Some(id) = &note.id {
        line("id", id.as_bytes());
    }
    if let Some(event) = &note.event {
        line("event", event.as_bytes());
    }
    if let Some(retry) = note.retry_ms {
        line("retry", retry.to_string().as_bytes());
    }
    for part in data
        .into_iter()
        .flat_map(|data| data.split(|byte| *byte == b'\n'))
    {
        line("data", part);
    }
    // An event that the stream did not end is not dispatched by any client.
    if !note.cut {
        out.push(b'\n');
    }
    out.into()
}
