//! A body that is recorded while it passes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tapewright_engine::fault::FaultSet;
use tapewright_schemas::event::{CloseReason, Offset};

use super::ahead::Ahead;
use super::source::{BrokenContent, Source};
use super::stall::Stall;
use super::{BodyError, Gate};
use crate::http::decode::Decoder;
use crate::http::edit::Editor;
use crate::http::fault::Ends;
use crate::http::origin::Lease;
use crate::http::tap::Tap;

/// A body that is recorded while it passes.
///
/// Whatever a frame completes is recorded before the frame is forwarded. If it is dropped before
/// its end, it records that the receiver has left.
pub(crate) struct Tapped {
    inner: Ahead,
    tap: Tap,
    // For a response: the connection that the body arrives on, and whether its request was sent
    // completely.
    lease: Option<(Lease, Arc<AtomicBool>)>,
    editor: Option<Box<Editor>>,
    // While a fault is active, events are forwarded one by one, each recorded before the fault acts
    // on it.
    apart: Option<(Arc<FaultSet>, Ends)>,
    // Bytes to send before the next frame.
    after: Option<Frame<Bytes>>,
    // Opens when the receiver wants the body.
    gate: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    // Ends the body if its sender pauses for too long.
    stall: Option<Stall>,
    // Whether the arrival time of each piece matters.
    timed: bool,
    done: bool,
}

impl Tapped {
    /// Boxed from the start: it is large, and passed along several times.
    pub(crate) fn new(inner: Incoming, tap: Tap) -> Box<Self> {
        Self::decoded(inner, None, tap)
    }

    /// Forwards what a decoder, if any, makes of a body. The tap reads that, too.
    pub(crate) fn decoded(inner: Incoming, decoder: Option<Decoder>, tap: Tap) -> Box<Self> {
        let mut body = Box::new(Self {
            inner: Ahead::new(Source::new(inner, decoder)),
            tap,
            lease: None,
            editor: None,
            apart: None,
            after: None,
            gate: None,
            stall: None,
            timed: false,
            done: false,
        });
        if body.inner.is_end_stream() {
            body.finish(CloseReason::EndOfInput);
        }
        body
    }

    /// Holds the connection that the body arrives on. It can serve another exchange once the body
    /// has ended and the request was `sent` completely.
    #[must_use]
    pub(crate) fn with_lease(
        mut self: Box<Self>,
        lease: Lease,
        sent: Arc<AtomicBool>,
    ) -> Box<Self> {
        self.lease = Some((lease, sent));
        if self.done {
            self.release(CloseReason::EndOfInput);
        }
        self
    }

    /// Waits for a gate before the first byte.
    #[must_use]
    pub(crate) fn with_gate(mut self: Box<Self>, gate: Option<Gate>) -> Box<Self> {
        self.gate = gate.map(Gate::opened);
        self
    }

    /// Cuts the body off if the sender pauses for this long while more is requested.
    #[must_use]
    pub(crate) fn with_limit(mut self: Box<Self>, silence: Duration) -> Box<Self> {
        self.stall = Some(Stall::new(silence));
        self
    }

    /// The next frame, within the time limit.
    fn poll_next(
        &mut self,
        now: Offset,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = self.inner.poll_frame(now, context);
        let Some(stall) = &mut self.stall else {
            return next;
        };
        if next.is_ready() {
            stall.moved();
            return next;
        }
        stall.poll(context).map(|stalled| Some(Err(stalled.into())))
    }

    fn release(&mut self, reason: CloseReason) {
        if let Some((lease, sent)) = self.lease.take()
            && reason == CloseReason::EndOfInput
            && sent.load(Ordering::Acquire)
        {
            lease.complete();
        }
    }

    /// Forwards the output of `editor`. The tap sees the original.
    #[must_use]
    pub(crate) fn with_editor(mut self: Box<Self>, editor: Option<Editor>) -> Box<Self> {
        self.editor = editor.map(Box::new);
        self
    }

    /// Notes when each piece arrived: faults delay relative to that time.
    #[must_use]
    pub(crate) fn with_times(mut self: Box<Self>, timed: bool) -> Box<Self> {
        self.timed = timed;
        self
    }

    /// The arrival time of what is read now.
    fn now(&self) -> Offset {
        if self.timed {
            self.tap.now()
        } else {
            Offset::default()
        }
    }

    /// Forwards the events of a stream one by one while faults of this fault set are active.
    #[must_use]
    pub(crate) fn with_events_apart(
        mut self: Box<Self>,
        faults: Option<Arc<FaultSet>>,
    ) -> Box<Self> {
        self.apart = faults.map(|faults| (faults, Ends::new(true)));
        self
    }

