//! A body that passes through us, and is recorded as it passes.

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
use super::stall::Stall;
use super::{BodyError, Gate};
use crate::http::edit::Editor;
use crate::http::fault::Ends;
use crate::http::origin::Lease;
use crate::http::tap::Tap;

/// A body that passes through us.
///
/// What a frame completes is recorded before the frame is passed on. Dropped before its
/// end, it says that the receiver has left.
pub(crate) struct Tapped {
    inner: Ahead,
    tap: Tap,
    // The connection that the body comes on, for a response, and whether its request has
    // been sent whole.
    lease: Option<(Lease, Arc<AtomicBool>)>,
    editor: Option<Box<Editor>>,
    // While a fault is in force events are passed on one by one, each recorded before what
    // is done to it.
    apart: Option<(Arc<FaultSet>, Ends)>,
    // Bytes that stand before whatever comes next.
    after: Option<Frame<Bytes>>,
    // Opens when the receiver wants the body.
    gate: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    // Ends it when its sender says nothing for too long.
    stall: Option<Stall>,
    // When each piece came matters.
    timed: bool,
    done: bool,
}

impl Tapped {
    /// Boxed from the start: it is large, and handed from one to the next.
    pub(crate) fn new(inner: Incoming, tap: Tap) -> Box<Self> {
        let mut body = Box::new(Self {
            inner: Ahead::new(inner),
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

    /// Holds the connection that the body comes on. It can serve another exchange once the
    /// body has come to its end and the request has been `sent` whole.
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

    /// Breaks off when nothing comes for so long while more is wanted.
    #[must_use]
    pub(crate) fn with_limit(mut self: Box<Self>, silence: Duration) -> Box<Self> {
        self.stall = Some(Stall::new(silence));
        self
    }

    /// What comes next, in time.
    fn poll_next(
        &mut self,
        now: Offset,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = self.inner.poll_frame(now, context);
        let Some(stall) = &mut self.stall else {
            return next.map_err(Into::into);
        };
        if next.is_ready() {
            stall.moved();
            return next.map_err(Into::into);
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

    /// Passes on what `editor` makes of it. The tap sees what came.
    #[must_use]
    pub(crate) fn with_editor(mut self: Box<Self>, editor: Option<Editor>) -> Box<Self> {
        self.editor = editor.map(Box::new);
        self
    }

    /// Notes when each piece came: faults delay it from then on.
    #[must_use]
    pub(crate) fn with_times(mut self: Box<Self>, timed: bool) -> Box<Self> {
        self.timed = timed;
        self
    }

    /// When what is read now came.
    fn now(&self) -> Offset {
        if self.timed {
            self.tap.now()
        } else {
            Offset::default()
        }
    }

    /// Passes the events of a stream on one by one while faults of this fault set are in force.
    #[must_use]
    pub(crate) fn with_events_apart(
        mut self: Box<Self>,
        faults: Option<Arc<FaultSet>>,
    ) -> Box<Self> {
        self.apart = faults.map(|faults| (faults, Ends::new(true)));
        self
    }

    /// Whether events are passed on one by one.
    fn is_apart(&self) -> bool {
        let apart = self.apart.as_ref();
        apart.is_some_and(|(faults, _)| !faults.is_idle())
    }

    /// What is passed on now of what came.
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

    /// What is passed on of a chunk that came.
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

    /// Takes a chunk that came; what is passed on of it, where that is anything.
    fn data(&mut self, data: Bytes) -> Option<Frame<Bytes>> {
        let (data, came) = (self.next_event(data), self.inner.came());
        let is_last = self.inner.is_end_stream();
        // What an editor does is noted behind what it was done to.
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

    /// What an editor still holds at the end of the body.
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
                    self.finish(CloseReason::Aborted);
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
        // The receiver is often told first of a sender that left.
        let context = &mut Context::from_waker(Waker::noop());
        let now = self.now();
        let mut aborted = false;
        let mut is_read = true;
        while is_read {
            // What was read ahead has come; of what was not, one look tells.
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
