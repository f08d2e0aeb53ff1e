//! A score as SARIF 2.1.0, for code scanning.

use std::path::Path;

use serde_json::{Value, json};
use tapewright_corpus::plan::{Broken, State};
use tapewright_corpus::rule::{RegisteredRule, Severity};

use super::words;
use crate::command::compliance::run::{Judged, Scored};
use crate::report::formats::sarif;
use crate::report::safe;

/// One log with one run.
pub(crate) fn sarif(scored: &Scored) -> anyhow::Result<String> {
    let judged: Vec<&Judged> = scored.applicable().collect();
    let mut results = Vec::new();
    for (index, one) in judged.iter().enumerate() {
        let State::Fail(broken) = &one.state else {
            continue;
        };
        for finding in broken {
            results.push(result(scored, index, &one.rule, finding));
        }
    }
    let rules: Vec<Value> = judged.iter().map(|one| rule(&one.rule)).collect();
    sarif::log(&rules, &results)
}

fn rule(rule: &RegisteredRule) -> Value {
    let citation = rule.spec_citation.as_deref().unwrap_or_default();
    json!({
        "id": rule.id,
        "shortDescription": {"text": safe(&rule.name)},
        "fullDescription": {"text": safe(&rule.description)},
        "help": {"text": safe(citation)},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": [rule.category]},
    })
}

fn result(scored: &Scored, index: usize, rule: &RegisteredRule, finding: &Broken) -> Value {
    // A live server has no file.
    let file = scored.recordings.get(finding.recording);
    let file = file.map_or("server", String::as_str);
    let line = finding.seq.filter(|_| super::is_tape(file));
    let line = line.map(|seq| seq.saturating_add(1));
    let physical = sarif::place(Path::new(file), line);
    json!({
        "ruleId": rule.id,
        "ruleIndex": index,
        "kind": "fail",
        "level": level(rule.severity),
        "message": {"text": safe(&words(finding))},
        "locations": [{
            "physicalLocation": physical,
            "logicalLocations": [{"fullyQualifiedName": safe(&scored.server)}],
        }],
        "partialFingerprints": {"rule/v1": safe(&format!("{}/{}", scored.server, rule.id))},
        "suppressions": sarif::suppressions(scored.is_expected(&rule.id)),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "error",
        Severity::Should => "warning",
        Severity::May => "note",
    }
}
