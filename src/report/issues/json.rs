//! Issues as JSON.

use serde_json::{Value, json};
use tapewright_config::{Issue, Loaded, Severity};
use tapewright_schemas::redact::Redactor;

use super::{Checked, redactor, severity, spot, without_secrets};
use crate::report::formats;

/// One object: whether all suites are valid, and each with its issues.
pub(super) fn text(results: &[Checked]) -> anyhow::Result<String> {
    let mut redactor = redactor();
    let suites: Vec<_> = results
        .iter()
        .map(|(name, loaded)| {
            json!({
                "suite": name,
                "valid": loaded.is_valid(),
                "errors": list(loaded, Severity::Error, &mut redactor),
                "warnings": list(loaded, Severity::Warning, &mut redactor),
                "dropped": loaded.dropped,
            })
        })
        .collect();
    let valid = results.iter().all(|(_, loaded)| loaded.is_valid());
    formats::json::text(&json!({ "valid": valid, "suites": suites }))
}

fn list(loaded: &Loaded, wanted: Severity, redactor: &mut Redactor) -> Vec<Value> {
    let issues = loaded
        .issues
        .iter()
        .filter(|issue| issue.severity == wanted);
    issues.map(|issue| one(loaded, issue, redactor)).collect()
}

fn one(loaded: &Loaded, issue: &Issue, redactor: &mut Redactor) -> Value {
    let spot = spot(loaded, issue);
    let columns = spot.as_ref().and_then(|spot| spot.columns.as_ref());
    let help = issue
        .help
        .as_deref()
        .map(|help| without_secrets(redactor, help));
    json!({
        "code": issue.code.name(),
        "severity": severity(issue),
        "file": spot.as_ref().map(|spot| spot.file.as_str()),
        "line": spot.as_ref().and_then(|spot| spot.line),
        "column": columns.map(|columns| columns.start),
        "end_column": columns.map(|columns| columns.end),
        "pointer": issue.place.as_ref().map(|place| place.pointer.as_str()),
        "message": without_secrets(redactor, &issue.message),
        "hint": help,
    })
}
