//! A stream of the switchboard as the body of an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http_body::{Body, Frame};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::exchange::Ended;
use super::legacy::Ends;
use super::reading::{Part, Reading};
use crate::http::body::BodyError;
use crate::http::fault::CutBehind;

/// A stream of the switchboard as an event stream.
pub(crate) struct Events {
    reading: Reading,
    // Sent before the first event.
    prelude: Option<Bytes>,
    // Events have ids, with which the stream can be resumed.
    numbered: bool,
    learn: Option<Learn>,
    keep_alive: Interval,
    ended: Ended,
    // The session that ends with the stream.
    ends: Option<Ends>,
    // The last part, if the connection is to be cut.
    cut: Option<CutBehind>,
}

/// A callback for every message of a stream.
pub(crate) type Learn = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// How a stream is sent to its client.
pub(crate) struct Show {
    pub(crate) prelude: Option<Bytes>,
    pub(crate) numbered: bool,
    pub(crate) learn: Option<Learn>,
    /// The time without events after which a comment is sent.
    pub(crate) keep_alive: Duration,
}

impl Events {
    pub(crate) fn new(reading: Reading, show: Show, ended: Ended) -> Self {
        let Show {
            prelude,
            numbered,
            learn,
            keep_alive,
        } = show;
        let mut keep_alive = interval(keep_alive);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick of an interval is immediate.
        keep_alive.reset();
        Self {
            reading,
            prelude,
            numbered,
            learn,
            keep_alive,
            ended,
            ends: None,
            cut: None,
        }
    }

    /// Ends a session with the stream.
    pub(crate) fn with(mut self, ends: Ends) -> Self {
        self.ends = Some(ends);
        self
    }

    fn event(&self, number: Option<u64>, line: &Bytes) -> Bytes {
        let mut event = BytesMut::with_capacity(line.len() + 64);
        event.put_slice(b"event: message\n");
        if let Some(number) = number.filter(|_| self.numbered) {
            let id = format!("id: {}-{number}\n", self.reading.opened.stream);
            event.put_slice(id.as_bytes());
        }
        event.put_slice(b"data: ");
        event.put_slice(line);
        event.put_slice(b"\n\n");
        event.freeze()
    }

    /// The part of an answer that the client gets before its connection is cut: at most an
    /// unfinished line, unless it is the whole answer.
    fn part(&self, part: &Bytes) -> Bytes {
        if part.is_empty() {
            return Bytes::new();
        }
        let event = self.event(None, part);
        let end = if is_whole(part) { 0 } else { 2 };
        event.slice(..event.len() - end)
    }
}

/// The first event of a stream: it has an id, so that a client that is disconnected before the
/// first message can resume (2025-11-25, basic/transports, "Sending Messages").
pub(crate) fn priming(stream: u64, after: u64, retry: Duration) -> Bytes {
    let retry = retry.as_millis();
    Bytes::from(format!("id: {stream}-{after}\nretry: {retry}\ndata:\n\n"))
}

/// Whether this is a whole message: the beginning of an object is not valid JSON.
fn is_whole(part: &[u8]) -> bool {
    tapewright_schemas::json::is_valid(part)
}

impl Body for Events {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(prelude) = self.prelude.take() {
            return Poll::Ready(Some(Ok(Frame::data(prelude))));
        }
        if let Some(cut) = &mut self.cut {
            return Pin::new(cut).poll_frame(context);
        }
        match self.reading.poll_next(context) {
            Poll::Ready(Some(Part::Cut(part))) => {
                self.ended.cut();
                self.cut = Some(CutBehind::new(self.part(&part)));
                return self.poll_frame(context);
            }
            Poll::Ready(Some(Part::Event(number, line))) => {
                self.keep_alive.reset();
                if let Some(learn) = &self.learn {
                    learn(&line);
                }
                return Poll::Ready(Some(Ok(Frame::data(self.event(Some(number), &line)))));
            }
            Poll::Ready(None) => {
                self.ended.complete();
                self.ends = None;
                return Poll::Ready(None);
            }
            Poll::Pending => {}
        }
        if self.keep_alive.poll_tick(context).is_ready() {
            // Poll again, so that the timer is registered.
            context.waker().wake_by_ref();
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))));
        }
        Poll::Pending
    }
}
