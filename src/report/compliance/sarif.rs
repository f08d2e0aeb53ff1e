//! Verdicts as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Finding, Place, Severity, Status};
use tapewright_compliance::{Invariant, page, table};

use super::sentence;
use crate::command::compliance::{Server, Verdicts};
use crate::report::formats::sarif;
use crate::report::safe;

/// One log with one run.
pub(crate) fn sarif(verdicts: &Verdicts) -> anyhow::Result<String> {
    let rules = rules(verdicts);
    let index: BTreeMap<Code, usize> = rules.iter().map(|rule| rule.code).zip(0..).collect();
    let mut results = Vec::new();
    for server in &verdicts.servers {
        for outcome in &server.outcomes {
            let expected = server.expected.contains(&outcome.code);
            for finding in &outcome.findings {
                let index = index.get(&finding.code);
                results.push(result(server, finding, index, expected));
            }
        }
    }
    let hazards = verdicts.hazards().map(|(hazard, expected)| {
        json!({
            "ruleId": hazard.kind,
            "kind": "fail",
            "level": "error",
            "message": {"text": safe(&hazard.detail)},
            "suppressions": sarif::suppressions(expected),
        })
    });
    results.extend(hazards);
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    sarif::log(&rules, &results)
}

/// The invariants that were judged, in the order of the table.
fn rules(verdicts: &Verdicts) -> Vec<&'static Invariant> {
    let judged = |rule: &&&Invariant| {
        let outcomes = verdicts.servers.iter().flat_map(|server| &server.outcomes);
        outcomes.into_iter().any(|one| one.code == rule.code)
    };
    table::TABLE.iter().filter(judged).copied().collect()
}

fn rule(rule: &Invariant) -> Value {
    let strongest = rule.levels.each().next().map(|(severity, _)| severity);
    json!({
        "id": rule.code.to_string(),
        "shortDescription": {"text": rule.property},
        "fullDescription": {"text": format!("{}. {}", rule.property, rule.why)},
        "help": {"text": format!("{}; {}. `tapewright explain {}` shows examples.",
            page::binding(rule.levels), rule.source, rule.code)},
        "defaultConfiguration": {"level": strongest.map_or("none", level)},
        "properties": {"tags": [rule.category]},
    })
}

fn result(server: &Server, finding: &Finding, index: Option<&usize>, expected: bool) -> Value {
    let failed = finding.status == Status::Fail;
    let (first, rest) = match finding.evidence.as_slice() {
        [first, rest @ ..] => (Some(first), rest),
        [] => (None, &[][..]),
    };
    let related: Vec<Value> = (1..)
        .zip(rest)
        .map(|(id, place)| {
            let mut location = location(server, Some(place));
            if let Some(members) = location.as_object_mut() {
                members.insert("id".to_owned(), json!(id));
            }
            location
        })
        .collect();
    let fingerprint = format!("{}/{}/{}", server.label, finding.code, finding.detail);
    let mut value = json!({
        "ruleId": finding.code.to_string(),
        "kind": if failed { "fail" } else { "review" },
        "level": if failed { level(finding.severity) } else { "none" },
        "message": {"text": sentence(server, finding)},
        "locations": [location(server, first)],
        "relatedLocations": related,
        "partialFingerprints": {"finding/v1": safe(&fingerprint)},
        "suppressions": sarif::suppressions(expected),
    });
    if let (Some(index), Some(members)) = (index, value.as_object_mut()) {
        members.insert("ruleIndex".to_owned(), json!(index));
    }
    value
}

/// The location of an event: a line of a tape, a pointer into a capture.
fn location(server: &Server, place: Option<&Place>) -> Value {
    let line = place.and_then(|place| server.line(place.seq));
    let physical = sarif::place(&server.path, line);
    let Some(place) = place else {
        return json!({"physicalLocation": physical});
    };
    let name = match server.origin(place.seq) {
        Some(origin) => format!("{}{}", origin.pointer(), place.pointer),
        None => format!("event {}{}", place.seq, place.pointer),
    };
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": safe(&name)}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "error",
        Severity::Should => "warning",
        Severity::Derived => "note",
    }
}
