//! Tests every item of the table with its own examples.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;

use tapewright_compliance::finding::Status;
use tapewright_compliance::table::{self, TABLE};
use tapewright_compliance::{Checker, Invariant, Outcome, Selection, script};
use tapewright_schemas::event::{EventBody, Sink as _};

fn judge(example: &str, selection: Selection) -> Vec<Outcome> {
    let script = script::read(example).unwrap();
    let mut checker = Checker::new(script.facts, selection);
    for event in &script.events {
        checker.record(event);
    }
    let judged = checker.finish(None);
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

fn only(rule: &Invariant) -> Selection {
    let mut selection = Selection::none();
    selection.select(rule.code).unwrap();
    selection
}

#[test]
fn the_codes_are_in_order_and_stand_once() {
    let codes: Vec<_> = TABLE.iter().map(|rule| rule.code).collect();
    let sorted: BTreeSet<_> = codes.iter().copied().collect();
    assert_eq!(codes, sorted.into_iter().collect::<Vec<_>>());
    for code in table::SEED {
        assert!(table::find(code).is_some());
    }
}

#[test]
fn every_item_holds_in_its_good_example() {
    let mut wrong = Vec::new();
    for rule in TABLE {
        let outcomes = judge(rule.holds, only(rule));
        let held = outcomes.iter().any(|one| one.status == Status::Pass);
        // An exchange without a session may add a doubt.
        let none = outcomes
            .iter()
            .all(|one| !matches!(one.status, Status::Fail | Status::Race));
        if !held || !none {
            wrong.push((rule, outcomes));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_item_is_broken_in_its_bad_example() {
    let mut wrong = Vec::new();
    for rule in TABLE {
        let script = script::read(rule.breaks).unwrap();
        let outcomes = judge(rule.breaks, only(rule));
        let failed: Vec<_> = outcomes
            .iter()
            .filter(|one| one.status == Status::Fail)
            .collect();
        if failed.is_empty() {
            wrong.push((rule, outcomes));
            continue;
        }
        for finding in failed.iter().flat_map(|one| &one.findings) {
            assert!(!finding.evidence.is_empty(), "{}: {finding:?}", rule.code);
            for place in &finding.evidence {
                let event = script.events.iter().find(|event| event.seq == place.seq);
                let event = event.unwrap_or_else(|| panic!("{}: {finding:?}", rule.code));
                let EventBody::Message { payload, .. } = &event.body else {
                    assert_eq!(place.pointer, "", "{}: {finding:?}", rule.code);
                    continue;
                };
                if place.pointer.is_empty() {
                    continue;
                }
                let message: serde_json::Value = serde_json::from_slice(payload.kept()).unwrap();
                // Evidence for something missing points to its container, so all pointers resolve.
                assert!(
                    message.pointer(&place.pointer).is_some(),
                    "{}: {finding:?}",
                    rule.code
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_good_example_breaks_nothing_else() {
    let mut wrong = Vec::new();
    for rule in TABLE {
        let outcomes = judge(rule.holds, Selection::all());
        let broken = outcomes
            .into_iter()
            .filter(|one| matches!(one.status, Status::Fail | Status::Race));
        wrong.extend(broken.map(|one| (rule, one)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_item_is_explained() {
    for rule in TABLE {
        for text in [rule.property, rule.source, rule.why, rule.category] {
            assert!(!text.trim().is_empty(), "{}", rule.code);
        }
        assert!(!rule.property.ends_with('.'), "{}", rule.code);
        assert!(rule.why.ends_with('.'), "{}: {}", rule.code, rule.why);
        assert!(rule.levels.each().next().is_some(), "{}", rule.code);
    }
}
