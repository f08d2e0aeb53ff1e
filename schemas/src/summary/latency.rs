//! Quantiles of many times in little memory.

use super::report::Delays;
use crate::event::Offset;

/// Times in microseconds: exact while they are few, to within four percent beyond.
#[derive(Debug, Default)]
pub struct Latencies {
    exact: Vec<u64>,
    // Counts per bucket, once there are too many times to keep.
    buckets: Vec<u64>,
    count: u64,
    longest: u64,
}

/// The maximum number of times that are kept exactly.
const EXACT_LIMIT: usize = 4_096;
/// Buckets per power of two, as a power of two.
const FINE: u32 = 5;

impl Latencies {
    /// Adds one, in microseconds.
    pub fn add(&mut self, micros: u64) {
        self.count += 1;
        self.longest = self.longest.max(micros);
        if self.buckets.is_empty() {
            self.exact.push(micros);
            if self.exact.len() > EXACT_LIMIT {
                self.buckets = vec![0; 64 << FINE];
                for one in std::mem::take(&mut self.exact) {
                    self.bucket(one);
                }
            }
        } else {
            self.bucket(micros);
        }
    }

    pub(super) fn longest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.longest)
    }

    /// The median, a high percentile, and the maximum; `None` if there are none.
    pub(super) fn delays(&self) -> Option<Delays> {
        let millis = |micros: Option<u64>| micros.map(|micros| Offset(micros).millis());
        Some(Delays {
            p50_ms: millis(self.percentile(50))?,
            p99_ms: millis(self.percentile(99))?,
            max_ms: millis(self.longest())?,
        })
    }

    /// The time that `percent` of all did not exceed (nearest rank).
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        if self.buckets.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return sorted.get(usize::try_from(rank - 1).ok()?).copied();
        }
        let mut seen = 0;
        for (index, count) in (0_u64..).zip(&self.buckets) {
            seen += count;
            if seen >= rank {
                return Some(upper(index).min(self.longest));
            }
        }
        Some(self.longest)
    }

    fn bucket(&mut self, micros: u64) {
        if let Some(count) = usize::try_from(index(micros))
            .ok()
            .and_then(|at| self.buckets.get_mut(at))
        {
            *count += 1;
        }
    }
}

fn index(micros: u64) -> u64 {
    let power = micros.max(1).ilog2();
    if power <= FINE {
        return micros;
    }
    let fraction = (micros >> (power - FINE)) - (1 << FINE);
    (u64::from(power - FINE) << FINE) + (1 << FINE) + fraction
}

/// The largest time in a bucket.
fn upper(index: u64) -> u64 {
    if index < 2 << FINE {
        return index;
    }
    let power = (index >> FINE) - 1;
    let fraction = (index & ((1 << FINE) - 1)) + (1 << FINE);
    (u128::from(fraction + 1) << power)
        .saturating_sub(1)
        .try_into()
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_exact() {
        let mut times = Latencies::default();
        (1..=100).rev().for_each(|one| times.add(one));
        assert_eq!(times.percentile(50), Some(50));
        assert_eq!(times.percentile(99), Some(99));
        assert_eq!(times.longest(), Some(100));
        assert_eq!(Latencies::default().percentile(50), None);
    }

    #[test]
    fn many_are_close() {
        let mut times = Latencies::default();
        (1..=1_000_000).for_each(|one| times.add(one));
        for percent in [1, 50, 99] {
            let found = times.percentile(percent).unwrap();
            let exact = percent * 10_000;
            assert!(
                found >= exact && found <= exact + exact / 25,
                "{percent}: {found}"
            );
        }
    }

    #[test]
    fn every_time_is_in_its_bucket() {
        for power in 0..64 {
            for near in [0, 1, 12_345] {
                let micros = (1_u64 << power).saturating_add(near);
                assert!(upper(index(micros)) >= micros);
                assert!(index(micros) < 64 << FINE);
            }
        }
        assert_eq!(upper(index(u64::MAX)), u64::MAX);
    }
}
