//! `Expect: 100-continue`: the body waits until the server asks for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderMap};
use tokio::sync::Notify;

use crate::http::names::Names;

/// Holds the body of a request until the server asks for it, so that the client is asked exactly
/// when the server asks, and not if the server refuses (RFC 9110 §10.1.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Notify>);

/// How long to wait for the server: some ignore the expectation, and clients then send the body
/// after a while.
const PATIENCE: Duration = Duration::from_secs(1);

impl Gate {
    /// The gate for a request that expects one, with a head with these names.
    pub(crate) fn of(head: &HeaderMap, names: Names) -> Option<Self> {
        if !names.has(Names::EXPECT) {
            return None;
        }
        let expect = head.get(header::EXPECT)?;
        let expected = expect.as_bytes().eq_ignore_ascii_case(b"100-continue");
        expected.then(Self::default)
    }

    /// Lets the body pass.
    pub(crate) fn open(&self) {
        self.0.notify_one();
    }

    /// Resolves when the body may pass.
    pub(super) fn opened(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // A timeout also opens the gate.
            tokio::time::timeout(PATIENCE, self.0.notified()).await.ok();
        })
    }
}
