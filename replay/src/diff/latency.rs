//! Changes in response times that are larger than noise.

use serde::Serialize;

/// Answers of one method and target that became significantly slower or faster.
///
/// Each side has at least ten of them, and the medians differ by more than three times the spread
/// of both sides together, a quarter of the earlier median, and one millisecond. The spread is the
/// median distance from the median, so a few slow answers do not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moved {
    /// The method.
    pub method: String,
    /// The target of the requests, if the method has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Median of the earlier recording, in milliseconds.
    pub before_ms: f64,
    /// Median of the later one, in milliseconds.
    pub after_ms: f64,
    /// The spread of both sides together, in milliseconds.
    pub spread_ms: f64,
    /// The number of answers on each side.
    pub count: usize,
}

/// Method and target.
type Key = (String, Option<String>);

/// Response times in microseconds, by method and target.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    // In the order of their first exchange.
    all: Vec<(Key, [Vec<u64>; 2])>,
    places: std::collections::HashMap<Key, usize>,
}

/// The number of answers that each side needs.
const ENOUGH: usize = 10;
const SPREADS: u64 = 3;
const LEAST_US: u64 = 1_000;

impl Latencies {
    /// Adds an exchange that is on both sides.
    pub(super) fn add(&mut self, key: Key, before_us: Option<u64>, after_us: Option<u64>) {
        let (Some(before), Some(after)) = (before_us, after_us) else {
            return;
        };
        let place = *self.places.entry(key.clone()).or_insert_with(|| {
            self.all.push((key, Default::default()));
            self.all.len() - 1
        });
        if let Some((_, [ours, theirs])) = self.all.get_mut(place) {
            ours.push(before);
            theirs.push(after);
        }
    }

    /// The methods and targets whose response times changed.
    pub(super) fn moved(self) -> Vec<Moved> {
        let all = self.all.into_iter();
        all.filter_map(|((method, target), [before, after])| {
            let count = before.len();
            if count < ENOUGH {
                return None;
            }
            let (old, new) = (median(before.clone()), median(after.clone()));
            let spread = spread(&before, old) + spread(&after, new);
            let moved = old.abs_diff(new);
            let is_noise = moved <= SPREADS * spread || moved <= old / 4 || moved <= LEAST_US;
            (!is_noise).then(|| Moved {
                method,
                target,
                before_ms: millis(old),
                after_ms: millis(new),
                spread_ms: millis(spread),
                count,
            })
        })
        .collect()
    }
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn spread(times: &[u64], median_us: u64) -> u64 {
    median(times.iter().map(|time| time.abs_diff(median_us)).collect())
}

fn millis(us: u64) -> f64 {
    tapewright_schemas::event::Offset(us).millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(times: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let mut all = Latencies::default();
        for (before, after) in times {
            all.add(("m".to_owned(), None), Some(*before), Some(*after));
        }
        let moved = all.moved().into_iter();
        moved.map(|one| (one.before_ms, one.after_ms)).collect()
    }

    #[test]
    fn noise_is_no_move_and_a_move_is_no_noise() {
        let steady: Vec<_> = (0..10)
            .map(|n| (10_000 + n * 100, 20_000 + n * 100))
            .collect();
        assert_eq!(moved(&steady), [(10.5, 20.5)]);
        assert!(moved(&steady[..9]).is_empty(), "too few");
        let wild: Vec<_> = (0..10)
            .map(|n| (10_000 + n * 3_000, 20_000 + n * 3_000))
            .collect();
        assert!(moved(&wild).is_empty());
        let mut outlier = vec![(10_000, 10_000); 20];
        outlier[3].1 = 900_000;
        assert!(moved(&outlier).is_empty());
        let tiny = vec![(10, 900); 20];
        assert!(moved(&tiny).is_empty());
    }
}
