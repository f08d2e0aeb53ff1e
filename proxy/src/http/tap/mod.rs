//! Reads a copy of forwarded bodies: messages, events of a stream, other bodies.

mod budget;
mod log;
mod whole;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use tapewright_engine::{SseEvent, SseFramer, SseItem};
use tapewright_schemas::envelope::{Envelope, Kind, Malformed};
use tapewright_schemas::event::{
    CloseReason, Direction, Edit, EventBody, Gap, GapReason, LineEnd, Offset, Origin, Payload,
    SseNote,
};
use tapewright_schemas::slices::Part as _;

use self::whole::Whole;
use super::decode::{Decoder, Encoding, SLICE};
use super::fields;
use super::metrics::Loss;
use super::names::Names;

pub(crate) use self::budget::{Budget, Share};
pub(crate) use self::log::Log;

/// Observes what a tap reads.
pub(crate) trait Watch: Send + Sync {
    /// Called for a message, before it is recorded. Its envelope is passed if it had to be parsed.
    fn message(&self, payload: &[u8], envelope: Option<&Envelope<'_>>);

    /// Called for the event of a legacy stream with its endpoint (2024-11-05, basic/transports,
    /// HTTP with SSE).
    fn endpoint(&self, url: &str);

    /// Called for forwarded bytes.
    fn bytes(&self, count: usize);

    /// Called for forwarded bytes that are not recorded.
    fn lost(&self, cause: Loss, bytes: u64);

    /// The reason for a body that nothing reads any more.
    fn left(&self, reason: CloseReason) -> CloseReason;

    /// Called after the end of the direction was recorded.
    fn closed(&self, reason: CloseReason);
}

/// One direction of one exchange.
pub(crate) struct Tap {
    log: Arc<Log>,
    dir: Direction,
    decoder: Option<Decoder>,
    content: Content,
    // The head declares JSON.
    json: bool,
    // The head shows that the request was refused.
    refused: bool,
    // It belongs to a model call, which carries no MCP.
    of_model: bool,
    ending: Ending,
    watch: Box<dyn Watch>,
}

impl fmt::Debug for Tap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// What a head says about its body.
pub(crate) struct BodyKind {
    /// It is a stream of events.
    pub(crate) is_stream: bool,
    /// It has a content encoding.
    pub(crate) is_encoded: bool,
    // It is JSON.
    is_json: bool,
    encoding: Encoding,
}

impl BodyKind {
    /// According to a head with these names.
    pub(crate) fn of(head: &HeaderMap, names: Names) -> Self {
        let is_encoded = names.has(Names::CONTENT_ENCODING);
        let name = media_type(head).unwrap_or_default();
        Self {
            is_stream: is_stream(name),
            is_encoded,
            is_json: name.ends_with("json"),
            encoding: if is_encoded {
                Encoding::of(head)
            } else {
                Encoding::Plain
            },
        }
    }

    /// Takes the decoder of an encoded body whose content is to be forwarded, if its encoding can be
    /// decoded.
    pub(crate) fn take_decoder(&mut self) -> Option<Decoder> {
        match std::mem::replace(&mut self.encoding, Encoding::Plain) {
            Encoding::Known(decoder) => {
                self.is_encoded = false;
                Some(decoder)
            }
            other => {
                self.encoding = other;
                None
            }
        }
    }
}

/// Whether a body ends with the current bytes.
#[derive(Default)]
enum Ending {
    #[default]
    Open,
    /// It does. The event that they complete is recorded together with the end, which costs the
    /// recorder less.
    With(Option<EventBody>),
}

/// How a body is read.
enum Content {
    /// As events.
    Events(Box<SseFramer>, Share),
    /// As one piece.
    Whole(Whole),
}

impl Tap {
    pub(crate) fn new(
        log: Arc<Log>,
        dir: Direction,
        kind: BodyKind,
        watch: Box<dyn Watch>,
    ) -> Self {
        let limit = log.limit_bytes();
        let share = Share::new(log.budget());
        let readable = !matches!(kind.encoding, Encoding::Unknown);
        let content = if readable && kind.is_stream {
            Content::Events(Box::new(SseFramer::new(limit)), share)
        } else {
            Content::Whole(Whole::new(limit, share))
        };
        let decoder = match kind.encoding {
            Encoding::Known(decoder) => Some(decoder),
            Encoding::Plain | Encoding::Unknown => None,
        };
        Self {
            decoder,
            log,
            dir,
            content,
            json: kind.is_json,
            refused: false,
            of_model: false,
            ending: Ending::Open,
            watch,
        }
    }

    /// Sets the status of the response.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.refused = status.is_client_error() || status.is_server_error();
        self
    }

