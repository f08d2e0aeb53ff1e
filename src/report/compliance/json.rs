//! Verdicts as JSON: the documented members, and our additions.

use std::path::PathBuf;

use serde_json::{Value, json};
use tapewright_compliance::Outcome;
use tapewright_compliance::finding::{Finding, Status};
use tapewright_compliance::table;

use crate::command::compliance::{Expectations, Server, Verdicts};
use crate::report::formats;

/// One JSON object.
pub(super) fn json(verdicts: &Verdicts) -> anyhow::Result<String> {
    let hazards: Vec<Value> = verdicts
        .hazards
        .iter()
        .map(|one| json!({"detail": one.detail, "kind": one.kind, "servers": one.servers}))
        .collect();
    let servers: Vec<Value> = verdicts.servers.iter().map(server).collect();
    let mut document = json!({
        "all_safe": verdicts.all_safe(),
        "composition_findings": hazards,
        "failed_invariant_count": verdicts.failed(),
        "servers": servers,
    });
    if let (Some(expectations), Some(members)) = (&verdicts.expectations, document.as_object_mut())
    {
        members.insert("baseline".to_owned(), baseline(expectations));
    }
    formats::json::text(&document)
}

fn baseline(expectations: &Expectations) -> Value {
    let stale: Vec<Value> = expectations
        .stale
        .iter()
        .map(|(label, code)| json!({"server_label": label, "id": code.to_string()}))
        .collect();
    json!({
        "expected": expectations.expected,
        "stale": stale,
        "stale_hazards": expectations.stale_hazards,
    })
}

fn server(server: &Server) -> Value {
    let outcomes: Vec<Value> = server
        .outcomes
        .iter()
        .map(|one| outcome(server, one))
        .collect();
    json!({
        "server_label": server.label,
        "file": server.path.display().to_string(),
        "session": server.session.0,
        "outcomes": outcomes,
    })
}

fn outcome(server: &Server, outcome: &Outcome) -> Value {
    let rule = table::find(outcome.code);
    let notes: Vec<&str> = match outcome.status {
        Status::Fail => outcome
            .findings
            .iter()
            .map(|one| one.detail.as_str())
            .collect(),
        _ => Vec::new(),
    };
    let doubts: Vec<&str> = outcome
        .doubts
        .each()
        .map(tapewright_compliance::finding::Doubt::words)
        .collect();
    let findings: Vec<Value> = outcome
        .findings
        .iter()
        .enumerate()
        .map(|(index, one)| finding(server, one, server.cut_out.get(&(outcome.code, index))))
        .collect();
    let mut value = json!({
        "id": outcome.code.to_string(),
        "category": rule.map_or("", |rule| rule.category),
        "description": rule.map_or("", |rule| rule.property),
        "passed": outcome.status != Status::Fail,
        "notes": notes,
        "status": outcome.status.name(),
        "checked": outcome.exercised,
        "doubts": doubts,
        "findings": findings,
        "more_findings": outcome.more,
    });
    if let Some(members) = value.as_object_mut()
        && server.expected.contains(&outcome.code)
    {
        members.insert("expected".to_owned(), Value::Bool(true));
    }
    value
}

/// One finding, with its evidence.
pub(crate) fn finding(server: &Server, finding: &Finding, cut_out: Option<&PathBuf>) -> Value {
    let evidence: Vec<Value> = finding
        .evidence
        .iter()
        .map(|place| {
            let mut value = json!({"seq": place.seq, "pointer": place.pointer});
            if let (Some(file), Some(object)) = (server.origin(place.seq), value.as_object_mut()) {
                let pointer = format!("{}{}", file.pointer(), place.pointer);
                object.insert("file_pointer".to_owned(), Value::String(pointer));
            }
            value
        })
        .collect();
    let mut value = json!({
        "status": finding.status.name(),
        "side": finding.side.name(),
        "severity": finding.severity.name(),
        "at_us": finding.at.0,
        "detail": finding.detail,
        "evidence": evidence,
    });
    if let (Some(path), Some(members)) = (cut_out, value.as_object_mut()) {
        members.insert(
            "evidence_file".to_owned(),
            path.display().to_string().into(),
        );
    }
    value
}
