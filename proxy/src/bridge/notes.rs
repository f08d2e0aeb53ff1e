//! Records the HTTP side of a bridge.
//!
//! Messages are recorded with their link, on the conduit of the lines. Each HTTP exchange is a
//! separate conduit: its two heads, the parts of its stream that are not messages, bodies that are
//! not messages, and how it ended.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use hyper::body::{Body as _, Incoming};
use tapewright_engine::SseEvent;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Head, Payload, Peer, RequestHead, SseNote,
};

use super::exchange::is_message;
use crate::clock::Clock;
use crate::http::fields::{method_of, to_vocabulary};
use crate::http::gateway::{LocalAnswer, head_of};
use crate::http::origin::{OriginUrl, SendError};
use crate::record::Recorder;

/// Records the HTTP exchanges of a bridge.
#[derive(Debug)]
pub(crate) struct Notes {
    recorder: Arc<Recorder>,
    clock: Clock,
    // The lines are conduit 0.
    conduits: AtomicU32,
}

/// One HTTP exchange. Its end is recorded when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Noted(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    notes: Arc<Notes>,
    conduit: ConduitId,
    // Whether the request, and the exchange, are over.
    is_sent: AtomicBool,
    is_over: AtomicBool,
}

impl Notes {
    pub(crate) fn new(recorder: Arc<Recorder>, clock: Clock) -> Self {
        Self {
            recorder,
            clock,
            conduits: AtomicU32::new(0),
        }
    }

    /// Records a request to `target` of `url`, with the `fields` that may be recorded.
    pub(crate) fn begin(
        self: &Arc<Self>,
        method: &Method,
        url: &OriginUrl,
        target: &str,
        fields: &HeaderMap,
    ) -> Noted {
        // The numbers do not run out.
        let before = self.conduits.fetch_add(1, Ordering::Relaxed);
        let noted = Noted(Arc::new(Inner {
            notes: Arc::clone(self),
            conduit: ConduitId(before.saturating_add(1)),
            is_sent: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }));
        let head = RequestHead {
            method: method_of(method),
            target: target.to_owned(),
            fields: to_vocabulary(fields),
            ..RequestHead::default()
        };
        let peer = Peer::Server { url: url.shown() };
        noted.0.note(
            Direction::ToServer,
            [
                EventBody::Opened(peer),
                EventBody::Head(Box::new(Head::Request(head))),
            ],
        );
        noted
    }
}

impl Noted {
    /// Records the head of the response.
    pub(crate) fn answered(&self, response: &Response<Incoming>) {
        self.0.sent(CloseReason::EndOfInput);
        let head = Head::Response(head_of(response));
        let head = EventBody::Head(Box::new(head));
        self.0.note(Direction::ToClient, [head]);
        if response.body().is_end_stream() {
            self.closed(CloseReason::EndOfInput);
        }
    }

    /// Records that there is no response; the bridge answers in the server's place.
    pub(crate) fn failed(&self, error: &SendError) {
        self.0.sent(CloseReason::Failed);
        let head = Head::Response(LocalAnswer::of_send(error).head());
        let head = EventBody::Head(Box::new(head));
        self.0.note(Direction::ToClient, [head]);
        self.closed(CloseReason::Failed);
    }

    /// Records a complete body, unless it is a message, which is recorded with its link.
    pub(crate) fn body(&self, bytes: &Bytes) {
        if !bytes.is_empty() && !is_message(bytes) {
            let payload = Payload::Whole(bytes.clone());
            self.0
                .note(Direction::ToClient, [EventBody::Body { payload }]);
        }
        self.closed(CloseReason::EndOfInput);
    }

    /// Records an event of a stream, unless it is a message, which is recorded with its link; `cut`
    /// if the stream ended within it.
    pub(crate) fn event(&self, event: &SseEvent, cut: bool) {
        let is_message = event.is_message() && !cut;
        let name = event.event.as_deref();
        let note = SseNote {
            id: event.id.as_deref().map(lossy),
            event: name
                .filter(|name| !matches!(*name, b"" | b"message"))
                .map(lossy),
            retry_ms: event.retry_ms,
            cut,
            ..SseNote::default()
        };
        let data = event.data.clone().filter(|_| !is_message);
        let body = data.map(|payload| EventBody::Body { payload });
        let is_worth_noting = note != SseNote::default();
        let note = is_worth_noting.then(|| EventBody::Sse(Box::new(note)));
        self.0
            .note(Direction::ToClient, note.into_iter().chain(body));
    }

    /// Records a comment of a stream.
    pub(crate) fn comment(&self, text: &[u8]) {
        let note = SseNote {
            comment: Some(lossy(text)),
            ..SseNote::default()
        };
        self.0
            .note(Direction::ToClient, [EventBody::Sse(Box::new(note))]);
    }

    /// Records the end of the response.
    pub(crate) fn closed(&self, reason: CloseReason) {
        self.0.closed(reason);
    }

    /// Waits if the tape is behind.
    pub(crate) async fn keep_pace(&self) {
        poll_fn(|context| self.0.notes.recorder.poll_pace(context)).await;
    }
}

impl Inner {
    fn note(&self, dir: Direction, bodies: impl IntoIterator<Item = EventBody>) {
        let at = self.notes.clock.now();
        let mut events = bodies.into_iter().map(|body| Event {
            conduit: self.conduit,
            ..Event::new(at, dir, body)
        });
        self.notes.recorder.record(|| events.next());
    }

    fn sent(&self, reason: CloseReason) {
        if !self.is_sent.swap(true, Ordering::Relaxed) {
            self.note(Direction::ToServer, [EventBody::Closed(reason)]);
        }
    }

    fn closed(&self, reason: CloseReason) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.note(Direction::ToClient, [EventBody::Closed(reason)]);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.sent(CloseReason::ReceiverGone);
        self.closed(CloseReason::ReceiverGone);
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