    /// Marks a model call: only JSON that declares to be JSON-RPC is a message there.
    pub(crate) fn of_model(mut self, is_model_call: bool) -> Self {
        self.of_model = is_model_call;
        self
    }

    /// The current time.
    pub(crate) fn now(&self) -> Offset {
        self.log.now()
    }

    /// Handles the last bytes of the body; [`close`](Self::close) is called before they are sent.
    pub(crate) fn last_data(&mut self, bytes: &Bytes, came: Offset) {
        self.ending = Ending::With(None);
        self.data(bytes, came);
    }

    /// Handles bytes that arrived at this time.
    pub(crate) fn data(&mut self, bytes: &Bytes, came: Offset) {
        if self.dir == Direction::ToClient {
            self.log.set_came(came);
        }
        self.watch.bytes(bytes.len());
        let Some(mut decoder) = self.decoder.take() else {
            return self.plain(bytes);
        };
        for slice in bytes.chunks(SLICE) {
            let plain = decoder.push(slice);
            if !plain.is_empty() {
                self.plain(&plain);
            }
        }
        self.decoder = Some(decoder);
    }

    /// Handles trailer fields, and removes those that are not allowed there.
    pub(crate) fn trailers(&mut self, trailers: &mut HeaderMap) {
        let fields = fields::to_vocabulary(trailers);
        self.log
            .note(self.dir, EventBody::Trailers(Box::new(fields)));
        for edit in fields::strip_trailers(trailers) {
            self.edited(edit);
        }
    }

    /// Records a change.
    pub(crate) fn edited(&mut self, edit: Edit) {
        self.log.note(self.dir, EventBody::Edited(Box::new(edit)));
    }

    /// Pending while the recorder asks to wait.
    pub(crate) fn poll_pace(&self, context: &Context<'_>) -> Poll<()> {
        self.log.poll_pace(context)
    }

    /// Ends the body.
    pub(crate) fn close(&mut self, reason: CloseReason) {
        let mut lost = None;
        if let Some(mut decoder) = self.decoder.take() {
            let rest = decoder.finish();
            if !rest.is_empty() {
                self.plain(&rest);
            }
            lost = decoder.lost();
        }
        let mut rest = None;
        match &mut self.content {
            Content::Whole(whole) => {
                if let Some(payload) = whole.finish() {
                    self.note_clipped(&payload);
                    rest = Some(if reason == CloseReason::EndOfInput {
                        self.passed(payload, |text| Envelope::parse(text))
                    } else {
                        EventBody::Body { payload }
                    });
                }
            }
            Content::Events(framer, _) => {
                if let Some(event) = framer.finish() {
                    // A client does not dispatch an unfinished event.
                    self.event(event, false);
                }
            }
        }
        let gap = lost.map(|bytes| {
            self.watch.lost(Loss::Encoding, bytes);
            EventBody::Gap(Gap {
                events: 1,
                bytes,
                why: GapReason::Encoding,
                detail: None,
            })
        });
        let reason = self.watch.left(reason);
        let closed = Some(EventBody::Closed(reason));
        let held = match std::mem::take(&mut self.ending) {
            Ending::Open => None,
            Ending::With(held) => held,
        };
        let bodies = [held, rest, gap, closed];
        self.log.note_all(self.dir, bodies.into_iter().flatten());
        self.watch.closed(reason);
    }

    fn plain(&mut self, bytes: &Bytes) {
        match &mut self.content {
            Content::Whole(whole) => {
                if let Some((payload, outline)) = whole.push(bytes) {
                    let body = self.passed(payload, |text| match &outline {
                        Some(outline) => outline.envelope(text),
                        None => Envelope::of_json(text),
                    });
                    let body = match &mut self.ending {
                        Ending::Open => Some(body),
                        Ending::With(last) => last.replace(body),
                    };
                    if let Some(body) = body {
                        self.log.note(self.dir, body);
                    }
                }
            }
            Content::Events(framer, share) => {
                framer.feed(bytes);
                if !share.resize(framer.held_bytes()) {
                    framer.clip();
                }
                let mut items = Vec::new();
                while let Some(item) = framer.poll() {
                    items.push(item);
                }
                for item in items {
                    match item {
                        SseItem::Comment(text) => self.comment(&text),
                        SseItem::Event(event) => self.event(event, true),
                    }
                }
            }
        }
    }

