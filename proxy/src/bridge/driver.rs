//! Drives a session: lines of the client, in order, and everything that they cause.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::client::{ExchangeId, Post, PostKind, Step};
use super::exchange::{Gates, Posted};
use super::line_queue::{Line, LineQueue};
use super::shared::Shared;

/// How urgently the session is asked to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopMode {
    /// Not at all.
    #[default]
    None,
    /// Requests in progress are given up; the server is notified that the session is over.
    End,
    /// Immediately.
    Kill,
}

/// How long the server may take to accept a notification before the next message is sent.
const ACCEPTED: Duration = Duration::from_secs(5);
/// How long a cancellation waits for the head of the answer to its request, which proves that the
/// server has the request. A server that answers with plain JSON sends its head with the answer,
/// which must not be waited for.
const REACHED: Duration = Duration::from_millis(200);
/// How long to wait for the first stream of a session, so that the server can send messages before
/// the first request.
const LISTENING: Duration = Duration::from_millis(500);
/// The timeout for ending the session at the server after the client has left in an orderly way.
/// Less than the time that the recorder gives a child process.
const GOODBYE: Duration = Duration::from_millis(800);
/// The same timeout if the parent may send SIGKILL.
const QUICK_GOODBYE: Duration = Duration::from_millis(300);

/// Drives one session from its first line to its end.
pub(crate) async fn run(
    shared: Arc<Shared>,
    lines: LineQueue,
    mut urge: watch::Receiver<StopMode>,
) {
    let mut hard = urge.clone();
    let mut driver = Driver {
        shared: Arc::clone(&shared),
        tasks: JoinSet::new(),
        exchanges: HashMap::new(),
        listener: None,
    };
    let session = async {
        let goodbye = tokio::select! {
            // The sender outlives this task; if it does not, there is nothing to wait for.
            _ = urge.wait_for(|urge| *urge >= StopMode::End) => QUICK_GOODBYE,
            () = driver.carry(&lines) => GOODBYE,
            () = shared.out.closed() => QUICK_GOODBYE,
        };
        lines.close();
        driver.tasks.abort_all();
        drop(timeout(goodbye, shared.end_session()).await);
    };
    tokio::select! {
        biased;
        _ = hard.wait_for(|urge| *urge >= StopMode::Kill) => {}
        () = session => {}
    }
    lines.close();
    shared.out.finish();
}

struct Driver {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
    exchanges: HashMap<ExchangeId, UnderWay>,
    listener: Option<AbortHandle>,
}

struct UnderWay {
    task: AbortHandle,
    // Dropped by the exchange when the server has accepted the message.
    is_accepted: Option<Opened>,
}

/// The waiting side of a gate, which opens when it is dropped.
type Opened = oneshot::Receiver<()>;

impl Driver {
    /// Handles lines until there are no more, and waits for everything in progress.
    async fn carry(&mut self, lines: &LineQueue) {
        while let Some(line) = lines.take().await {
            self.line(line).await;
        }
        self.shared.idle().await;
    }

    async fn line(&mut self, line: Bytes) {
        while self.tasks.try_join_next().is_some() {}
        let step = self.shared.client().line(&line);
        match step {
            Step::Skip => {}
            Step::Abort(exchange) => {
                if let Some(under_way) = self.exchanges.remove(&exchange) {
                    under_way.task.abort();
                }
            }
            Step::Refuse(lines) => {
                for line in lines {
                    // The end of a session whose client is gone is handled elsewhere.
                    self.shared.out.push(Line::ours(line)).await.ok();
                }
            }
            Step::Post(post) => self.post(post).await,
        }
    }

    /// Sends a message, and waits as long as nothing may overtake it.
    async fn post(&mut self, mut post: Post) {
        for request in std::mem::take(&mut post.cancels) {
            if !self.has_reached(request).await {
                post.cancels.push(request);
            }
        }
        let kind = post.kind;
        if kind == PostKind::Initialize {
            self.stop_listening();
        }
        let (written, is_written) = oneshot::channel();
        let (accepted, is_accepted) = oneshot::channel();
        let (ended, is_ended) = oneshot::channel();
        let gates = Gates {
            written: Some(written),
            accepted: Some(accepted),
            _ended: ended,
        };
        let (tell, told) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        let exchange = post.exchange;
        let task = self.tasks.spawn(async move {
            if let Ok(posted) = shared.post(post, gates).await {
                // Only the outcome of a session's first message is needed.
                tell.send(posted).ok();
            }
        });
        let mut under_way = UnderWay {
            task,
            is_accepted: None,
        };
        match kind {
            PostKind::Initialize => drop(is_ended.await),
            PostKind::Initialized => {
                taken(is_written, is_accepted).await;
                let posted = timeout(ACCEPTED, told).await;
                if matches!(posted, Ok(Ok(Posted::Accepted))) {
                    self.start_listening().await;
                }
            }
            PostKind::Notification => {
                taken(is_written, is_accepted).await;
            }
            PostKind::Request | PostKind::Response | PostKind::Malformed => {
                drop(is_written.await);
                under_way.is_accepted = Some(is_accepted);
            }
        }
        self.exchanges
            .retain(|_, under_way| !under_way.task.is_finished());
        self.exchanges.insert(exchange, under_way);
    }

    /// Waits for a limited time until a request has reached the server; returns whether it has.
    async fn has_reached(&mut self, request: ExchangeId) -> bool {
        let under_way = self.exchanges.get_mut(&request);
        match under_way.and_then(|under_way| under_way.is_accepted.take()) {
            Some(is_accepted) => timeout(REACHED, is_accepted).await.is_ok(),
            // It is over, or is cancelled for a second time.
            None => true,
        }
    }

    async fn start_listening(&mut self) {
        self.stop_listening();
        if self.shared.is_legacy() {
            return;
        }
        let (opened, is_open) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        let task = self.tasks.spawn(async move {
            // It ends when the client is gone, or if the server offers no stream.
            shared.listen(opened).await.ok();
        });
        self.listener = Some(task);
        drop(timeout(LISTENING, is_open).await);
    }

    fn stop_listening(&mut self) {
        if let Some(task) = self.listener.take() {
            task.abort();
        }
    }
}

/// Waits until the connection has taken a notification and, for a limited time, until the server
/// has accepted it.
async fn taken(is_written: Opened, is_accepted: Opened) {
    drop(is_written.await);
    drop(timeout(ACCEPTED, is_accepted).await);
}
