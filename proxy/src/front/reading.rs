//! A client that reads a stream, until it leaves.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::child::Child;
use super::stream::Next;
use super::switchboard::{Form, Opened};

/// A client that reads a stream. Dropping it is how the client leaves.
pub(crate) struct Reading {
    pub(crate) child: Arc<Child>,
    pub(crate) opened: Opened,
}

impl Reading {
    /// Waits until it shows how the answer begins.
    pub(crate) async fn form(&self) -> Form {
        poll_fn(|context| {
            let form = self.child.board().form(self.opened, context.waker());
            form.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// The next event and its number; `None` at the end.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        match self.child.take(self.opened, context.waker()) {
            Next::Event(number, line) => Poll::Ready(Some((number, line))),
            Next::End => Poll::Ready(None),
            Next::Nothing => Poll::Pending,
        }
    }

    /// Everything up to the end, as one array.
    pub(crate) async fn array(&self) -> Bytes {
        let mut array = vec![b'['];
        while let Some((_, line)) = poll_fn(|context| self.poll_next(context)).await {
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
