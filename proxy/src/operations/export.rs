//! Durations that are sent to a collector while they are counted: OTLP over HTTP, in JSON.
//!
//! Nothing waits in a queue: what a collector did not take is in the next request, until the recording ends. Data points that it never
//! took are counted, by cause.

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
use crate::traces::delivery::{Delivery, Parcel, Tried, Unit};
use crate::traces::retry::{chance, pause};
use crate::traces::{Collector, Figures, Frame, Loss};

/// Where durations are sent, and how.
#[derive(Debug)]
pub struct Settings {
    /// Who takes them.
    pub collector: Collector,
    /// How much time is between two requests.
    pub interval: Duration,
    /// From when on durations are counted in each.
    pub temporality: Temporality,
    /// What stands around the metrics of a request.
    pub frame: Frame,
}

/// How long the last request may take, with all tries.
const FLUSH: Duration = Duration::from_secs(5);
/// How long a request that is under way may take when the recording ends.
const GRACE: Duration = Duration::from_secs(2);

/// Durations that are being sent.
#[derive(Debug)]
pub struct Exports {
    end: watch::Sender<bool>,
    figures: Arc<Figures>,
    thread: Option<JoinHandle<()>>,
}

impl Exports {
    /// Begins to send what is counted.
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
                // A name that is still being looked up holds up nothing.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            end,
            figures,
            thread: Some(thread),
        })
    }

    /// How many data points arrived, and how many did not.
    #[must_use]
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Nothing more is counted: what there is is sent for the last time.
    pub fn end(&self) {
        self.end.send_replace(true);
    }

    /// Waits until that was done, for seven seconds at most.
    pub fn finish(mut self) {
        self.join();
    }

    fn join(&mut self) {
        self.end();
        // One that failed has sent nothing more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Exports {
    fn drop(&mut self) {
        self.join();
    }
}

/// Sends what is counted, once in a while.
struct Exporter {
    delivery: Delivery,
    interval: Duration,
    temporality: Temporality,
    frame: Frame,
    operations: Arc<Operations>,
    ended: watch::Receiver<bool>,
    // What was sent before, and when, as far as the next request begins there.
    since: Counted,
    from: u64,
    // Until when the collector wants to be left alone, by our clock.
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

    /// Sends what is counted by now.
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

    /// Sends a request until it is settled, or given up; whether it is settled.
    async fn deliver(&mut self, points: Points, is_last: bool) -> bool {
        let parcel = self.delivery.parcel(points.body, points.count);
        let (began, mut tries) = (self.clock.elapsed(), 0);
        let limit = if is_last {
            FLUSH
        } else {
            // Whoever sends often still gives a request its time.
            self.interval.max(self.delivery.timeout)
        };
        loop {
            tries += 1;
            let left = limit.saturating_sub(self.clock.elapsed().saturating_sub(began));
            let (asked, status) = match self.once(&parcel, left, is_last).await {
                Tried::Settled => return true,
                Tried::Late => return false,
                Tried::Later { asked, status } => (asked, status),
            };
            self.quiet = self.clock.elapsed() + asked.unwrap_or_default();
            let wait = asked.unwrap_or_else(|| pause(tries, chance()));
            let left = limit.saturating_sub(self.clock.elapsed().saturating_sub(began));
            // At the end there is no second try that nobody would answer.
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

    async fn once(&self, parcel: &Parcel, left: Duration, is_last: bool) -> Tried {
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
    // Nobody is left to say so once the sender is gone.
    drop(ended.wait_for(|ended| *ended).await);
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
