//! A client that reads a stream, until it leaves.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::child::Child;
use super::stream::Next;
use super::switchboard::{Form, Opened};

/// The next part of a stream.
pub(crate) enum Part {
    /// The connection is cut, after these bytes of an answer.
    Cut(Bytes),
    /// An event and its number.
    Event(u64, Bytes),
}

/// A client that reads a stream. Dropping it detaches the client.
pub(crate) struct Reading {
    pub(crate) child: Arc<Child>,
    pub(crate) opened: Opened,
}

impl Reading {
    /// Waits until it is decided how the answer starts.
    pub(crate) async fn form(&self) -> Form {
        poll_fn(|context| {
            let form = self.child.board().form(self.opened, context.waker());
            form.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// The next part; `None` at the end.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Part>> {
        match self.child.take(self.opened, context.waker()) {
            Next::Event(number, line) => Poll::Ready(Some(Part::Event(number, line))),
            Next::Cut(part) => Poll::Ready(Some(Part::Cut(part))),
            Next::End => Poll::Ready(None),
            Next::Nothing => Poll::Pending,
        }
    }

    /// Everything up to the end, as one array.
    pub(crate) async fn array(&self) -> Bytes {
        let mut array = vec![b'['];
        while let Some(Part::Event(_, line)) = poll_fn(|context| self.poll_next(context)).await {
            if array.len() > 1 {
                array.push(b',');
            }
            array.extend_from_slice(&line);
        }
        array.push(b']');
        Bytes::from(array)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.child.leave(self.opened);
    }
}
