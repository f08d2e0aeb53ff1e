//! What passes, read on a copy: messages, events of a stream, other bodies.

mod budget;
mod decode;
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

use self::decode::{Decoder, Encoding, SLICE};
use self::whole::Whole;
use super::fields;
use super::metrics::Loss;

pub(crate) use self::budget::{Budget, Share};
pub(crate) use self::decode::{Undecodable, decoded};
pub(crate) use self::log::Log;

/// What is done with what a tap sees.
pub(crate) trait Watch: Send + Sync {
    /// A message passes; called before it is noted. Its envelope is told where it had to be
    /// read.
    fn message(&self, payload: &[u8], envelope: Option<&Envelope<'_>>);

    /// The event of a legacy stream that names where to post (2024-11-05,
    /// basic/transports, HTTP with SSE).
    fn endpoint(&self, url: &str);

    /// So many bytes pass.
    fn bytes(&self, count: usize);

    /// So many bytes of a body that passed are not kept.
    fn lost(&self, cause: Loss, bytes: u64);

    /// Why an unwanted body is given up.
    fn left(&self, reason: CloseReason) -> CloseReason;

    /// The direction came to its end; called after that was noted.
    fn closed(&self, reason: CloseReason);
}

/// One direction of one exchange.
pub(crate) struct Tap {
    log: Arc<Log>,
    dir: Direction,
    decoder: Option<Decoder>,
    content: Content,
    // The head says that it is JSON.
    json: bool,
    // The head says that the request was refused.
    refused: bool,
    // It belongs to a call of a model, which carries no MCP.
    of_model: bool,
    ending: Ending,
    watch: Box<dyn Watch>,
}

impl fmt::Debug for Tap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// Whether a body ends with the bytes that pass now.
#[derive(Default)]
enum Ending {
    #[default]
    Open,
    /// It does. What they completed is noted with the end: as one thing, it costs the recorder
    /// once.
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
        head: &HeaderMap,
        watch: Box<dyn Watch>,
    ) -> Self {
        let limit = log.limit_bytes();
        let share = Share::new(log.budget());
        let encoding = Encoding::of(head);
        let readable = !matches!(encoding, Encoding::Unknown);
        let content = if readable && is_event_stream(head) {
            Content::Events(Box::new(SseFramer::new(limit)), share)
        } else {
            Content::Whole(Whole::new(limit, share))
        };
        let decoder = match encoding {
            Encoding::Known(decoder) => Some(decoder),
            Encoding::Plain | Encoding::Unknown => None,
        };
        Self {
            decoder,
            log,
            dir,
            content,
            json: media_type(head).is_some_and(|name| name.ends_with("json")),
            refused: false,
            of_model: false,
            ending: Ending::Open,
            watch,
        }
    }

    /// The same, where the response has this status.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.refused = status.is_client_error() || status.is_server_error();
        self
    }

    /// The same, where a model is called: only what says that it is JSON-RPC is a message.
    pub(crate) fn of_model(mut self, is_model_call: bool) -> Self {
        self.of_model = is_model_call;
        self
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Offset {
        self.log.now()
    }

    /// The last bytes of the body pass; [`close`](Self::close) is called before they leave.
    pub(crate) fn last_data(&mut self, bytes: &Bytes, came: Offset) {
        self.ending = Ending::With(None);
        self.data(bytes, came);
    }

    /// Bytes pass that came at this time.
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

    /// Trailer fields pass, but for those that may not stand there.
    pub(crate) fn trailers(&mut self, trailers: &mut HeaderMap) {
        let fields = fields::to_vocabulary(trailers);
        self.log
            .note(self.dir, EventBody::Trailers(Box::new(fields)));
        for edit in fields::strip_trailers(trailers) {
            self.edited(edit);
        }
    }

    /// Something was changed on its way.
    pub(crate) fn edited(&mut self, edit: Edit) {
        self.log.note(self.dir, EventBody::Edited(Box::new(edit)));
    }

    /// Pending while the recorder asks to be waited for.
    pub(crate) fn poll_pace(&self, context: &Context<'_>) -> Poll<()> {
        self.log.poll_pace(context)
    }

    /// The body is over.
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
                    // No client dispatches what its stream did not end.
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

    /// A body in one piece passes: what is to be noted of it.
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
            // No wire has a list for a request; one streams as a list.
            let is_batch = matches!(envelope.kind, Kind::Batch { .. });
            return envelope.version.is_some() || is_batch && self.dir == Direction::ToServer;
        }
        match envelope.kind {
            // The body of an HTTP error may be a JSON-RPC error (2025-03-26, basic/transports,
            // Sending Messages 4), or what others say: OAuth has a member `error`, too.
            Kind::Response { .. } if self.refused => envelope.version.is_some(),
            // What a client posts as JSON is meant to be a message, also where it fails;
            // and so is what is too long to be read.
            Kind::Malformed(Malformed::NotJson | Malformed::NotUtf8) => {
                let clipped = matches!(payload, Payload::Clipped { .. });
                self.json && (clipped || self.dir == Direction::ToServer)
            }
            Kind::Malformed(_) => false,
            _ => true,
        }
    }

    /// Whether the data of an event may be a message, where it has the name of one.
    fn may_be_message(&self, event: &SseEvent) -> bool {
        let says_version = |data: &Payload| Envelope::parse(data.kept()).version.is_some();
        !self.of_model || event.data.as_ref().is_some_and(says_version)
    }

    /// Counts what is not kept of a payload.
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
    media_type(head).is_some_and(|name| name.eq_ignore_ascii_case("text/event-stream"))
}

/// Whether a request asks for a stream of events.
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
    // Asked several times with each exchange, and so without a searcher.
    let end = value.bytes().position(|byte| byte == b';');
    Some(value.part(..end.unwrap_or(value.len())).trim_ascii())
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
