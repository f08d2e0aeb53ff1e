//! The thread that sends spans.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::Settings;
use super::figures::{Figures, Loss};
use super::post::{body, gzip, post};
use super::queue::{Item, Queue, Time};
use super::retry::{Verdict, chance, pause};
use crate::clock::Clock;
use crate::http::origin::Origin;

/// Sends spans, a batch at a time.
pub(super) struct Sender {
    origin: Arc<Origin>,
    fields: Vec<(HeaderName, HeaderValue)>,
    timeout: Duration,
    gzip: bool,
    batch: usize,
    delay: Duration,
    queue: Arc<Queue>,
    figures: Arc<Figures>,
    clock: Clock,
}

/// How many bytes of spans are in one request at most, beside one span of any size: collectors take 20 MiB unless told otherwise.
const BATCH_BYTES: usize = 4 << 20;
/// For how long a batch is tried again, where the collector does not say when it should be.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of one try.
enum Tried {
    /// It is settled.
    Settled(u16, Verdict),
    /// It may work later: after this time where the collector said so. `status` where it answered.
    Later {
        asked: Option<Duration>,
        status: Option<u16>,
    },
}

impl Sender {
    pub(super) fn new(
        settings: Settings,
        queue: Arc<Queue>,
        figures: Arc<Figures>,
        clock: Clock,
    ) -> Self {
        Self {
            origin: Origin::new(settings.url, settings.origin),
            fields: settings.fields,
            timeout: settings.timeout,
            gzip: settings.gzip,
            batch: settings.batch_spans.min(settings.queue_spans).max(1),
            delay: settings.delay,
            queue,
            figures,
            clock,
        }
    }

    /// Sends until nothing more comes.
    pub(super) async fn run(self) {
        while let Some(batch) = self.next().await {
            self.deliver(batch).await;
        }
    }

    /// The next batch: once it is full, or its first span has waited long enough.
    async fn next(&self) -> Option<Vec<Item>> {
        let mut since = None;
        loop {
            let (count, is_due) = self.queue.waiting();
            if self.queue.is_over() {
                return None;
            }
            let now = self.clock.elapsed();
            let first = *since.get_or_insert(now);
            let rest = (first + self.delay).saturating_sub(now);
            if count >= self.batch || count > 0 && (is_due || rest.is_zero()) {
                return Some(self.queue.take(self.batch, BATCH_BYTES));
            }
            if count == 0 {
                since = None;
                self.queue.news().await;
            } else {
                // Either way it is looked at again.
                drop(timeout(rest, self.queue.news()).await);
            }
        }
    }

    /// Sends a batch until it is settled, or given up.
    async fn deliver(&self, batch: Vec<Item>) {
        let count = batch.len() as u64;
        let plain = body(&batch);
        drop(batch);
        let packed = self.gzip.then(|| gzip(&plain)).flatten();
        let is_gzip = packed.is_some();
        let body = Bytes::from(packed.unwrap_or(plain));
        let began = self.clock.elapsed();
        let mut tries = 0;
        loop {
            tries += 1;
            let (asked, status) = match self.once(&body, is_gzip).await {
                Tried::Settled(status, verdict) => return self.settled(count, status, verdict),
                Tried::Later { asked, status } => (asked, status),
            };
            self.queue.set_failing(true);
            let wait = asked.unwrap_or_else(|| pause(tries, chance()));
            let waited = self.clock.elapsed().saturating_sub(began);
            if asked.is_none() && waited + wait > PATIENCE {
                return self.lose(Loss::Unreachable, count, status);
            }
            if !self.waits(wait, asked.is_some(), status.is_some()).await {
                let loss = status.map_or(Loss::Unreachable, |_| Loss::Ended);
                return self.lose(loss, count, status);
            }
        }
    }

    async fn once(&self, body: &Bytes, is_gzip: bool) -> Tried {
        let limit = match self.queue.time() {
            Time::Open => self.timeout,
            Time::Left(left) => left.min(self.timeout),
        };
        let sent = post(&self.origin, &self.fields, body.clone(), is_gzip);
        match timeout(limit, self.unless_late(sent)).await {
            Ok(Some(Ok((status, Verdict::Later(asked))))) => Tried::Later {
                asked,
                status: Some(status),
            },
            Ok(Some(Ok((status, verdict)))) => Tried::Settled(status, verdict),
            // No answer: it never came there, or may have.
            Ok(Some(Err(_)) | None) | Err(_) => Tried::Later {
                asked: None,
                status: None,
            },
        }
    }

    /// What comes of something, unless the recording ends and its time with it.
    async fn unless_late<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let late = async {
            loop {
                match self.queue.time() {
                    Time::Open => self.queue.news().await,
                    Time::Left(left) if left.is_zero() => return,
                    Time::Left(left) => sleep(left).await,
                }
            }
        };
        tokio::select! {
            made = what => Some(made),
            () = late => None,
        }
    }

    /// Waits before the next try; whether there may be one. Once the recording has ended there is none that nobody would answer, and a
    /// pause is as long as the time that is left.
    async fn waits(&self, wait: Duration, is_asked: bool, is_answered: bool) -> bool {
        let had_ended = self.queue.has_ended();
        if had_ended && !is_answered {
            return false;
        }
        let until = self.clock.elapsed() + wait;
        loop {
            let rest = until.saturating_sub(self.clock.elapsed());
            match self.queue.time() {
                _ if rest.is_zero() => return true,
                Time::Left(left) if left.is_zero() => return false,
                // It has ended meanwhile: this is the time for the last try.
                Time::Left(_) if !had_ended && !is_asked => return true,
                Time::Left(left) if rest >= left => return false,
                // Either way it is looked at again.
                _ => drop(timeout(rest, self.queue.news()).await),
            }
        }
    }

    fn settled(&self, count: u64, status: u16, verdict: Verdict) {
        self.queue.set_failing(false);
        let Verdict::Taken { rejected } = verdict else {
            return self.lose(Loss::Refused, count, Some(status));
        };
        let rejected = rejected.min(count);
        self.figures.add_sent(count - rejected);
        if rejected > 0 {
            self.lose(Loss::Rejected, rejected, Some(status));
        }
    }

    fn lose(&self, loss: Loss, spans: u64, status: Option<u16>) {
        self.figures.add_lost(loss, spans);
        warn!(name: "spans_lost", target: "tapewright::traces", spans, why = loss.name(), status);
    }
}