    /// Whether events are forwarded one by one.
    fn is_apart(&self) -> bool {
        let apart = self.apart.as_ref();
        apart.is_some_and(|(faults, _)| !faults.is_idle())
    }

    /// The part of a chunk to forward now.
    fn next_event(&mut self, mut data: Bytes) -> Bytes {
        if self.is_apart()
            && let Some((_, ends)) = &mut self.apart
            && let Some(end) = ends.find(&data)
            && end < data.len()
        {
            self.inner.unread(data.split_off(end));
        }
        data
    }

    fn finish(&mut self, reason: CloseReason) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        self.tap.close(reason);
        self.release(reason);
    }

    /// The bytes to forward for a chunk.
    fn edited(&mut self, data: Bytes) -> Option<Bytes> {
        let Some(editor) = &mut self.editor else {
            return Some(data);
        };
        let (bytes, edit) = editor.push(data);
        if let Some(edit) = edit {
            self.tap.edited(edit);
        }
        Some(bytes).filter(|bytes| !bytes.is_empty())
    }

    /// Handles a chunk; returns the frame to forward, if any.
    fn data(&mut self, data: Bytes) -> Option<Frame<Bytes>> {
        let (data, came) = (self.next_event(data), self.inner.came());
        let is_last = self.inner.is_end_stream();
        // An edit is recorded after the edited data.
        if is_last && self.editor.is_none() {
            self.tap.last_data(&data, came);
        } else {
            self.tap.data(&data, came);
        }
        let edited = self.edited(data);
        if !is_last {
            return edited.map(Frame::data);
        }
        let rest = self.rest();
        self.finish(CloseReason::EndOfInput);
        let both = [edited, rest].into_iter().flatten();
        let mut frames = both.map(Frame::data);
        let first = frames.next();
        self.after = frames.next();
        first
    }

    /// The bytes that an editor still holds at the end of the body.
    fn rest(&mut self) -> Option<Bytes> {
        let (bytes, edit) = self.editor.take()?.finish();
        if let Some(edit) = edit {
            self.tap.edited(edit);
        }
        Some(bytes).filter(|bytes| !bytes.is_empty())
    }
}

impl Body for Tapped {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(frame) = self.after.take() {
            return Poll::Ready(Some(Ok(frame)));
        }
        if self.done {
            return Poll::Ready(None);
        }
        if let Some(gate) = &mut self.gate {
            ready!(gate.as_mut().poll(context));
            self.gate = None;
        }
        ready!(self.tap.poll_pace(context));
        loop {
            let now = self.now();
            if self.is_apart() {
                self.inner.read(now, context);
            }
            match ready!(self.poll_next(now, context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let frame = self.data(data);
                        if frame.is_some() || self.done {
                            return Poll::Ready(frame.map(Ok));
                        }
                    }
                    Err(mut frame) => {
                        if let Some(trailers) = frame.trailers_mut() {
                            self.tap.trailers(trailers);
                        }
                        let rest = self.rest();
                        // Nothing follows trailers, and the body is not polled again.
                        self.finish(CloseReason::EndOfInput);
                        if let Some(rest) = rest {
                            self.after = Some(frame);
                            return Poll::Ready(Some(Ok(Frame::data(rest))));
                        }
                        return Poll::Ready(Some(Ok(frame)));
                    }
                },
                Some(Err(error)) => {
                    // The sender goes on, but what it sends is useless.
                    let is_ours = error.is::<BrokenContent>();
                    self.finish(if is_ours {
                        CloseReason::Failed
                    } else {
                        CloseReason::Aborted
                    });
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let rest = self.rest();
                    self.finish(CloseReason::EndOfInput);
                    return Poll::Ready(rest.map(|rest| Ok(Frame::data(rest))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.done && self.after.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.editor.is_some() || self.after.is_some() {
            return SizeHint::default();
        }
        self.inner.size_hint()
    }
}

impl Drop for Tapped {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // If the sender has left, the receiver often notices first.
        let context = &mut Context::from_waker(Waker::noop());
        let now = self.now();
        let mut aborted = false;
        let mut is_read = true;
        while is_read {
            // What was read ahead has arrived; for the rest, poll once.
            is_read = self.inner.has_pieces();
            match self.inner.poll_frame(now, context) {
                Poll::Ready(Some(Ok(frame))) if is_read => {
                    if let Ok(data) = frame.into_data() {
                        let came = self.inner.came();
                        self.tap.data(&data, came);
                    }
                }
                Poll::Ready(Some(Err(_))) => aborted = true,
                _ => {}
            }
        }
        self.finish(if aborted {
            CloseReason::Aborted
        } else {
            CloseReason::ReceiverGone
        });
    }
}
