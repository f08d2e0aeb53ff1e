//! Metrics of a gateway, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::{Added, Direction};
use tokio::sync::OwnedSemaphorePermit;

use crate::operations::Operations;
use crate::record::{Amount, Figures};
use crate::traces;

/// The number of buckets for latencies: two per power of two, from 1 µs.
const BUCKETS: usize = 48;

/// The counters of a gateway.
#[derive(Debug)]
pub(crate) struct Metrics {
    exchanges: AtomicU64,
    in_flight: AtomicU64,
    refused: AtomicU64,
    bytes: [AtomicU64; 2],
    // Events and bytes that were forwarded but not recorded, by cause.
    lost: [[AtomicU64; 2]; 3],
    // The time that exchanges spent in the gateway.
    added: [AtomicU64; BUCKETS],
    added_sum_us: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            exchanges: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            bytes: Default::default(),
            lost: Default::default(),
            added: std::array::from_fn(|_| AtomicU64::new(0)),
            added_sum_us: AtomicU64::new(0),
        }
    }
}

/// An exchange in progress.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    metrics: Option<Arc<Metrics>>,
    // Its permit for the limit of concurrent exchanges.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

impl InFlight {
    /// Ends the exchange.
    pub(crate) fn end(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(_), Some(metrics)) = (place.take(), &self.metrics) {
            metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.end();
    }
}

/// The state of the recorder and the sessions at the time of a reading.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading<'r> {
    pub(crate) sessions: usize,
    pub(crate) recorder: Figures,
    /// Lines of the operator's log that could not be written.
    pub(crate) log_lost: u64,
    /// The counters of exported spans, if there is an export.
    pub(crate) traces: Option<&'r traces::Figures>,
    /// The durations of operations and sessions, if they are counted.
    pub(crate) operations: Option<&'r Operations>,
}

/// Why a body is not recorded as it was forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Its content encoding could not be decoded.
    Encoding,
    /// It exceeds the limit for messages that are recorded whole.
    Length,
    /// All bodies in progress have used up their memory limit.
    Memory,
}

impl Metrics {
    /// Starts an exchange with its permit.
    pub(crate) fn begin(self: &Arc<Self>, place: OwnedSemaphorePermit) -> InFlight {
        self.exchanges.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight {
            metrics: Some(Arc::clone(self)),
            place: Mutex::new(Some(place)),
        }
    }