    /// The event for a body in one piece.
    fn passed(
        &self,
        payload: Payload,
        read: impl for<'t> FnOnce(&'t [u8]) -> Envelope<'t>,
    ) -> EventBody {
        let envelope = read(payload.kept());
        let is_message = self.is_message(&payload, &envelope);
        if is_message {
            self.watch.message(payload.kept(), Some(&envelope));
        }
        drop(envelope);
        body_of(payload, is_message, false)
    }

    fn is_message(&self, payload: &Payload, envelope: &Envelope<'_>) -> bool {
        if self.of_model {
            // No wire uses a list as a request; one streams its response as a list.
            let is_batch = matches!(envelope.kind, Kind::Batch { .. });
            return envelope.version.is_some() || is_batch && self.dir == Direction::ToServer;
        }
        match envelope.kind {
            // The body of an HTTP error may be a JSON-RPC error (2025-03-26, basic/transports,
            // Sending Messages 4), or another one: OAuth errors also have a member `error`.
            Kind::Response { .. } if self.refused => envelope.version.is_some(),
            // JSON posted by a client is meant to be a message, even if it is invalid; so is
            // anything that is too long to be parsed.
            Kind::Malformed(Malformed::NotJson | Malformed::NotUtf8) => {
                let clipped = matches!(payload, Payload::Clipped { .. });
                self.json && (clipped || self.dir == Direction::ToServer)
            }
            Kind::Malformed(_) => false,
            _ => true,
        }
    }

    /// Whether the data of an event may be a message, if its name allows it.
    fn may_be_message(&self, event: &SseEvent) -> bool {
        let says_version = |data: &Payload| Envelope::parse(data.kept()).version.is_some();
        !self.of_model || event.data.as_ref().is_some_and(says_version)
    }

    /// Counts the omitted bytes of a clipped payload.
    fn note_clipped(&self, payload: &Payload) {
        if let Payload::Clipped { len, head } = payload {
            let is_long = *len > self.log.limit_bytes() as u64;
            let cause = if is_long { Loss::Length } else { Loss::Memory };
            let lost = len.saturating_sub(head.len() as u64);
            self.watch.lost(cause, lost);
        }
    }

    fn comment(&self, text: &[u8]) {
        let note = SseNote {
            comment: Some(lossy(text)),
            ..SseNote::default()
        };
        self.log.note(self.dir, EventBody::Sse(Box::new(note)));
    }

    fn event(&self, event: SseEvent, dispatched: bool) {
        let is_message = dispatched && event.is_message() && self.may_be_message(&event);
        let endpoint = event.event.as_deref() == Some(b"endpoint");
        let mut note = SseNote {
            id: event.id.as_deref().map(lossy),
            event: event
                .event
                .as_deref()
                .filter(|name| !matches!(*name, b"" | b"message"))
                .map(lossy),
            retry_ms: event.retry_ms,
            comment: None,
            message: is_message,
            cut: false,
        };
        let payload = event.data.filter(|data| data.wire_len() > 0);
        if let Some(payload) = &payload {
            self.note_clipped(payload);
        }
        if payload.is_some() && !dispatched {
            note.cut = true;
        }
        if let Some(payload) = &payload {
            if is_message {
                self.watch.message(payload.kept(), None);
            } else if endpoint && dispatched {
                self.watch.endpoint(&lossy(payload.kept()));
            }
        }
        let plain = SseNote {
            message: is_message,
            ..SseNote::default()
        };
        let worth_noting = note != plain || payload.is_none();
        let note = worth_noting.then(|| EventBody::Sse(Box::new(note)));
        let named = event.event.as_deref() == Some(b"message");
        let body = payload.map(|payload| body_of(payload, is_message, named));
        self.log.note_all(self.dir, note.into_iter().chain(body));
    }
}

fn body_of(payload: Payload, is_message: bool, named: bool) -> EventBody {
    if is_message {
        EventBody::Message {
            payload,
            end: LineEnd::None,
            origin: Origin {
                named,
                ..Origin::default()
            },
        }
    } else {
        EventBody::Body { payload }
    }
}

/// Whether a body is a stream of events.
pub(crate) fn is_event_stream(head: &HeaderMap) -> bool {
    media_type(head).is_some_and(is_stream)
}

fn is_stream(name: &str) -> bool {
    name.eq_ignore_ascii_case("text/event-stream")
}

/// Whether a request accepts a stream of events.
pub(crate) fn is_event_stream_wanted(head: &HeaderMap) -> bool {
    head.get_all(header::ACCEPT).iter().any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.to_ascii_lowercase().contains("text/event-stream"))
    })
}

/// The media type, without its parameters.
pub(crate) fn media_type(head: &HeaderMap) -> Option<&str> {
    let value = head.get(header::CONTENT_TYPE)?.to_str().ok()?;
    // Called twice per exchange, so without a searcher.
    let end = value.bytes().position(|byte| byte == b';');
    Some(value.part(..end.unwrap_or(value.len())).trim_ascii())
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
