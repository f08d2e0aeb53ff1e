//! `Expect: 100-continue`: the body waits for the server to ask for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderMap};
use tokio::sync::Notify;

/// Holds the body of a request back until the server asks for it, so that the client is
/// asked when the server asks, and never when it refuses (RFC 9110 §10.1.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Notify>);

/// How long a server may say nothing: some ignore the expectation, and clients then send
/// the body after a while.
const PATIENCE: Duration = Duration::from_secs(1);

impl Gate {
    /// The gate that a request asks for.
    pub(crate) fn of(head: &HeaderMap) -> Option<Self> {
        let expect = head.get(header::EXPECT)?;
        let expected = expect.as_bytes().eq_ignore_ascii_case(b"100-continue");
        expected.then(Self::default)
    }

    /// Lets the body pass.
    pub(crate) fn open(&self) {
        self.0.notify_one();
    }

    /// Done when the body may pass.
    pub(super) fn opened(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // Too long is as good as asked.
            tokio::time::timeout(PATIENCE, self.0.notified()).await.ok();
        })
    }
}
