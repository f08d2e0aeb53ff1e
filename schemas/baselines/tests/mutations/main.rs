//! Every single change of a capture is reported according to the table of the format.

#![expect(
    clippy::float_cmp,
    clippy::indexing_slicing,
    reason = "a test may fail, and a distance is the same each time"
)]

mod random;
mod single;

use proptest::prelude::*;
use tapewright_baselines::{Baseline, Entry, Options, Outcome, Severity, compare};

use self::random::baseline;
use self::single::{Expected, mutations};

proptest! {
    #[test]
    fn a_capture_is_the_same_as_itself(baseline in baseline()) {
        let found = compare(&baseline, &baseline, &Options::default());
        prop_assert!(found.identity.is_empty() && found.fingerprint.is_same());
        prop_assert!(found.entries.iter().all(|entry| entry.severity == Severity::Pass));
        prop_assert!(found.fingerprint.distance.abs() < f64::EPSILON);
        prop_assert!(matches!(found.outcome(), Outcome::Pass));
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_written_as_it_was_read(baseline in baseline()) {
        let text = baseline.write();
        let read = Baseline::read(text.as_bytes()).unwrap();
        prop_assert_eq!(&read.write(), &text);
        // In any layout and order.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let other = format!("\n{:#}\n", random::reversed(&value));
        prop_assert_eq!(Baseline::read(other.as_bytes()).unwrap().write(), text);
    }

    #[test]
    fn every_single_change_is_told_as_the_table_says(baseline in baseline()) {
        for mutation in mutations(&baseline) {
            let found = compare(&baseline, &mutation.candidate, &Options::default());
            let what = &mutation.what;
            let mut wanted = mutation.expected.clone();
            wanted.sort();
            prop_assert_eq!(told(&found.entries), wanted, "{}: {:#?}", what, found);
            prop_assert_eq!(found.outcome(), mutation.outcome(), "{}", what);
            if !found.fingerprint.is_same() {
                prop_assert!(
                    found.entries.iter().any(|entry| entry.severity > Severity::Pass),
                    "{}: the fingerprint differs and nothing is told", what
                );
                prop_assert!(found.fingerprint.distance > 0.0);
            }
        }
    }

    #[test]
    fn whatever_is_compared_each_id_is_told_and_nothing_else(
        one in baseline(), other in baseline(),
    ) {
        let found = compare(&one, &other, &Options::default());
        let knows = |id: &str| {
            let all = one.exchanges.iter().chain(&other.exchanges);
            all.map(|exchange| exchange.id.as_str()).any(|known| known == id)
        };
        prop_assert!(found.entries.iter().all(|entry| knows(&entry.test_id)));
        let back = compare(&other, &one, &Options::default());
        prop_assert_eq!(back.paired, found.paired);
        prop_assert_eq!(back.fingerprint.distance, found.fingerprint.distance);
        prop_assert!((0.0..=1.0).contains(&found.fingerprint.distance));
    }
}

/// The entries without unchanged ones, in the form of the expectation.
fn told(entries: &[Entry]) -> Vec<Expected> {
    let entries = entries
        .iter()
        .filter(|entry| entry.severity > Severity::Pass);
    let mut told: Vec<Expected> = entries
        .map(|entry| {
            (
                entry.test_id.clone(),
                entry.category.name(),
                entry.severity.name(),
            )
        })
        .collect();
    told.sort();
    told
}
