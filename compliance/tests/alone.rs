//! A rule has the same result alone as together with all others: state that is tracked for other
//! rules does not change a verdict.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

mod sessions;

use proptest::prelude::*;
use sessions::sessions;
use tapewright_compliance::table::{SEED, TABLE};
use tapewright_compliance::{Checker, Facts, Outcome, Selection, script};
use tapewright_schemas::event::{Event, Sink as _};

fn judge(events: &[Event], facts: Facts, selection: Selection) -> Vec<Outcome> {
    let mut checker = Checker::new(facts, selection);
    for event in events {
        checker.record(event);
    }
    let judged = checker.finish(None);
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

/// Judges by each selection, and compares with the results of all rules together.
fn compare(events: &[Event], facts: Facts) -> Result<(), TestCaseError> {
    let whole = judge(events, facts, Selection::all());
    let mut selections: Vec<Selection> = TABLE
        .iter()
        .map(|rule| {
            let mut one = Selection::none();
            one.select(rule.code).unwrap();
            one
        })
        .collect();
    selections.push(Selection::documented());
    for selection in selections {
        for part in judge(events, facts, selection) {
            let same = whole
                .iter()
                .any(|one| format!("{one:?}") == format!("{part:?}"));
            prop_assert!(same, "{part:#?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]
    #[test]
    fn in_generated_sessions(events in sessions()) {
        compare(&events, Facts::live())?;
    }
}

#[test]
fn in_the_examples_of_the_table() {
    assert_eq!(SEED.len(), 7);
    for rule in TABLE {
        for example in [rule.holds, rule.breaks] {
            let script = script::read(example).unwrap();
            compare(&script.events, script.facts).unwrap();
        }
    }
}
