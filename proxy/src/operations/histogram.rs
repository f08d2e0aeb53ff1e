//! Histograms of durations with the buckets that the conventions recommend.

use tapewright_schemas::event::Offset;

/// The upper bounds of all buckets but the last, in seconds. Bounds are inclusive.
pub(crate) const BOUNDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The number of durations in each bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    /// Not cumulative, and without durations above the last bound.
    pub(crate) buckets: [u64; BOUNDS.len()],
    pub(crate) count: u64,
    sum: Offset,
}

impl Histogram {
    pub(crate) fn add(&mut self, took: Offset) {
        let seconds = seconds(took);
        let bucket = BOUNDS.iter().zip(&mut self.buckets);
        if let Some((_, bucket)) = bucket.into_iter().find(|(bound, _)| seconds <= **bound) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum.0 = self.sum.0.saturating_add(took.0);
    }

    /// The difference to an earlier state.
    pub(crate) fn minus(&self, before: &Self) -> Self {
        let mut rest = *self;
        for (bucket, before) in rest.buckets.iter_mut().zip(&before.buckets) {
            *bucket = bucket.saturating_sub(*before);
        }
        rest.count = rest.count.saturating_sub(before.count);
        rest.sum = rest.sum.since(before.sum);
        rest
    }

    /// The sum of all durations, in seconds.
    pub(crate) fn sum(&self) -> f64 {
        seconds(self.sum)
    }
}

fn seconds(time: Offset) -> f64 {
    time.millis() / 1e3
}
