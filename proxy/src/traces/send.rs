//! The thread that sends spans.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::Settings;
use super::delivery::{Attempt, Delivery, OtlpRequest, Unit};
use super::figures::{Figures, Loss};
use super::post::body;
use super::queue::{Item, Queue, Time};
use super::retry::{chance, pause};
use crate::clock::Clock;

/// Sends spans in batches.
pub(super) struct Sender {
    delivery: Delivery,
    batch: usize,
    delay: Duration,
    queue: Arc<Queue>,
    clock: Clock,
}

/// The maximum size of a request in bytes of spans, in addition to one span of any size: collectors
/// accept 20 MiB by default.
const BATCH_BYTES: usize = 4 << 20;
/// How long a batch is retried, unless the collector specifies when.
const PATIENCE: Duration = Duration::from_secs(60);

impl Sender {
    pub(super) fn new(
        settings: Settings,
        queue: Arc<Queue>,
        figures: Arc<Figures>,
        clock: Clock,
    ) -> Self {
        Self {
            delivery: Delivery::new(settings.collector, Unit::Spans, figures),
            batch: settings.batch_spans.min(settings.queue_spans).max(1),
            delay: settings.delay,
            queue,
            clock,
        }
    }

    /// Sends until there are no more spans.
    pub(super) async fn run(self) {
        while let Some(batch) = self.next().await {
            self.deliver(batch).await;
        }
    }

    /// The next batch: when it is full, or its first span has waited long enough.
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
                // Check again in either case.
                drop(timeout(rest, self.queue.news()).await);
            }
        }
    }

    /// Sends a batch until it is settled or given up.
    async fn deliver(&self, batch: Vec<Item>) {
        let parcel = self.delivery.parcel(body(&batch), batch.len() as u64);
        drop(batch);
        let began = self.clock.elapsed();
        let mut tries = 0;
        loop {
            tries += 1;
            let (asked, status) = match self.once(&parcel).await {
                Attempt::Settled => return self.queue.set_failing(false),
                Attempt::Later { asked, status } => (asked, status),
                Attempt::Late => (None, None),
            };
            self.queue.set_failing(true);
            let wait = asked.unwrap_or_else(|| pause(tries, chance()));
            let waited = self.clock.elapsed().saturating_sub(began);
            if asked.is_none() && waited + wait > PATIENCE {
                return self.delivery.give_up(&parcel, Loss::Unreachable, status);
            }
            if !self.waits(wait, asked.is_some(), status.is_some()).await {
                let loss = status.map_or(Loss::Unreachable, |_| Loss::Ended);
                return self.delivery.give_up(&parcel, loss, status);
            }
        }
    }

    async fn once(&self, parcel: &OtlpRequest) -> Attempt {
        let most = match self.queue.time() {
            Time::Open => self.delivery.timeout,
            Time::Left(left) => left,
        };
        self.delivery.once(parcel, most, self.late()).await
    }

    /// Waits until the recording has ended and the deadline has passed.
    async fn late(&self) {
        loop {
            match self.queue.time() {
                Time::Open => self.queue.news().await,
                Time::Left(left) if left.is_zero() => return,
                Time::Left(left) => sleep(left).await,
            }
        }
    }

    /// Waits before the next attempt; returns whether there may be one. After the end of the
    /// recording there is no attempt if the last one was not answered, and the wait is limited to
    /// the remaining time.
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
                // The recording has ended meanwhile: make a last attempt.
                Time::Left(_) if !had_ended && !is_asked => return true,
                Time::Left(left) if rest >= left => return false,
                // Check again in either case.
                _ => drop(timeout(rest, self.queue.news()).await),
            }
        }
    }
}
