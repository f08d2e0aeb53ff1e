//! What the tasks of one bridge share.

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

/// What the tasks of one bridge share.
pub(crate) struct Shared {
    pub(crate) origin: Arc<Origin>,
    /// Fields for every request. Never recorded.
    pub(crate) fields: Vec<(HeaderName, HeaderValue)>,
    /// Hears of the heads of responses.
    pub(crate) heads: Option<HeadTap>,
    /// Where exchanges are noted.
    pub(crate) notes: Option<Arc<Notes>>,
    pub(crate) manners: ClientBehaviour,
    /// The longest message that is carried, in bytes.
    pub(crate) limit_bytes: usize,
    /// Lines for the client, without their line feed.
    pub(crate) out: LineQueue,
    client: Mutex<Client>,
    places: Mutex<Places>,
    // How much is under way that must not be cut off at an orderly end.
    busy: AtomicUsize,
    changed: Notify,
}

/// Where messages go.
struct Places {
    url: OriginUrl,
    // The server speaks the transport of 2024-11-05: this is where it takes messages.
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

    /// The memory of the client. Held for one step, never across a wait.
    pub(crate) fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server's endpoint.
    pub(crate) fn url(&self) -> OriginUrl {
        self.places().url.clone()
    }

    /// Where the next message is posted.
    pub(crate) fn post_url(&self) -> OriginUrl {
        let places = self.places();
        places.legacy.as_ref().unwrap_or(&places.url).clone()
    }

    /// Whether the server speaks the transport of 2024-11-05.
    pub(crate) fn is_legacy(&self) -> bool {
        self.places().legacy.is_some()
    }

    /// The server has moved for good.
    pub(crate) fn moved(&self, from: &OriginUrl, to: OriginUrl) {
        let mut places = self.places();
        if places.url == *from {
            places.url = to;
        }
    }

    /// The server speaks the transport of 2024-11-05, and takes messages there.
    pub(crate) fn set_legacy(&self, endpoint: OriginUrl) {
        self.places().legacy = Some(endpoint);
    }

    /// Gives the client a message of the server.
    pub(crate) async fn deliver(&self, message: &Bytes) -> Result<(), Gone> {
        let Some(line) = one_line(message) else {
            return Ok(());
        };
        // Counted before the memory lets go of the request, so that no end comes between.
        let _busy = self.busy();
        self.client().passes(&line);
        self.out.push(line).await
    }

    /// Answers in the server's place what an exchange leaves unanswered.
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

    /// Counts as something under way until dropped.
    pub(crate) fn busy(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self)
    }

    /// Waits until nothing is under way and no answer is owed.
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

/// Something is under way.
pub(crate) struct Busy<'a>(&'a Shared);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

/// How long a client waits before it opens a stream again, when the server does not say
/// (2025-11-25, basic/transports, leaves it open; the SDKs begin with a second).
pub(crate) const RETRY: Duration = Duration::from_secs(1);
/// The longest such wait.
pub(crate) const RETRY_MOST: Duration = Duration::from_secs(30);
