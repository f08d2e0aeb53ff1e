//! Exports durations to a collector while they are counted: OTLP over HTTP, as JSON.
//!
//! There is no queue: data points that a collector did not accept are in the next request, until
//! the recording ends. Data points that it never accepted are counted, by cause.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::Operations;
use super::points::{Counted, Points, Span, Temporality};
use crate::behind::aside;
use crate::clock::{self, Clock};
use crate::traces::delivery::{Attempt, Delivery, OtlpRequest, Unit};
use crate::traces::retry::{chance, pause};
use crate::traces::{Collector, Figures, Frame, Loss};

/// The settings of an export.
#[derive(Debug)]
pub struct Settings {
    /// The collector.
    pub collector: Collector,
    /// The time between two requests.
    pub interval: Duration,
    /// The start of the period that each request covers.
    pub temporality: Temporality,
    /// The parts of a request around its metrics.
    pub frame: Frame,
}

/// The timeout for the last request, including retries.
const FLUSH: Duration = Duration::from_secs(5);
/// The timeout for a request in progress when the recording ends.
const GRACE: Duration = Duration::from_secs(2);

/// A running export.
#[derive(Debug)]
pub struct Exports {
    end: watch::Sender<bool>,
    figures: Arc<Figures>,
    thread: Option<JoinHandle<()>>,
}

impl Exports {
    /// Starts the export.
    pub fn start(settings: Settings, operations: Arc<Operations>) -> io::Result<Self> {
        let (end, ended) = watch::channel(false);
        let figures = Arc::<Figures>::default();
        operations.tell_of(Arc::clone(&figures));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let exporter = Exporter::new(settings, operations, Arc::clone(&figures), ended);
        let thread = thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                aside();
                runtime.block_on(exporter.run());
                // A pending name lookup does not delay the end.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            end,
            figures,
            thread: Some(thread),
        })
    }

    /// The numbers of data points that arrived and that did not.
    #[must_use]
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Ends the export after a last request.
    pub fn end(&self) {
        self.end.send_replace(true);
    }

    /// Waits for the last request, for seven seconds at most.
    pub fn finish(mut self) {
        self.join();
    }

    fn join(&mut self) {
        self.end();
        // A panicked thread sends nothing more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Exports {
    fn drop(&mut self) {
        self.join();
    }
}

/// Exports the durations at regular intervals.
struct Exporter {
    delivery: Delivery,
    interval: Duration,
    temporality: Temporality,
    frame: Frame,
    operations: Arc<Operations>,
    ended: watch::Receiver<bool>,
    // What was already sent, and when, if the next request starts there.
    since: Counted,
    from: u64,
    // Until when the collector asked for a pause, by the local clock.
    quiet: Duration,
    clock: Clock,
}

impl Exporter {
    fn new(
        settings: Settings,
        operations: Arc<Operations>,
        figures: Arc<Figures>,
        ended: watch::Receiver<bool>,
    ) -> Self {
        Self {
            delivery: Delivery::new(settings.collector, Unit::Points, figures),
            interval: settings.interval,
            temporality: settings.temporality,
            frame: settings.frame,
            operations,
            ended,
            since: Counted::default(),
            from: now(),
            quiet: Duration::ZERO,
            clock: Clock::start(),
        }
    }

    async fn run(mut self) {
        loop {
            let is_last = timeout(self.interval, ended(self.ended.clone()))
                .await
                .is_ok();
            if is_last || self.clock.elapsed() >= self.quiet {
                self.export(is_last).await;
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends the current durations.
    async fn export(&mut self, is_last: bool) {
        let span = Span {
            from: self.from,
            to: now(),
        };
        let (points, counted) = {
            let state = self.operations.lock();
            let points = state.points(&self.since, span, self.temporality, &self.frame);
            (points, state.counted())
        };
        let Some(points) = points else { return };
        if self.deliver(points, is_last).await && self.temporality == Temporality::Delta {
            self.since = counted;
            self.from = span.to;
        }
    }

    /// Sends a request until it is settled or given up; returns whether it is settled.
    async fn deliver(&mut self, points: Points, is_last: bool) -> bool {
        let parcel = self.delivery.parcel(points.body, points.count);
        let (began, mut tries) = (self.clock.elapsed(), 0);
        let limit = if is_last {
            FLUSH
        } else {
            // Even with a short interval, a request gets enough time.
            self.interval.max(self.delivery.timeout)
        };
        loop {
            tries += 1;
            let left = limit.saturating_sub(self.clock.elapsed().saturating_sub(began));
            let (asked, status) = match self.once(&parcel, left, is_last).await {
                Attempt::Settled => return true,
                Attempt::Late => return false,
                Attempt::Later { asked, status } => (asked, status),
            };
            self.quiet = self.clock.elapsed() + asked.unwrap_or_default();
            let wait = asked.unwrap_or_else(|| pause(tries, chance()));
            let left = limit.saturating_sub(self.clock.elapsed().saturating_sub(began));
            // At the end there is no retry that would not be answered anyway.
            if wait >= left || is_last && status.is_none() {
                if is_last {
                    let loss = status.map_or(Loss::Unreachable, |_| Loss::Ended);
                    self.delivery.give_up(&parcel, loss, status);
                }
                return false;
            }
            if is_last {
                sleep(wait).await;
            } else if timeout(wait, ended(self.ended.clone())).await.is_ok() {
                return false;
            }
        }
    }

    async fn once(&self, parcel: &OtlpRequest, left: Duration, is_last: bool) -> Attempt {
        let late = async {
            if is_last {
                return std::future::pending().await;
            }
            ended(self.ended.clone()).await;
            sleep(GRACE).await;
        };
        self.delivery.once(parcel, left, late).await
    }
}

/// Waits until the recording has ended.
async fn ended(mut ended: watch::Receiver<bool>) {
    // A dropped sender also counts.
    drop(ended.wait_for(|ended| *ended).await);
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
