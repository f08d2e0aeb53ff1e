//! Turns the HTTP exchanges of a recording into entries.

use std::collections::HashMap;

use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Head, Offset, Payload, SseNote,
};
use tapewright_schemas::http_exchange::{HttpExchange, HttpExchanges};

use super::Clock;
use super::entry::{Body, Entry, Nothing, OnTape, StreamEvent};
use super::parts::{failure, request, response, timings};

/// How many bytes of one body are kept, and of all open ones together.
const BODY_BYTES: usize = 64 << 20;
const OPEN_BYTES: usize = 256 << 20;
/// How many events of one stream are listed one by one.
const EVENTS: usize = 100_000;

/// Follows the HTTP exchanges.
#[derive(Debug)]
pub(crate) struct Exchanges {
    clock: Clock,
    // The origin for requests without a host.
    origin: String,
    known: HttpExchanges,
    open: HashMap<ConduitId, Bodies>,
    held: usize,
}

/// The bodies of one exchange.
#[derive(Debug, Default)]
struct Bodies {
    request: Body,
    response: Body,
    events: Vec<StreamEvent>,
    note: Option<Box<SseNote>>,
    last_sent: Offset,
    is_stream: bool,
}

impl Exchanges {
    /// Starts empty; `origin` is scheme and authority of the server.
    pub(crate) fn new(clock: Clock, origin: String) -> Self {
        Self {
            clock,
            origin,
            known: HttpExchanges::default(),
            open: HashMap::new(),
            held: 0,
        }
    }

    /// Takes the next event, and passes on the exchanges that are over.
    pub(crate) fn observe(&mut self, event: &Event, mut each: impl FnMut(Entry)) {
        self.known.observe(event);
        if self.known.get(event.conduit).is_some() {
            self.keep(event);
        }
        while let Some((conduit, exchange)) = self.known.poll_over() {
            let entry = self.entry(conduit, &exchange);
            each(entry);
        }
    }

    /// Passes on the exchanges that are still open.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Entry)) {
        self.known.finish();
        while let Some((conduit, exchange)) = self.known.poll_over() {
            let entry = self.entry(conduit, &exchange);
            each(entry);
        }
    }

    fn keep(&mut self, event: &Event) {
        let bodies = self.open.entry(event.conduit).or_default();
        let room = OPEN_BYTES.saturating_sub(self.held);
        let before = bodies.request.bytes.len() + bodies.response.bytes.len();
        match (&event.body, event.dir) {
            (
                EventBody::Message { payload, .. } | EventBody::Body { payload },
                Direction::ToServer,
            ) => {
                bodies.last_sent = event.at;
                bodies.request.add(payload, room);
            }
            (EventBody::Closed(_), Direction::ToServer) => bodies.last_sent = event.at,
            (EventBody::Sse(note), _) => bodies.note(note, self.clock.seconds(event.at), room),
            (
                EventBody::Message { payload, .. } | EventBody::Body { payload },
                Direction::ToClient,
            ) => {
                let is_message = matches!(event.body, EventBody::Message { .. });
                bodies.answer(payload, is_message, self.clock.seconds(event.at), room);
            }
            (EventBody::Head(head), Direction::ToClient) => bodies.is_stream = is_stream(head),
            (EventBody::Closed(_), Direction::ToClient) => {
                bodies.flush(self.clock.seconds(event.at), room);
            }
            _ => {}
        }
        self.held = self.held + bodies.request.bytes.len() + bodies.response.bytes.len() - before;
    }

    fn entry(&mut self, conduit: ConduitId, exchange: &HttpExchange) -> Entry {
        let bodies = self.open.remove(&conduit).unwrap_or_default();
        self.held = self
            .held
            .saturating_sub(bodies.request.bytes.len() + bodies.response.bytes.len());
        let timings = timings(exchange, bodies.last_sent);
        let comment = if bodies.is_stream {
            "the text of the stream is put together from its events"
        } else {
            ""
        };
        let error = exchange.ended.and_then(|(_, reason)| failure(reason));
        Entry {
            started_date_time: self.clock.text(exchange.at),
            time: timings.sum(),
            cache: Nothing {},
            timings,
            connection: exchange.connection.map(|number| number.to_string()),
            comment: comment.to_owned(),
            events: bodies.events,
            place: OnTape {
                session: exchange.session.0,
                conduit: conduit.0,
            },
            request: request(&self.origin, exchange, bodies.request),
            response: response(exchange, bodies.response, error),
        }
    }
}

impl Bodies {
    /// Notes the fields of a stream's event, before its data, if any.
    fn note(&mut self, note: &SseNote, time: f64, room: usize) {
        self.is_stream = true;
        self.flush(time, room);
        if note.comment.is_some() {
            self.response.text(&format!("{}\n", head(note)), room);
        } else {
            self.note = Some(Box::new(note.clone()));
        }
    }

    /// Adds an event that had no data.
    fn flush(&mut self, time: f64, room: usize) {
        if let Some(note) = self.note.take() {
            self.event(&note, None, time, room);
        }
    }

    fn answer(&mut self, payload: &Payload, is_message: bool, time: f64, room: usize) {
        if !self.is_stream {
            return self.response.add(payload, room);
        }
        // Data that is not a message belongs to the note in front of it, even if that promises
        // none.
        if self
            .note
            .as_ref()
            .is_some_and(|note| is_message && !note.message)
        {
            self.flush(time, room);
        }
        // An event with only data has no note.
        let note = self.note.take().unwrap_or_default();
        let data = String::from_utf8_lossy(payload.kept()).into_owned();
        self.response.is_cut |= matches!(payload, Payload::Clipped { .. });
        self.event(&note, Some(data), time, room);
    }

    fn event(&mut self, note: &SseNote, data: Option<String>, time: f64, room: usize) {
        let mut text = head(note);
        for line in data.iter().flat_map(|data| data.split('\n')) {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        let is_kept = self.response.text(&text, room);
        if is_kept && self.events.len() < EVENTS {
            self.events.push(StreamEvent {
                time,
                event_name: note.event.clone().unwrap_or_else(|| "message".to_owned()),
                event_id: note.id.clone().unwrap_or_default(),
                data: data.unwrap_or_default(),
            });
        }
    }
}

/// Whether a response is a stream of events.
fn is_stream(head: &Head) -> bool {
    let Head::Response(response) = head else {
        return false;
    };
    let kind = response.fields.get("content-type").unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

/// The lines of an event in front of its data.
fn head(note: &SseNote) -> String {
    let mut head = String::new();
    let retry = note.retry_ms.map(|retry| retry.to_string());
    let fields = [
        ("", &note.comment),
        ("event", &note.event),
        ("id", &note.id),
        ("retry", &retry),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            head.extend([name, ": ", value, "\n"]);
        }
    }
    head
}

impl Body {
    fn add(&mut self, payload: &Payload, room: usize) {
        self.length = self.length.saturating_add(payload.wire_len());
        self.is_cut |= matches!(payload, Payload::Clipped { .. });
        self.extend(payload.kept(), room);
    }

    fn text(&mut self, text: &str, room: usize) -> bool {
        self.length = self.length.saturating_add(text.len() as u64);
        self.extend(text.as_bytes(), room)
    }

    /// Keeps bytes while there is room; returns whether all were kept.
    fn extend(&mut self, bytes: &[u8], room: usize) -> bool {
        let has_room = bytes.len() <= room.min(BODY_BYTES.saturating_sub(self.bytes.len()));
        if has_room {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.is_cut = true;
        }
        has_room
    }
}
