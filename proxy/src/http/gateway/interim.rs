//! Interim responses (1xx) on their way to the client.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use http::{HeaderMap, Request, StatusCode, Version, header};
use hyper::ext::on_informational;
use tapewright_schemas::event::{Direction, EventBody, Head, ResponseHead};
use tokio::sync::Notify;

use crate::http::body::{Gate, Outbound};
use crate::http::fields;
use crate::http::origin::{Answer, SendError};
use crate::http::tap::Log;
use crate::http::wire::Interims;

/// The maximum number in one exchange: more than a server needs to report every few seconds that it
/// is still working.
const MOST: u64 = 10_000;

/// Notifies when there are too many.
pub(super) struct Flooded(Arc<Notify>);

impl Flooded {
    /// The server's answer, unless there are too many interim responses before it. In that case its
    /// connection is closed.
    pub(super) async fn unless(
        self,
        answer: impl Future<Output = Result<Answer, SendError>>,
    ) -> Result<Answer, SendError> {
        let mut answer = pin!(answer);
        tokio::select! {
            biased;
            answer = answer.as_mut() => answer,
            () = self.0.notified() => Err(SendError::Flooded),
        }
    }
}

/// Records the interim responses to a request, and forwards them to its client as they arrive.
pub(super) fn pass(request: &mut Request<Outbound>, log: &Arc<Log>) -> Flooded {
    let flooded = Arc::new(Notify::new());
    let extensions = request.extensions_mut();
    let interims = Passing {
        client: extensions.remove(),
        gate: extensions.get().cloned(),
        is_expected: AtomicBool::new(request.headers().contains_key(header::EXPECT)),
        count: AtomicU64::new(0),
        // A connection may outlive the recording.
        log: Arc::downgrade(log),
        flooded: Arc::clone(&flooded),
    };
    on_informational(request, move |interim| {
        interims.take(interim.status(), interim.version(), interim.headers());
    });
    Flooded(flooded)
}

/// Forwards the interim responses of one exchange.
struct Passing {
    // The client's connection, if it supports them.
    client: Option<Interims>,
    // Holds the body of the request until the server asks for it.
    gate: Option<Gate>,
    // The client waits for `100 Continue`, which is sent when its body is read.
    is_expected: AtomicBool,
    count: AtomicU64,
    log: Weak<Log>,
    flooded: Arc<Notify>,
}

impl Passing {
    fn take(&self, status: StatusCode, version: Version, fields: &HeaderMap) {
        let Some(log) = self.log.upgrade() else {
            return;
        };
        if self.count.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.flooded.notify_one();
            return;
        }
        let head = ResponseHead {
            status: status.as_u16(),
            version: fields::version_of(version),
            fields: fields::to_vocabulary(fields),
            ours: None,
            ours_cause: None,
            ours_about: None,
        };
        let head = Head::Interim(head);
        log.note(Direction::ToClient, EventBody::Head(Box::new(head)));
        if status == StatusCode::CONTINUE && self.is_expected.swap(false, Ordering::Relaxed) {
            if let Some(gate) = &self.gate {
                gate.open();
            }
            return;
        }
        let passed = self
            .client
            .as_ref()
            .map(|client| client.pass(status, fields));
        if passed.is_some_and(|passed| passed.is_err()) {
            self.flooded.notify_one();
        }
    }
}
