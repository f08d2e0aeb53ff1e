//! A score as JSON: schemas/json/compliance-report.schema.json.

use serde_json::{Value, json};
use tapewright_corpus::plan::{Broken, State};
use tapewright_corpus::score::{Counts, Grade, RUBRIC, SectionScore, section_name};

use super::{level_name, words};
use crate::command::compliance::run::{Judged, Other, Scored};
use crate::report::compliance::official;
use crate::report::formats;

const SCHEMA: &str = "tapewright:compliance-report-v1.json";

/// One JSON object.
pub(super) fn json(scored: &Scored) -> anyhow::Result<String> {
    let card = &scored.card;
    let missing = card
        .missing_for_a_plus
        .iter()
        .map(|(section, rules)| json!({ "section": section_name(*section), "rules": rules }));
    let results = scored.rules.iter().filter_map(|one| result(one, scored));
    let results: Vec<Value> = results.chain(scored.others.iter().map(other)).collect();
    let gates = scored
        .gates
        .iter()
        .map(|gate| json!({ "gate": gate.name, "passed": gate.passed, "text": gate.text }));
    let inapplicable = scored
        .inapplicable()
        .map(|(one, why)| json!({ "rule_id": one.rule.id, "why": why.to_string() }));
    let mut document = json!({
        "schema": SCHEMA,
        "server": scored.server,
        "spec_version": scored.version,
        "revision": scored.revision,
        "grade": card.grade.map(Grade::name),
        "numeric": card.numeric.map(tenths),
        "completeness": thousandths(card.completeness),
        "rules_tested": card.tested,
        "rules_applicable": card.applicable,
        "rubric_version": RUBRIC,
        "sections": card.sections.iter().map(section).collect::<Vec<_>>(),
        "failed_must": card.failed_must,
        "missing_for_a_plus": missing.collect::<Vec<_>>(),
        "promotion_hint": card.promotion_hint(),
        "results": results,
        "untested": scored.rules.iter().filter_map(untested).collect::<Vec<_>>(),
        "inapplicable": inapplicable.collect::<Vec<_>>(),
        "gates": gates.collect::<Vec<_>>(),
        "notes": scored.notes,
    });
    if let (Some(known), Some(members)) = (&scored.expectations, document.as_object_mut()) {
        let known = json!({
            "expected": known.expected,
            "regressions": known.regressions,
            "stale": known.stale,
        });
        members.insert("baseline".to_owned(), known);
    }
    if let (Some(official), Some(members)) = (&scored.official, document.as_object_mut()) {
        members.insert("official".to_owned(), official::json(official));
    }
    formats::json::text(&document)
}

fn section(section: &SectionScore) -> Value {
    let Counts {
        must_passed,
        must_total,
        should_passed,
        should_total,
        may_passed,
        may_total,
    } = section.counts;
    json!({
        "section": section_name(section.section),
        "grade": section.grade.map(Grade::name),
        "applicable": section.applicable,
        "must_passed": must_passed,
        "must_total": must_total,
        "should_passed": should_passed,
        "should_total": should_total,
        "may_passed": may_passed,
        "may_total": may_total,
        "untested": section.untested,
    })
}

/// A rule that was tested.
fn result(judged: &Judged, scored: &Scored) -> Option<Value> {
    let (passed, broken): (bool, &[Broken]) = match &judged.state {
        State::Pass { .. } => (true, &[]),
        State::Fail(broken) => (false, broken),
        State::Untested(_) | State::Inapplicable(_) => return None,
    };
    let findings = broken.iter().map(|one| {
        let recording = scored.recordings.get(one.recording);
        json!({ "about": one.about, "what": one.what, "seq": one.seq, "recording": recording })
    });
    Some(json!({
        "rule_id": judged.rule.id,
        "name": judged.rule.name,
        "severity": level_name(judged.rule.severity),
        "section": section_name(judged.rule.section),
        "passed": passed,
        "source": judged.source,
        "message": broken.first().map(words),
        "findings": findings.collect::<Vec<_>>(),
        "duration_ms": u64::try_from(judged.took.as_millis()).unwrap_or(u64::MAX),
    }))
}

fn other(other: &Other) -> Value {
    json!({
        "rule_id": other.id,
        "passed": other.passed,
        "source": other.source,
        "message": other.message,
        "duration_ms": u64::try_from(other.took.as_millis()).unwrap_or(u64::MAX),
    })
}

/// A rule that applies and was not exercised.
fn untested(judged: &Judged) -> Option<Value> {
    let State::Untested(why) = &judged.state else {
        return None;
    };
    Some(json!({
        "rule_id": judged.rule.id,
        "severity": level_name(judged.rule.severity),
        "why": why.to_string(),
        "inconclusive": why.is_gap(),
    }))
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn thousandths(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}
