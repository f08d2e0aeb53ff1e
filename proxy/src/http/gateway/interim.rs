//! Interim responses (1xx) on their way to the client.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use atomic_waker::AtomicWaker;
use http::{HeaderMap, Request, StatusCode, Version};
use hyper::ext::on_informational;
use tapewright_schemas::event::{Direction, EventBody, Head, ResponseHead};

use crate::http::body::{Gate, Outbound};
use crate::http::fields;
use crate::http::names::Names;
use crate::http::origin::{Answer, SendError};
use crate::http::tap::Log;
use crate::http::wire::Interims;

/// The maximum number in one exchange: more than a server needs to report every few seconds that it
/// is still working.
const MOST: u64 = 10_000;

/// Notifies when there are too many.
pub(super) struct Flooded(Arc<Flood>);

/// Like a `Notify`, for one waiter, which costs every exchange less.
#[derive(Default)]
struct Flood {
    is_there: AtomicBool,
    waiter: AtomicWaker,
}

impl Flood {
    fn begin(&self) {
        // Set before the waiter is woken: either it is woken, or it sees this.
        self.is_there.store(true, Ordering::SeqCst);
        self.waiter.wake();
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        self.waiter.register(context.waker());
        if self.is_there.load(Ordering::SeqCst) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Flooded {
    /// The server's answer, unless there are too many interim responses before it. In that case its
    /// connection is closed.
    pub(super) async fn unless(
        self,
        // Pinned by the caller: an argument is stored twice, and this one is large.
        mut answer: Pin<&mut impl Future<Output = Result<Answer, SendError>>>,
    ) -> Result<Answer, SendError> {
        poll_fn(|context| match answer.as_mut().poll(context) {
            Poll::Pending => self.0.poll(context).map(|()| Err(SendError::Flooded)),
            answered @ Poll::Ready(_) => answered,
        })
        .await
    }
}

/// Records the interim responses to a request with these names, and forwards them to its client as
/// they arrive.
pub(super) fn pass(request: &mut Request<Outbound>, names: Names, log: &Arc<Log>) -> Flooded {
    let flooded = Arc::new(Flood::default());
    let extensions = request.extensions_mut();
    let interims = Passing {
        client: extensions.remove(),
        gate: extensions.get().cloned(),
        is_expected: AtomicBool::new(names.has(Names::EXPECT)),
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
    flooded: Arc<Flood>,
}

impl Passing {
    fn take(&self, status: StatusCode, version: Version, fields: &HeaderMap) {
        let Some(log) = self.log.upgrade() else {
            return;
        };
        if self.count.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.flooded.begin();
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
            self.flooded.begin();
        }
    }
}