    pub(crate) fn add_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, dir: Direction, count: usize) {
        let [to_server, to_client] = &self.bytes;
        let counter = match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts a body that was not recorded as it was forwarded, and its missing bytes.
    pub(crate) fn add_lost(&self, cause: Loss, bytes: u64) {
        let [encoding, length, memory] = &self.lost;
        let [event_count, byte_count] = match cause {
            Loss::Encoding => encoding,
            Loss::Length => length,
            Loss::Memory => memory,
        };
        event_count.fetch_add(1, Ordering::Relaxed);
        byte_count.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_latency(&self, added: Added) {
        let us = added.request_us + added.response_us;
        self.added_sum_us.fetch_add(us, Ordering::Relaxed);
        let bucket = bucket_of(us).min(BUCKETS - 1);
        if let Some(bucket) = self.added.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What is missing on the tape, with its cause as labels.
    fn lost(&self, recorder: Figures) -> [(&'static str, Amount); 5] {
        let [encoding, length, memory] = self.lost.each_ref().map(|[events, bytes]| Amount {
            events: events.load(Ordering::Relaxed),
            bytes: bytes.load(Ordering::Relaxed),
        });
        [
            ("{cause=\"queue_full\"}", recorder.lost_to_queue),
            ("{cause=\"disk\"}", recorder.lost_to_disk),
            ("{cause=\"encoding\"}", encoding),
            ("{cause=\"too_long\"}", length),
            ("{cause=\"memory\"}", memory),
        ]
    }

    /// The metrics as text (Prometheus exposition format 0.0.4).
    pub(crate) fn render(&self, reading: Reading<'_>) -> String {
        let mut out = Text(String::with_capacity(2_048));
        self.traffic(reading.sessions, &mut out);
        self.queue(reading.recorder, &mut out);
        out.figure(
            "log_lost_lines_total",
            "counter",
            "Lines of the operator's log that could not be written.",
            &[("", number(reading.log_lost))],
        );
        if let Some(traces) = reading.traces {
            spans(traces, &mut out);
        }
        self.latency(&mut out);
        if let Some(operations) = reading.operations {
            operations.render(&mut out.0);
        }
        out.0
    }

    fn traffic(&self, sessions: usize, out: &mut Text) {
        let [to_server, to_client] = &self.bytes;
        out.figure(
            "sessions",
            "gauge",
            "Sessions that are known.",
            &[("", number(sessions as u64))],
        );
        out.figure(
            "exchanges_total",
            "counter",
            "HTTP exchanges that were begun.",
            &[("", number(load(&self.exchanges)))],
        );
        out.figure(
            "exchanges_in_flight",
            "gauge",
            "HTTP exchanges under way.",
            &[("", number(load(&self.in_flight)))],
        );
        out.figure(
            "refused_total",
            "counter",
            "Requests that were answered by the gateway itself.",
            &[("", number(load(&self.refused)))],
        );
        out.figure(
            "body_bytes_total",
            "counter",
            "Bytes of bodies that passed.",
            &[
                ("{direction=\"to_server\"}", number(load(to_server))),
                ("{direction=\"to_client\"}", number(load(to_client))),
            ],
        );
    }

    fn queue(&self, figures: Figures, out: &mut Text) {
        let Figures { waiting, most, .. } = figures;
        for (name, help, value) in [
            (
                "queue_bytes",
                "Bytes that wait to be written to the tape.",
                waiting.bytes,
            ),
            (
                "queue_events",
                "Events that wait to be written to the tape.",
                waiting.events,
            ),
            (
                "queue_peak_bytes",
                "The most bytes that ever waited.",
                most.bytes,
            ),
            (
                "queue_peak_events",
                "The most events that ever waited.",
                most.events,
            ),
        ] {
            out.figure(name, "gauge", help, &[("", number(value))]);
        }
        let lost = self.lost(figures);
        let by_cause =
            |of: fn(&Amount) -> u64| lost.map(|(cause, lost)| (cause, number(of(&lost))));
        out.figure(
            "lost_events_total",
            "counter",
            "Events that passed and are missing on the tape, or not whole there.",
            &by_cause(|lost| lost.events),
        );
        out.figure(
            "lost_bytes_total",
            "counter",
            "Bytes of messages and bodies that passed and are missing on the tape.",
            &by_cause(|lost| lost.bytes),
        );
    }

    fn latency(&self, out: &mut Text) {
        let counts: Vec<u64> = self.added.iter().map(load).collect();
        let total: u64 = counts.iter().sum();
        let quantile = |q: f64| seconds(quantile(&counts, total, q));
        out.figure(
            "added_latency_seconds",
            "summary",
            "Time that exchanges were in the gateway's hands.",
            &[
                ("{quantile=\"0.5\"}", quantile(0.5)),
                ("{quantile=\"0.99\"}", quantile(0.99)),
                ("_sum", seconds(load(&self.added_sum_us))),
                ("_count", number(total)),
            ],
        );
    }
}

/// The metrics of exported spans.
fn spans(traces: &traces::Figures, out: &mut Text) {
    out.figure(
        "traces_sent_spans_total",
        "counter",
        "Spans that the collector of traces took.",
        &[("", number(traces.sent()))],
    );
    let lost = traces::Loss::ALL.map(|loss| (format!("{{cause=\"{}\"}}", loss.name()), loss));
    let lost = lost
        .each_ref()
        .map(|(labels, loss)| (labels.as_str(), number(traces.lost(*loss))));
    out.figure(
        "traces_lost_spans_total",
        "counter",
        "Spans that did not arrive at the collector of traces.",
        &lost,
    );
    out.figure(
        "traces_waiting_spans",
        "gauge",
        "Spans that wait to be sent.",
        &[("", number(traces.waiting()))],
    );
}

/// The text exposition format.
struct Text(String);

impl Text {
    fn figure(&mut self, name: &str, kind: &str, help: &str, lines: &[(&str, f64)]) {
        let out = &mut self.0;
        // Writing to a string cannot fail.
        writeln!(out, "# HELP tapewright_{name} {help}").ok();
        writeln!(out, "# TYPE tapewright_{name} {kind}").ok();
        for (labels, value) in lines {
            writeln!(out, "tapewright_{name}{labels} {value}").ok();
        }
    }
}

fn load(value: &AtomicU64) -> u64 {
    value.load(Ordering::Relaxed)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people and graphs")]
fn number(value: u64) -> f64 {
    value as f64
}

fn seconds(us: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "2^53 µs are 285 years")]
    let us = us as f64;
    us / 1e6
}

/// Two buckets per power of two.
fn bucket_of(us: u64) -> usize {
    let us = us.max(1);
    let power = us.ilog2();
    let upper = power > 0 && us & (1 << (power - 1)) != 0;
    power as usize * 2 + usize::from(upper)
}

/// The upper bound of a bucket, in microseconds.
fn end_of(bucket: usize) -> u64 {
    let power = u32::try_from(bucket / 2).unwrap_or(62).min(62);
    let low = 1_u64 << power;
    if bucket.is_multiple_of(2) {
        low + low / 2
    } else {
        low * 2
    }
}

fn quantile(counts: &[u64], total: u64, q: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among counts"
    )]
    let rank = (total as f64 * q).ceil() as u64;
    let mut seen = 0;
    for (bucket, count) in counts.iter().enumerate() {
        seen += count;
        if seen >= rank && seen > 0 {
            return end_of(bucket);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket_of_the_truth() {
        let metrics = Arc::new(Metrics::default());
        for us in 1..=1_000 {
            metrics.add_latency(Added {
                request_us: us,
                response_us: 0,
            });
        }
        let text = metrics.render(Reading::default());
        let value = |needle: &str| -> f64 {
            let line = text.lines().find(|line| line.contains(needle));
            line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
                .unwrap_or_default()
        };
        let p50 = value("quantile=\"0.5\"");
        assert!((0.000_5..=0.000_8).contains(&p50), "{p50}");
        let p99 = value("quantile=\"0.99\"");
        assert!((0.000_99..=0.001_6).contains(&p99), "{p99}");
        assert!(text.contains("tapewright_added_latency_seconds_count 1000"));
    }

    #[test]
    fn what_is_under_way_is_counted_until_it_is_over_once() {
        let metrics = Arc::new(Metrics::default());
        let places = Arc::new(Semaphore::new(2));
        let place = || {
            Arc::clone(&places)
                .try_acquire_owned()
                .expect("a place is free")
        };
        let one = metrics.begin(place());
        let two = metrics.begin(place());
        one.end();
        drop(one);
        assert_eq!(places.available_permits(), 1);
        let text = metrics.render(Reading::default());
        assert!(text.contains("tapewright_exchanges_in_flight 1"), "{text}");
        drop(two);
        let text = metrics.render(Reading::default());
        assert!(text.contains("tapewright_exchanges_in_flight 0"), "{text}");
        assert!(text.contains("tapewright_exchanges_total 2"), "{text}");
    }
}
