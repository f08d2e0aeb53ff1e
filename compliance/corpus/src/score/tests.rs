//! The rubric, by hand.

use serde_json::json;

use super::{Grade, delta, score};
use crate::plan::{Broken, Inapplicable, State};
use crate::rule::{Applies, RegisteredRule, Section, Severity};
use crate::verdict::Untested;

fn rule(id: &str, severity: Severity, section: Section) -> RegisteredRule {
    let registry = crate::registry::embedded()
        .value
        .expect("the registry can be read");
    let place = registry.rules.first().expect("it has rules").place.clone();
    RegisteredRule {
        id: id.to_owned(),
        name: id.to_owned(),
        category: "PROTO".to_owned(),
        severity,
        applies_to: vec![Applies::Stdio],
        spec_versions: Vec::new(),
        description: String::new(),
        references: Vec::new(),
        section,
        applicability: None,
        spec_citation: None,
        place,
    }
}

fn pass() -> State {
    State::Pass { tested: 1, of: 1 }
}

fn fail() -> State {
    State::Fail(vec![Broken {
        about: None,
        what: "no".to_owned(),
        seq: None,
        recording: 0,
    }])
}

fn graded(rules: &[(Severity, State)]) -> super::Scorecard {
    let rules: Vec<(RegisteredRule, State)> = rules
        .iter()
        .enumerate()
        .map(|(number, (severity, state))| {
            let id = format!("PROTO-{number:03}");
            (rule(&id, *severity, Section::Lifecycle), state.clone())
        })
        .collect();
    score(rules.iter().map(|(rule, state)| (rule, state)))
}

#[test]
fn a_must_that_fails_is_an_f_and_shoulds_make_the_rest() {
    let grade = |musts: State, shoulds: [State; 5]| {
        let mut rules = vec![(Severity::Must, musts)];
        rules.extend(shoulds.map(|state| (Severity::Should, state)));
        graded(&rules).grade
    };
    assert_eq!(grade(fail(), [(); 5].map(|()| pass())), Some(Grade::F));
    let failing =
        |count: usize| std::array::from_fn(|index| if index < count { fail() } else { pass() });
    let expected = [Grade::APlus, Grade::B, Grade::C, Grade::D, Grade::D];
    for (count, expected) in expected.into_iter().enumerate() {
        assert_eq!(
            grade(pass(), failing(count)),
            Some(expected),
            "{count} of 5 fail"
        );
    }
}

#[test]
fn the_best_grade_needs_a_may_where_there_is_one() {
    let must = (Severity::Must, pass());
    let without = graded(&[must.clone(), (Severity::May, fail())]);
    assert_eq!(without.grade, Some(Grade::A));
    assert_eq!(
        without.missing_for_a_plus,
        [(Section::Lifecycle, vec!["PROTO-001".to_owned()])]
    );
    let with = graded(&[must, (Severity::May, pass())]);
    assert_eq!(with.grade, Some(Grade::APlus));
    assert_eq!(with.promotion_hint(), None);
}

#[test]
fn what_was_not_tested_lowers_completeness_and_nothing_else() {
    let untested = || State::Untested(Untested::NotAsked);
    let card = graded(&[
        (Severity::Must, pass()),
        (Severity::Must, untested()),
        (Severity::Should, untested()),
        (Severity::Should, pass()),
        (Severity::Must, State::Inapplicable(Inapplicable::Transport)),
    ]);
    assert_eq!((card.tested, card.applicable), (2, 4));
    assert!((card.completeness - 0.5).abs() < 1e-9);
    assert_eq!(card.grade, Some(Grade::APlus));
    assert_eq!(card.numeric, Some(100.0));
    let nothing = graded(&[(Severity::Must, untested())]);
    assert_eq!((nothing.grade, nothing.numeric), (None, None));
}

#[test]
fn the_number_weighs_must_should_and_may() {
    let card = graded(&[
        (Severity::Must, pass()),
        (Severity::Must, fail()),
        (Severity::Should, pass()),
        (Severity::May, fail()),
    ]);
    let expected = 1.5 / 2.6 * 100.0;
    assert!((card.numeric.expect("a number") - expected).abs() < 1e-9);
    assert_eq!(card.failed_must, ["PROTO-001"]);
}

#[test]
fn a_delta_names_what_is_worse_and_an_unknown_past_is_no_regression() {
    let now = graded(&[(Severity::Must, fail())]);
    let before = json!({ "grade": "B", "sections": [
        { "section": "lifecycle", "grade": "A+" }, { "section": "tools", "grade": null } ] });
    let worse = delta(&now, &before);
    assert!(worse.grade_regressed);
    assert_eq!(worse.regressed_sections, ["lifecycle"]);
    let same = delta(&now, &json!({ "grade": "F" }));
    assert!(!same.grade_regressed && same.regressed_sections.is_empty());
    assert!(!delta(&now, &json!({})).grade_regressed);
}
