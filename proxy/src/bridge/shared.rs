//! State shared by the tasks of one bridge.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use tokio::sync::Notify;

use super::client::{Client, ExchangeId};
use super::line::one_line;
use super::line_queue::{Gone, Line, LineQueue};
use super::notes::Notes;
use super::ours;
use super::remote::{ClientBehaviour, HeadTap};
use crate::http::origin::{Origin, OriginUrl};

/// State shared by the tasks of one bridge.
pub(crate) struct Shared {
    pub(crate) origin: Arc<Origin>,
    /// Header fields for every request. Never recorded.
    pub(crate) fields: Vec<(HeaderName, HeaderValue)>,
    /// The callback for response heads.
    pub(crate) heads: Option<HeadTap>,
    /// Records the exchanges.
    pub(crate) notes: Option<Arc<Notes>>,
    pub(crate) manners: ClientBehaviour,
    /// The maximum length of a message, in bytes.
    pub(crate) limit_bytes: usize,
    /// Lines for the client, without their line feed.
    pub(crate) out: LineQueue,
    client: Mutex<Client>,
    places: Mutex<Places>,
    // The number of operations that an orderly end must not interrupt.
    busy: AtomicUsize,
    changed: Notify,
}

/// Where messages go.
struct Places {
    url: OriginUrl,
    // The endpoint for messages if the server uses the transport of 2024-11-05.
    legacy: Option<OriginUrl>,
}

impl Shared {
    pub(crate) fn new(
        origin: Arc<Origin>,
        fields: Vec<(HeaderName, HeaderValue)>,
        limit_bytes: usize,
        out: LineQueue,
    ) -> Self {
        let url = origin.url().clone();
        Self {
            origin,
            fields,
            heads: None,
            notes: None,
            manners: ClientBehaviour::default(),
            limit_bytes,
            out,
            client: Mutex::default(),
            places: Mutex::new(Places { url, legacy: None }),
            busy: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    /// The state of the client. Held for one step, never across a wait.
    pub(crate) fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server's endpoint.
    pub(crate) fn url(&self) -> OriginUrl {
        self.places().url.clone()
    }

    /// The endpoint for the next message.
    pub(crate) fn post_url(&self) -> OriginUrl {
        let places = self.places();
        places.legacy.as_ref().unwrap_or(&places.url).clone()
    }

    /// Whether the server uses the transport of 2024-11-05.
    pub(crate) fn is_legacy(&self) -> bool {
        self.places().legacy.is_some()
    }

    /// Handles a permanent redirect of the server.
    pub(crate) fn moved(&self, from: &OriginUrl, to: OriginUrl) {
        let mut places = self.places();
        if places.url == *from {
            places.url = to;
        }
    }

    /// Notes that the server uses the transport of 2024-11-05, with this endpoint.
    pub(crate) fn set_legacy(&self, endpoint: OriginUrl) {
        self.places().legacy = Some(endpoint);
    }

    /// Sends a message of the server to the client.
    pub(crate) async fn deliver(&self, message: &Bytes) -> Result<(), Gone> {
        let Some(line) = one_line(message) else {
            return Ok(());
        };
        // Counted before the state forgets the request, so that the session cannot end in between.
        let _busy = self.busy();
        self.client().passes(&line);
        self.out.push(line).await
    }

    /// Answers the unanswered requests of an exchange in the server's place.
    pub(crate) async fn give_up(
        &self,
        exchange: ExchangeId,
        why: &str,
        status: Option<u16>,
    ) -> Result<(), Gone> {
        let _busy = self.busy();
        let lost = self.client().ended(exchange);
        for id in lost {
            let line = Line::ours(ours::error(&id, why, status));
            self.out.push(line).await?;
        }
        Ok(())
    }

    /// Counts as an operation in progress until dropped.
    pub(crate) fn busy(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self)
    }

    /// Waits until there are no operations in progress and no pending requests.
    pub(crate) async fn idle(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.busy.load(Ordering::SeqCst) == 0 && self.client().is_idle() {
                return;
            }
            changed.await;
        }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An operation in progress.
pub(crate) struct Busy<'a>(&'a Shared);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

/// How long a client waits before it reopens a stream, unless the server specifies it (2025-11-25,
/// basic/transports, leaves it open; the SDKs start with a second).
pub(crate) const RETRY: Duration = Duration::from_secs(1);
/// The maximum such wait.
pub(crate) const RETRY_MOST: Duration = Duration::from_secs(30);
