//! Reads ahead of what is forwarded.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use tapewright_schemas::event::Offset;

use super::BodyError;
use super::source::Source;

/// The maximum number of bytes read ahead.
const MOST_AHEAD: usize = 256 * 1024;

/// The maximum number of pieces read ahead, which may be small or empty.
const MOST_PIECES: usize = 1_024;

/// A body, and the parts of it that were read but not forwarded.
pub(super) struct Ahead {
    inner: Source,
    pieces: VecDeque<(Bytes, Offset)>,
    bytes: usize,
    // What followed the pieces, until it is taken.
    end: Option<Last>,
    came: Offset,
}

type Last = Option<Result<Frame<Bytes>, BodyError>>;

impl Ahead {
    pub(super) fn new(inner: Source) -> Self {
        Self {
            inner,
            pieces: VecDeque::new(),
            bytes: 0,
            end: None,
            came: Offset::default(),
        }
    }

    /// Reads what is available at `now`. If a fault delays each event, data received meanwhile
    /// would otherwise get a late time.
    pub(super) fn read(&mut self, now: Offset, context: &mut Context<'_>) {
        while self.end.is_none() && self.bytes < MOST_AHEAD && self.pieces.len() < MOST_PIECES {
            match Pin::new(&mut self.inner).poll_frame(context) {
                Poll::Pending => return,
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        self.bytes += data.len();
                        self.pieces.push_back((data, now));
                    }
                    Err(frame) => self.end = Some(Some(Ok(frame))),
                },
                Poll::Ready(last) => self.end = Some(last),
            }
        }
    }

    /// The next frame.
    pub(super) fn poll_frame(&mut self, now: Offset, context: &mut Context<'_>) -> Poll<Last> {
        if let Some((data, came)) = self.pieces.pop_front() {
            self.bytes -= data.len();
            self.came = came;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        self.came = now;
        match self.end.take() {
            Some(last) => Poll::Ready(last),
            None => Pin::new(&mut self.inner).poll_frame(context),
        }
    }

    /// The arrival time of the last frame.
    pub(super) fn came(&self) -> Offset {
        self.came
    }

    /// Returns the rest of a piece.
    pub(super) fn unread(&mut self, rest: Bytes) {
        self.bytes += rest.len();
        self.pieces.push_front((rest, self.came));
    }

    /// Whether something was read ahead.
    pub(super) fn has_pieces(&self) -> bool {
        !self.pieces.is_empty()
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && self.end.is_none() && self.inner.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        if self.pieces.is_empty() && self.end.is_none() {
            self.inner.size_hint()
        } else {
            SizeHint::default()
        }
    }
}
