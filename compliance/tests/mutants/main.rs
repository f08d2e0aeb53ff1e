//! Mutants: sessions of real peers, changed so that they violate exactly one rule, and look-alikes
//! that violate none.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may fail"
)]

mod captures;
mod draft;
mod gaps;
mod judged;
mod plan;

use std::collections::BTreeSet;

use tapewright_compliance::code::Code;
use tapewright_compliance::table::TABLE;

use self::judged::{ComparedFinding, added, found};

/// Judges every plan; returns the unexpected results.
fn surprises(of: impl Fn(&plan::Plan, &[ComparedFinding]) -> Option<String>) -> Vec<String> {
    let tell = |plan: &plan::Plan| {
        let before = found(&plan.base().tape());
        of(plan, &before)
    };
    plan::all().iter().filter_map(tell).collect()
}

#[test]
fn every_rule_has_a_mutant_and_a_look_alike() {
    let planned: BTreeSet<Code> = plan::all().iter().map(|plan| plan.rule).collect();
    let rules = TABLE.iter().map(|rule| rule.code);
    let missing: Vec<_> = rules.filter(|code| !planned.contains(code)).collect();
    assert!(missing.is_empty(), "no mutant of {missing:?}");
}

#[test]
fn every_mutant_is_caught_by_its_rule_and_by_no_other() {
    let wrong = surprises(|plan, before| {
        let after = found(&plan.mutant().tape());
        let added = added(before, &after);
        let codes: BTreeSet<Code> = added.iter().map(|one| one.code).collect();
        let mut wanted: BTreeSet<Code> = plan.also.iter().copied().collect();
        wanted.insert(plan.rule);
        (codes != wanted).then(|| format!("{plan:#?}\nadds {added:#?}"))
    });
    assert!(
        wrong.is_empty(),
        "{} surprises\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn no_look_alike_is_caught() {
    let wrong = surprises(|plan, before| {
        let after = found(&plan.look_alike().tape());
        let added = added(before, &after);
        (!added.is_empty()).then(|| format!("{plan:#?}\nadds {added:#?}"))
    });
    assert!(
        wrong.is_empty(),
        "{} surprises\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
